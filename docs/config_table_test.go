package docs

import (
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// root is the repository's folder.
const root = ".."

// readers maps the folders whose code reads environment variables to the names that
// configuration.md has for the processes that contain this code.
var readers = map[string]string{
	"internal/app": "every process", "internal/rpc": "every service",
	"internal/mtls": "every service, gateway", "internal/outbox": "auth, ledger, budget",
	"gateway": "gateway", "devstack": "make run", "services/auth": "auth",
	"services/auth/internal/mail": "auth", "services/auth/internal/oidc": "auth",
	"services/ledger": "ledger", "services/budget": "budget",
	"services/ocr": "ocr", "services/ocr/recognition": "ocr",
}

// TestConfigurationTable compares the tables of configuration.md with the struct tags in the code.
// It parses the sources, because some of the structs are unexported.
func TestConfigurationTable(t *testing.T) {
	t.Parallel()
	want := map[string]string{}
	for dir, who := range readers {
		eachFile(t, dir, func(f *ast.File) {
			ast.Inspect(f, func(n ast.Node) bool {
				if field, ok := n.(*ast.Field); ok && field.Tag != nil {
					name, fallback := variable(t, field.Tag.Value)
					for reader := range strings.SplitSeq(who, ", ") {
						want[name+" of "+reader] = fallback
					}
				}
				return true
			})
		})
	}
	maps.DeleteFunc(want, func(of, _ string) bool { return strings.HasPrefix(of, " ") })
	got := map[string]string{}
	for _, section := range []string{"Several processes", "One service", "Gateway", "make run"} {
		for _, row := range table(t, "docs/configuration.md", "## "+section) {
			for reader := range strings.SplitSeq(row[1], ", ") {
				got[plain(row[0])+" of "+reader] = plain(row[2])
			}
		}
	}
	require.Equal(t, want, got)
}

// variable returns the name of the variable in a field's env tag, or "" if there is none, and its
// default as written in the table.
func variable(t testing.TB, literal string) (name, fallback string) {
	t.Helper()
	text, err := strconv.Unquote(literal)
	require.NoError(t, err)
	tag := reflect.StructTag(text)
	name, options, _ := strings.Cut(tag.Get("env"), ",")
	if name == "-" {
		return "", ""
	}
	fallback = "none"
	if set, ok := tag.Lookup("envDefault"); ok {
		fallback = set
	}
	if strings.Contains(options, "required") {
		fallback = "required"
	}
	return name, fallback
}

// eachFile parses the Go files of a folder, without tests and without subfolders.
func eachFile(t testing.TB, dir string, visit func(*ast.File)) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(root, dir, "*.go"))
	require.NoError(t, err)
	require.NotEmpty(t, files, dir)
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
		require.NoError(t, err)
		visit(f)
	}
}

// table returns the rows of the first Markdown table under a heading, without its header.
func table(t testing.TB, page, heading string) [][]string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, page))
	require.NoError(t, err)
	_, section, found := strings.Cut(string(text), "\n"+heading+"\n")
	require.True(t, found, "%s has no %q", page, heading)
	var rows [][]string
	for line := range strings.Lines(section) {
		if strings.HasPrefix(line, "|") {
			var cells []string
			for cell := range strings.SplitSeq(strings.Trim(strings.TrimSpace(line), "|"), "|") {
				cells = append(cells, strings.TrimSpace(cell))
			}
			rows = append(rows, cells)
		} else if rows != nil {
			break
		}
	}
	require.Greater(t, len(rows), 2, "%s has no table under %q", page, heading)
	return rows[2:]
}
