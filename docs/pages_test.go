package docs

import (
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestLinks checks the relative links of every page at the root and under docs, except in code
// blocks.
func TestLinks(t *testing.T) {
	t.Parallel()
	link := regexp.MustCompile(`\]\(([^)#:]+)(?:#[^)]*)?\)`)
	block := regexp.MustCompile("(?s)```.*?```")
	broken := map[string]bool{}
	for page, text := range pages(t) {
		for _, match := range link.FindAllStringSubmatch(block.ReplaceAllString(text, ""), -1) {
			if _, err := os.Stat(filepath.Join(filepath.Dir(page), match[1])); err != nil {
				broken[page+": "+match[1]] = true
			}
		}
	}
	require.Empty(t, slices.Sorted(maps.Keys(broken)))
}

// TestNamesOfTests checks that the tests named by pages exist, so that no page claims a guarantee
// without a test. A page may also name a subtest:
// `TestCreateWallet/starts_with_its_opening_balance`.
func TestNamesOfTests(t *testing.T) {
	t.Parallel()
	defined := map[string]bool{"": true}
	definition := regexp.MustCompile(`(?m)^func (Test\w+)\(|\bt\.Run\("([^"]+)"`)
	for _, text := range texts(t, root, "_test.go") {
		for _, match := range definition.FindAllStringSubmatch(text, -1) {
			defined[match[1]+strings.ReplaceAll(match[2], " ", "_")] = true
		}
	}
	missing := map[string]bool{}
	named := regexp.MustCompile("`(Test[A-Z]\\w+)(?:/([^`]+))?`")
	for page, text := range pages(t) {
		for _, match := range named.FindAllStringSubmatch(text, -1) {
			if !defined[match[1]] || !defined[match[2]] {
				missing[page+": "+match[0]] = true
			}
		}
	}
	require.Empty(t, slices.Sorted(maps.Keys(missing)))
}

// pages returns the Markdown files at the root and under docs, by file name.
func pages(t testing.TB) map[string]string {
	t.Helper()
	found := texts(t, filepath.Join(root, "docs"), ".md")
	names, err := filepath.Glob(filepath.Join(root, "*.md"))
	require.NoError(t, err)
	for _, name := range names {
		text, err := os.ReadFile(name)
		require.NoError(t, err)
		found[name] = string(text)
	}
	return found
}

// texts returns the contents of the files below a folder whose names have one of the endings, by
// file name. It skips hidden folders, which contain caches and tools, and the packages of Node.
func texts(t testing.TB, dir string, ends ...string) map[string]string {
	t.Helper()
	found := map[string]string{}
	require.NoError(t, filepath.WalkDir(dir, func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && strings.HasPrefix(entry.Name(), ".") && name != root:
			return filepath.SkipDir
		case entry.IsDir() && entry.Name() == "node_modules":
			return filepath.SkipDir
		case entry.IsDir():
			return nil
		}
		if !slices.ContainsFunc(ends, func(end string) bool {
			return strings.HasSuffix(name, end)
		}) {
			return nil
		}
		text, err := os.ReadFile(name)
		found[name] = string(text)
		return err
	}))
	return found
}
