package ledger

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// sourceStatement is a statement in the Go source.
type sourceStatement struct {
	// name is the package and the function, constant or variable that contains the statement.
	name string
	// parts are the constant pieces of the text, in order.
	parts []string
}

// beginning matches the beginning of a statement, or of a subquery in a separate constant.
var beginning = regexp.MustCompile(`^\s*(SELECT|INSERT INTO|UPDATE|DELETE FROM|WITH)\s`)

// filled matches a place that fmt.Sprintf, or pgx for a named argument, fills.
var filled = regexp.MustCompile(verb.String() + `|@[a-z]\w*`)

// sourceStatements returns the statements of the ledger and of the packages that it shares.
func sourceStatements(t *testing.T) []sourceStatement {
	t.Helper()
	var found []sourceStatement
	for _, root := range []string{
		".", "../../internal/idem", "../../internal/jobs", "../../internal/outbox",
	} {
		require.NoError(t, filepath.WalkDir(root,
			func(path string, d fs.DirEntry, err error) error {
				folder := filepath.Base(filepath.Dir(path))
				if err != nil || d.IsDir() || filepath.Ext(path) != ".go" ||
					strings.HasSuffix(path, "_test.go") || folder == "fixture" ||
					folder == "ledgertest" {
					return err
				}
				file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
				if err != nil {
					return err
				}
				for _, declared := range file.Decls {
					found = append(found, statementsOf(file.Name.Name, declared)...)
				}
				return nil
			}))
	}
	return found
}

// statementsOf returns the statements of a declaration.
func statementsOf(pkg string, declared ast.Decl) []sourceStatement {
	var found []sourceStatement
	name := pkg
	if f, ok := declared.(*ast.FuncDecl); ok {
		name += "." + f.Name.Name
	}
	ast.Inspect(declared, func(node ast.Node) bool {
		if spec, ok := node.(*ast.ValueSpec); ok && name == pkg {
			for _, value := range spec.Values {
				found = appendStatement(found, pkg+"."+spec.Names[0].Name, value)
			}
			return false
		}
		if expr, ok := node.(ast.Expr); ok && name != pkg {
			before := len(found)
			found = appendStatement(found, name, expr)
			return len(found) == before
		}
		return true
	})
	return found
}

// appendStatement appends an expression that is the text of a statement.
func appendStatement(found []sourceStatement, name string, expr ast.Expr) []sourceStatement {
	parts := textParts(expr)
	if len(parts) == 0 || !beginning.MatchString(parts[0]+" ") {
		return found
	}
	return append(found, sourceStatement{name, parts})
}

// textParts returns the constant pieces of a text that + and fmt.Sprintf compose.
func textParts(expr ast.Expr) []string {
	switch expr := expr.(type) {
	case *ast.BasicLit:
		if text, ok := textOf(expr); ok {
			return filled.Split(text, -1)
		}
	case *ast.BinaryExpr:
		last := textParts(expr.Y)
		if last == nil {
			last = []string{""}
		}
		return append(textParts(expr.X), last...)
	case *ast.ParenExpr:
		return textParts(expr.X)
	case *ast.CallExpr:
		// A function that replaces parts of the text.
		if len(expr.Args) > 0 {
			return textParts(expr.Args[0])
		}
	}
	return nil
}

// volatile matches calls of functions that Citus rejects in a statement that writes.
var volatile = regexp.MustCompile(`\b(gen_random_uuid|random|clock_timestamp|timeofday)\(`)

func TestStatementsGetIDsAndTimes(t *testing.T) {
	t.Parallel()
	for _, s := range sourceStatements(t) {
		require.NotRegexp(t, volatile, strings.Join(s.parts, " "), "%s: pass a parameter", s.name)
	}
}

// match returns the number of bytes of a statement that the constant pieces cover, or 0 if one of
// them is missing.
func (s sourceStatement) match(sql string) (length int) {
	for _, part := range s.parts {
		_, after, ok := strings.Cut(sql, part)
		if !ok {
			return 0
		}
		sql, length = after, length+len(part)
	}
	return length
}

// unnamed is the name of a statement that no source matches.
const unnamed = "a trigger or a test"

// nameOf returns the name of the source that matches most of a statement.
func nameOf(sources []sourceStatement, sql string) string {
	name, longest := unnamed, 20
	for _, s := range sources {
		if n := s.match(sql); n > longest {
			name, longest = s.name, n
		}
	}
	return name
}
