package docs

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	restv1 "github.com/coffer-budget/coffer/proto/gen/coffer/rest/v1"
)

// TestReasonIsReturned checks that code refers to each value of the enum Reason. Otherwise a value
// would stay in docs/errors.md after the last place that returned it.
func TestReasonIsReturned(t *testing.T) {
	t.Parallel()
	used := map[string]bool{}
	reference := regexp.MustCompile(`restv1\.Reason_(\w+)`)
	for _, dir := range []string{"internal", "gateway", "services"} {
		collect := func(path string, _ fs.DirEntry, err error) error {
			isCode := strings.HasSuffix(path, ".go") && !strings.HasSuffix(path, "_test.go")
			if err != nil || !isCode {
				return err
			}
			source, err := os.ReadFile(path)
			for _, match := range reference.FindAllSubmatch(source, -1) {
				used[string(match[1])] = true
			}
			return err
		}
		require.NoError(t, filepath.WalkDir(filepath.Join(root, dir), collect))
	}
	for number, reason := range restv1.Reason_name {
		require.True(t, used[reason] || number == 0, reason)
	}
}
