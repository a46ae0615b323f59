package main

import (
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const source = "package p\n\n" + `
func f(ctx context.Context, tx pgx.Tx) error {
	if err := lockUser(ctx, tx); err != nil {
		return err
	}
	if len(rows) > maxRows {
		return errTooMany
	}
	if rows, err := tx.Query(ctx); err != nil {
		return err
	}
	switch {
	case !mine:
		return errNotYours
	}
	if expires.Before(now) {
		return errExpired
	}
	return tx.Exec(ctx, ` + "`" + `
		UPDATE wallets SET name = $3
		WHERE id = $1 AND owner_id = $2 AND deleted_at IS NULL AND expires_at > @now
			AND id = ANY($4::uuid[])
		FOR NO KEY UPDATE OF wallets SKIP LOCKED` + "`" + `, "SELECT pg_advisory_xact_lock(1)")
}
`

func TestFindIn(t *testing.T) {
	t.Parallel()
	mutants, err := findIn("p.go", []byte(source))
	require.NoError(t, err)
	var got []string
	for _, m := range mutants {
		got = append(got, strings.TrimPrefix(m.String(), "p.go:"))
		_, err := parser.ParseFile(token.NewFileSet(), "p.go", m.apply([]byte(source)), 0)
		require.NoError(t, err, m)
	}
	require.Equal(t, []string{
		"5: lock removed: lockUser(ctx, tx) -> error(nil)",
		"5: check removed: err != nil -> false && (err != nil)",
		"8: check removed: len(rows) > maxRows -> false && (len(rows) > maxRows)",
		"8: limit moved: > -> >=",
		"15: case removed: !mine -> false && (!mine)",
		"18: check removed: expires.Before(now) -> false && (expires.Before(now))",
		"18: expiry reversed: Before -> After",
		"23: condition dropped: id = $1 -> (id = $1 OR TRUE)",
		"23: condition dropped: owner_id = $2 -> (owner_id = $2 OR TRUE)",
		"23: condition dropped: deleted_at IS NULL -> (deleted_at IS NULL OR TRUE)",
		"23: condition dropped: expires_at > @now -> (expires_at > @now OR TRUE)",
		"23: limit moved: > -> >=",
		"24: condition dropped: id = ANY($4::uuid[]) -> (id = ANY($4::uuid[]) OR TRUE)",
		"25: row lock dropped: FOR NO KEY UPDATE OF wallets SKIP LOCKED -> (nothing)",
		"25: advisory lock shared: pg_advisory_xact_lock( -> pg_advisory_xact_lock_shared(",
	}, got)
}

// TestFindMissesNoLockOrOwner compares the mutants of the services with a plain search in their
// files.
func TestFindMissesNoLockOrOwner(t *testing.T) {
	t.Parallel()
	comment := regexp.MustCompile(`(?m)^[ \t]*//.*$`)
	for _, tc := range []struct{ text, kind string }{
		{`FOR (NO KEY )?(UPDATE|SHARE)\b`, "row lock dropped"},
		{`\bpg_advisory_xact_lock\(`, "advisory lock shared"},
		{`(WHERE|AND) (\w+\.)?(owner_id|user_id) = [$@]`, "condition dropped"},
	} {
		text := regexp.MustCompile(tc.text)
		for _, dir := range packagesWithSQL(t) {
			mutants, err := find(dir)
			require.NoError(t, err)
			require.NotEmpty(t, mutants)
			lines := map[string]map[int]bool{}
			for _, m := range mutants {
				if m.kind == tc.kind {
					if lines[m.file] == nil {
						lines[m.file] = map[int]bool{}
					}
					lines[m.file][m.line] = true
				}
			}
			files, err := filepath.Glob(filepath.Join(dir, "store_*.go"))
			require.NoError(t, err)
			for _, file := range files {
				if strings.HasSuffix(file, "_test.go") {
					continue
				}
				source, err := os.ReadFile(file)
				require.NoError(t, err)
				code := comment.ReplaceAllString(string(source), "")
				for i, line := range strings.Split(code, "\n") {
					if text.MatchString(line) {
						require.True(t, lines[file][i+1], "%s:%d: %s", file, i+1, line)
					}
				}
			}
		}
	}
}

// packagesWithSQL returns the folders of the services' packages that have queries.
func packagesWithSQL(t *testing.T) (dirs []string) {
	t.Helper()
	for _, pattern := range []string{"*/store_*.go", "*/*/store_*.go"} {
		files, err := filepath.Glob(filepath.Join("../../../services", pattern))
		require.NoError(t, err)
		for _, file := range files {
			if dir := filepath.Dir(file); !slices.Contains(dirs, dir) {
				dirs = append(dirs, dir)
			}
		}
	}
	require.Greater(t, len(dirs), 4)
	return dirs
}
