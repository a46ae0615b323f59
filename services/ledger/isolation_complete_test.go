package ledger

import (
	"context"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
)

// tracer collects the statements of a pool.
type tracer struct {
	mu         sync.Mutex
	statements map[string]bool
}

// TraceQueryStart implements pgx.QueryTracer.
func (r *tracer) TraceQueryStart(
	ctx context.Context, _ *pgx.Conn, data pgx.TraceQueryStartData,
) context.Context {
	r.add(data.SQL)
	return ctx
}

// TraceQueryEnd implements pgx.QueryTracer.
func (r *tracer) TraceQueryEnd(context.Context, *pgx.Conn, pgx.TraceQueryEndData) {}

// TraceBatchStart implements pgx.BatchTracer.
func (r *tracer) TraceBatchStart(
	ctx context.Context, _ *pgx.Conn, _ pgx.TraceBatchStartData,
) context.Context {
	return ctx
}

// TraceBatchQuery implements pgx.BatchTracer.
func (r *tracer) TraceBatchQuery(_ context.Context, _ *pgx.Conn, data pgx.TraceBatchQueryData) {
	r.add(data.SQL)
}

// TraceBatchEnd implements pgx.BatchTracer.
func (r *tracer) TraceBatchEnd(context.Context, *pgx.Conn, pgx.TraceBatchEndData) {}

// forget drops the statements so far.
func (r *tracer) forget() {
	r.mu.Lock()
	defer r.mu.Unlock()
	clear(r.statements)
}

// add records a statement.
func (r *tracer) add(sql string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.statements[sql] = true
}

// contains reports whether a statement contains all parts in their order.
func (r *tracer) contains(parts []string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	for sql := range r.statements {
		rest, found := sql, true
		for _, part := range parts {
			var after string
			if _, after, found = strings.Cut(rest, part); !found {
				break
			}
			rest = after
		}
		if found {
			return true
		}
	}
	return false
}

// traced returns a pool on the same database that records its statements.
func traced(t *testing.T, db *pgxpool.Pool) (*pgxpool.Pool, *tracer) {
	t.Helper()
	recorder := &tracer{statements: map[string]bool{}}
	config := db.Config()
	config.ConnConfig.Tracer = recorder
	pool, err := pgxpool.NewWithConfig(t.Context(), config)
	require.NoError(t, err)
	t.Cleanup(pool.Close)
	return pool, recorder
}

// writing matches the beginning of a statement that writes, and verb a place that fmt.Sprintf
// fills.
var (
	writing = regexp.MustCompile(`\b(INSERT INTO|UPDATE|DELETE FROM) +([a-z_%]+)`)
	verb    = regexp.MustCompile(`%(\[\d+\])?[sdv]`)
)

// elsewhere are the folders whose statements no RPC of a user runs.
var elsewhere = map[string]string{
	"files":      "moves files of all owners, one owner per statement, see package files",
	"verify":     "repairs one owner under the owner's lock, see verify_test.go",
	"ledgertest": "fills databases of tests",
	"fixture":    "fills databases of tests",
}

// background are the functions that are called for the rows of all owners.
var background = map[string]string{
	"accounts.ExpireReferences": "deletes what has expired, of one owner after the other",
	"attachments.Expire":        "deletes what has expired, of one owner after the other",
	"staging.Expire":            "marks what has expired, of one owner after the other",
	"staging.emptyUndone":       "deletes the rows of imports that were undone, of all owners",
	"sync.sweepOwner":           "deletes what has expired, of one owner after the other",
	"rules.deleteChanges":       "deletes what has expired, of one owner after the other",
}

// writtenStatements returns the texts of the Go source that write rows, by their place. The parts
// of a text are the constant pieces between the verbs of fmt.Sprintf.
func writtenStatements(t *testing.T) map[string][]string {
	t.Helper()
	found := map[string][]string{}
	require.NoError(t, filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		top, _, _ := strings.Cut(filepath.ToSlash(path), "/")
		if err != nil || d.IsDir() || filepath.Ext(path) != ".go" ||
			strings.HasSuffix(path, "_test.go") || elsewhere[top] != "" {
			return err
		}
		files := token.NewFileSet()
		file, err := parser.ParseFile(files, path, nil, 0)
		if err != nil {
			return err
		}
		for _, declared := range file.Decls {
			if f, ok := declared.(*ast.FuncDecl); ok &&
				background[file.Name.Name+"."+f.Name.Name] != "" {
				continue
			}
			ast.Inspect(declared, func(n ast.Node) bool {
				if text, ok := textOf(n); ok && writing.MatchString(text) {
					found[files.Position(n.Pos()).String()] = verb.Split(text, -1)
				}
				return true
			})
		}
		return nil
	}))
	return found
}

// textOf returns the value of a constant text.
func textOf(n ast.Node) (string, bool) {
	literal, ok := n.(*ast.BasicLit)
	if !ok || literal.Kind != token.STRING {
		return "", false
	}
	text, err := strconv.Unquote(literal.Value)
	return text, err == nil
}

// requireAllStatements requires that each statement of the code that writes ran.
func (r *tracer) requireAllStatements(t *testing.T) {
	t.Helper()
	found := writtenStatements(t)
	require.Greater(t, len(found), 50)
	var missing []string
	for place, parts := range found {
		if !r.contains(parts) {
			missing = append(missing, place)
		}
	}
	slices.Sort(missing)
	assert.Empty(t, missing, "no request of the test runs these statements")
}

// requireAllRPCs requires that each RPC of the ledger was called with success.
func (s *isolated) requireAllRPCs(t *testing.T) {
	t.Helper()
	protoregistry.GlobalFiles.RangeFilesByPackage("coffer.ledger.v1",
		func(file protoreflect.FileDescriptor) bool {
			for i := range file.Services().Len() {
				methods := file.Services().Get(i).Methods()
				for j := range methods.Len() {
					m := methods.Get(j)
					assert.True(t, s.answered[m.Output().FullName()], "the test does not call %s",
						m.FullName())
				}
			}
			return true
		})
}
