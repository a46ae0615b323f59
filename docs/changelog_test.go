package docs

import (
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestChangelog checks that the changelog begins with unreleased changes, that each version has a
// date, a link and the section for operators, and that versions and dates descend.
func TestChangelog(t *testing.T) {
	t.Parallel()
	content, err := os.ReadFile(root + "/CHANGELOG.md")
	require.NoError(t, err)
	_, text, found := strings.Cut(string(content), "\n## [Unreleased]\n")
	require.True(t, found, "the changelog has no section [Unreleased]")

	release := regexp.MustCompile(`^\[(\d+)\.(\d+)\.(\d+)\] - (\d{4}-\d\d-\d\d)$`)
	kinds := []string{"Operators", "Added", "Changed", "Deprecated", "Removed", "Fixed", "Security"}
	var above []int
	date := time.Now()
	for i, section := range strings.Split(text, "\n## ") {
		heading, body, _ := strings.Cut(section, "\n")
		if i > 0 {
			match := release.FindStringSubmatch(heading)
			require.NotNil(t, match, "%q is not a version with a date", heading)
			released, err := time.Parse(time.DateOnly, match[4])
			require.NoError(t, err, heading)
			require.False(t, released.After(date), "%s is later than the release above", heading)
			date = released
			version := []int{number(t, match[1]), number(t, match[2]), number(t, match[3])}
			if above != nil {
				require.Negative(t, slices.Compare(version, above), heading)
			}
			above = version
			require.Contains(t, body, "\n### Operators\n", heading)
			link, _, _ := strings.Cut(heading, " ")
			require.Contains(t, text, "\n"+link+": https://", "%s has no link", heading)
		}
		for _, part := range strings.Split("\n"+body, "\n### ")[1:] {
			kind, changes, _ := strings.Cut(part, "\n")
			require.Contains(t, kinds, kind, heading)
			require.Contains(t, changes, "\n- ", "%s: %s is empty", heading, kind)
		}
	}
	require.Contains(t, text, "\n[Unreleased]: https://")
}

func number(t *testing.T, digits string) int {
	t.Helper()
	value, err := strconv.Atoi(digits)
	require.NoError(t, err)
	return value
}
