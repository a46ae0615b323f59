package docs

import (
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestRecords checks that no two decision records have one number, and that the index has each
// record exactly once. A number that the index calls former must not be used again.
func TestRecords(t *testing.T) {
	t.Parallel()
	index, err := os.ReadFile("adr/README.md")
	require.NoError(t, err)
	var indexed []string
	line := regexp.MustCompile(`(?m)^- \[(\d+)\]\((\S+)\) \S`)
	for _, match := range line.FindAllStringSubmatch(string(index), -1) {
		indexed = append(indexed, match[1]+" "+match[2])
	}
	var want []string
	taken := formerNumbers(t)
	for number, name := range records(t) {
		require.False(t, taken[number], "%s has the number of a former record", name)
		want = append(want, number+" "+name)
	}
	require.ElementsMatch(t, want, indexed)
}

// TestNumbersOfRecords checks that each decision record that the repository names exists. Only the
// successor of a record may name a former number, in a line that begins with "Replaces".
func TestNumbersOfRecords(t *testing.T) {
	t.Parallel()
	exists := records(t)
	former := formerNumbers(t)
	replaces := regexp.MustCompile(`(?m)^Replaces ADR (\d+): `)
	// A line of a comment may end between ADR and its number. Only parentheses have lists of
	// numbers.
	named := regexp.MustCompile(`\bADRs?[\s/#*-]+(\d+)((?:, \d+)+\))?`)
	missing := map[string]bool{}
	found := 0
	kinds := []string{
		".go", ".md", ".proto", ".sql", ".yaml", ".txt", ".ts", ".js", ".svelte", ".css", ".sh",
		"Makefile", "Dockerfile",
	}
	for name, text := range texts(t, root, kinds...) {
		if filepath.Dir(name) == filepath.Join(root, "docs", "adr") {
			for _, match := range replaces.FindAllStringSubmatch(text, -1) {
				require.True(t, former[match[1]], "%s: %s is not a former number", name, match[1])
			}
			text = replaces.ReplaceAllString(text, "")
		}
		for _, match := range named.FindAllStringSubmatch(text, -1) {
			for _, number := range digits.FindAllString(match[1]+match[2], -1) {
				found++
				if exists[number] == "" {
					missing[name+": ADR "+number] = true
				}
			}
		}
	}
	require.Empty(t, slices.Sorted(maps.Keys(missing)))
	require.Greater(t, found, 200)
}

var digits = regexp.MustCompile(`\d+`)

// records returns the names of the files of decision records by number. The name and the heading of
// a record have the same number.
func records(t testing.TB) map[string]string {
	t.Helper()
	byNumber := map[string]string{}
	for path, text := range texts(t, "adr", ".md") {
		name := filepath.Base(path)
		if name == "README.md" {
			continue
		}
		padded, _, _ := strings.Cut(name, "-")
		number := strings.TrimLeft(padded, "0")
		require.Regexp(t, `^\d{4}-[a-z0-9-]+\.md$`, name)
		require.Empty(t, byNumber[number], "%s has the number of another record", name)
		require.True(t, strings.HasPrefix(text, "# "+number+". "), "the heading of %s", name)
		byNumber[number] = name
	}
	require.Greater(t, len(byNumber), 90)
	return byNumber
}

// formerNumbers returns the numbers of records that are deleted, or that never existed.
func formerNumbers(t testing.TB) map[string]bool {
	t.Helper()
	former := map[string]bool{}
	for _, row := range table(t, "docs/adr/README.md", "## Former numbers") {
		for _, number := range digits.FindAllString(row[0], -1) {
			former[number] = true
		}
	}
	return former
}
