package docs

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestMutantsOfPackages checks that make mutants changes each package of the services that has
// queries. The subpackages of imports are an exception, because the tests of package imports test
// them.
func TestMutantsOfPackages(t *testing.T) {
	t.Parallel()
	recipe := exec.CommandContext(t.Context(), "make", "-n", "mutants", "PKG=", "MUTANTSFLAGS=")
	recipe.Dir = root
	out, err := recipe.Output()
	require.NoError(t, err)
	listed := map[string]bool{}
	for _, word := range strings.Fields(string(out)) {
		pkg, _, _ := strings.Cut(word, "=") // The package with the tests may follow.
		listed[pkg] = true
	}
	found := map[string]bool{}
	for _, pattern := range []string{
		"services/*/store_*.go", "services/*/*/store_*.go", "services/*/internal/*/store_*.go",
	} {
		files, err := filepath.Glob(filepath.Join(root, pattern))
		require.NoError(t, err)
		for _, file := range files {
			dir, err := filepath.Rel(root, filepath.Dir(file))
			require.NoError(t, err)
			require.True(t, listed[dir], "%s is not in the list in the Makefile", dir)
			found[dir] = true
		}
	}
	require.Greater(t, len(found), 15)
}
