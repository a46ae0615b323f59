package ledger

import (
	"cmp"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/coffer-budget/coffer/internal/pg"
	"github.com/coffer-budget/coffer/internal/pg/pgtest"
)

// TestStatementsNameTheirOwner compares the text of each statement of the source with the rule of
// ADR 124, also of those that no test runs. Parts of a text that are not constant may contain the
// owner; TestStatementsOnPartitions compares the complete texts.
func TestStatementsNameTheirOwner(t *testing.T) {
	t.Parallel()
	tables := ownedTables(t, pgtest.New(t, Migrations))
	unused, reading := maps.Clone(unrecorded), 0
	maps.Copy(unused, undistributed)
	for _, s := range sourceStatements(t) {
		sql := strings.Join(s.parts, hole)
		delete(unused, s.name)
		requireOwner(t, s.name, sql, tables)
		for _, q := range queriesOf(sql) {
			if q.reads(tables) {
				reading++
			}
		}
	}
	require.Greater(t, reading, 200)
	require.Empty(t, unused, "these statements do not exist")
}

// requireOwners compares the texts of the statements that were sent with the rule of ADR 124.
func (s *isolated) requireOwners(t *testing.T, sent *tracer, sources []sourceStatement) {
	t.Helper()
	tables := ownedTables(t, s.db)
	sent.mu.Lock()
	defer sent.mu.Unlock()
	for sql := range sent.statements {
		if name := nameOf(sources, sql); name != unnamed {
			requireOwner(t, name, sql, tables)
		}
	}
}

// ownedTables returns the tables of rows that belong to an owner.
func ownedTables(t *testing.T, db *pgxpool.Pool) []string {
	t.Helper()
	tables, err := pg.Values[string](t.Context(), db, `
		SELECT table_name::text
		FROM information_schema.columns
		WHERE table_schema = current_schema() AND column_name = ANY($1)`, ownerColumns)
	require.NoError(t, err)
	return tables
}

// requireOwner requires that each query of a statement that reads rows of owners has a condition on
// the owner. A statement that is known to be of all owners may only read. If it reads a table, it
// has no query in a condition or a column.
func requireOwner(t *testing.T, name, sql string, tables []string) {
	t.Helper()
	queries := queriesOf(sql)
	if !slices.ContainsFunc(queries, func(q *query) bool { return q.lacksOwner(tables) }) {
		return
	}
	reason := cmp.Or(acrossOwners[name], unrecorded[name], undistributed[name])
	if !assert.NotEmpty(t, reason, "%s names no owner:\n%s", name, sql) ||
		undistributed[name] != "" || strings.HasPrefix(reason, "to do") {
		return
	}
	reads := slices.ContainsFunc(queries, func(q *query) bool {
		return !q.expression && len(q.tables) > 0
	})
	for _, q := range queries {
		assert.False(t, q.expression && reads || q.locks() || q.writes(),
			"%s must only read, because it names no owner:\n%s", name, sql)
	}
}

func TestQueriesOf(t *testing.T) {
	t.Parallel()
	tables := []string{"rows", "parts"}
	const owner = "owner_id = $1"
	for sql, want := range map[string]bool{
		`SELECT 1`:                               true,
		`SELECT x FROM unnest($1) AS u (x)`:      true,
		`SELECT * FROM rows`:                     false,
		`SELECT * FROM rows WHERE id = $1`:       false,
		`SELECT * FROM rows WHERE ` + owner:      true,
		`SELECT * FROM rows WHERE @o = owner_id`: true,
		`SELECT * FROM rows WHERE user_id = $1`:  true,
		`SELECT * FROM rows r JOIN parts p ON p.owner_id = r.owner_id WHERE r.` + owner: true,
		`SELECT * FROM rows -- WHERE ` + owner:                                          false,
		`SELECT 'owner_id = $1' FROM rows`:                                              false,
		`SELECT ¤ FROM rows WHERE id = $1`:                                              false,
		`SELECT * FROM rows WHERE ¤`:                                                    true,
		`SELECT * FROM rows ¤`:                                                          true,
		`SELECT x IS DISTINCT FROM rows`:                                                true,
		`SELECT * FROM unnest($1, $2) AS u (x, rows)`:                                   true,
		`SELECT * FROM unnest(ARRAY(SELECT x FROM rows)) AS u`:                          false,
		`SELECT * FROM (rows JOIN parts ON true)`:                                       false,
		`SELECT * FROM rows WHERE owner_id = ¤`:                                         true,
		// Each query needs a condition.
		`SELECT * FROM rows r WHERE ` + owner + ` AND EXISTS (
			SELECT FROM parts p WHERE p.owner_id = r.owner_id)`: false,
		`SELECT (SELECT count(*) FROM parts WHERE ` + owner + `) FROM rows`:    false,
		`WITH p AS (SELECT * FROM parts) SELECT * FROM rows WHERE ` + owner:    false,
		`SELECT * FROM rows WHERE ` + owner + ` UNION ALL SELECT * FROM parts`: false,
		`(SELECT * FROM rows WHERE ` + owner + `) UNION (SELECT * FROM parts)`: false,
		`SELECT * FROM unnest($2) AS u, parts`:                                 false,
		`INSERT INTO rows SELECT * FROM parts`:                                 false,
		`INSERT INTO rows VALUES ($1) ON CONFLICT (id) DO UPDATE SET x = 1`:    true,
		`UPDATE rows SET x = 1 WHERE id = $1`:                                  false,
		`UPDATE rows SET x = 1 WHERE ` + owner:                                 true,
		`DELETE FROM rows USING parts WHERE rows.id = parts.id`:                false,
		`DELETE FROM rows WHERE (` + owner + ` AND id = $2)`:                   true,
		// The table is not known.
		`SELECT * FROM ¤ WHERE id = $1 FOR UPDATE SKIP LOCKED`: false,
		`SELECT * FROM ¤ WHERE id = $1 FOR KEY SHARE`:          false,
		`SELECT * FROM ¤ WHERE id = $1`:                        true,
		`UPDATE ¤ SET x = 1 WHERE id = $1`:                     false,
		`DELETE FROM ¤ WHERE id = $1`:                          false,
	} {
		lacking := slices.ContainsFunc(queriesOf(sql), func(q *query) bool {
			return q.lacksOwner(tables)
		})
		assert.Equal(t, want, !lacking, sql)
	}
	for sql, want := range map[string][]bool{
		`SELECT (SELECT 1)`: {false, true},
		`SELECT * FROM (SELECT 1) AS a, (SELECT 2) AS b`:        {false, false, false},
		`SELECT * FROM a JOIN (SELECT 1) AS b ON true`:          {false, false},
		`WITH a AS (SELECT 1) SELECT 2 WHERE EXISTS (SELECT 3)`: {false, false, true},
		`(SELECT 1) UNION ALL (SELECT 2)`:                       {false, false, false, false},
	} {
		var got []bool
		for _, q := range queriesOf(sql) {
			got = append(got, q.expression)
		}
		assert.Equal(t, want, got, sql)
	}
}

// query is a SELECT, UPDATE or DELETE of a statement, without its subqueries.
type query struct {
	tokens []string
	// tables are the names in the list of tables, or holes.
	tables []string
	// inTables reports whether the next token is in that list.
	inTables bool
	// owner reports whether a condition compares the owner with a parameter.
	owner bool
	// expression reports whether the query is in a condition or a column.
	expression bool
}

// hole stands for a part of a text that is not constant.
const hole = "¤"

var (
	// lexeme matches a token of SQL. Comments and string constants are single tokens.
	lexeme = regexp.MustCompile(`--[^\n]*|'(?:[^']|'')*'|[$@]?\w+|\S`)
	// parameter matches a token that is the same for all rows.
	parameter = regexp.MustCompile(`^(\$\d+|@\w+|` + hole + `)$`)

	// ownerColumns are the columns by which tables are distributed. The outbox has user_id.
	ownerColumns = []string{"owner_id", "user_id"}

	beginnings   = []string{"SELECT", "WITH", "INSERT", "UPDATE", "DELETE", "VALUES"}
	combinations = []string{"UNION", "INTERSECT", "EXCEPT"}
	// beforeTable are the words before a table.
	beforeTable = []string{"FROM", "USING", "JOIN", "UPDATE"}
	// afterTables are the words that end a list of tables.
	afterTables = []string{
		"WHERE", "ON", "SET", "GROUP", "ORDER", "HAVING", "LIMIT", "RETURNING", "FOR",
	}
)

// queriesOf returns the queries of a statement, or of a part of one.
func queriesOf(sql string) []*query {
	current := &query{}
	found, open := []*query{current}, []*query(nil)
	tokens := lexeme.FindAllString(sql, -1)
	for i, text := range tokens {
		switch {
		case strings.HasPrefix(text, "--"):
		case text == "(":
			open = append(open, current)
			switch before := current.last(1); {
			case i+1 < len(tokens) && slices.Contains(beginnings, tokens[i+1]):
				current = &query{expression: !current.inTables &&
					!slices.Contains([]string{"AS", "MATERIALIZED", "ALL", ""}, current.last(1))}
				found = append(found, current)
			case current.inTables && before != "," && !slices.Contains(beforeTable, before):
				// The arguments of a function, or the names of columns.
				current = &query{}
			}
		case text == ")" && len(open) > 0:
			current, open = open[len(open)-1], open[:len(open)-1]
		case slices.Contains(combinations, text):
			current = &query{expression: current.expression}
			found = append(found, current)
		default:
			current.add(text)
		}
	}
	return found
}

// add adds a token.
func (q *query) add(text string) {
	before := q.last(1)
	switch {
	case text == "FROM" && before == "DISTINCT", text == "UPDATE" && before == "DO":
	case slices.Contains(beforeTable, text):
		q.inTables = true
	case slices.Contains(afterTables, text):
		q.inTables = false
	case q.inTables && (before == "," || slices.Contains(beforeTable, before)):
		q.tables = append(q.tables, text)
	case text == hole && len(q.tables) > 0,
		before == "=" && parameter.MatchString(text) && slices.Contains(ownerColumns, q.last(2)),
		slices.Contains(ownerColumns, text) && before == "=" && parameter.MatchString(q.last(2)):
		q.owner = true
	}
	q.tokens = append(q.tokens, text)
}

// last returns a token from the end, or an empty text.
func (q *query) last(n int) string {
	if len(q.tokens) < n {
		return ""
	}
	return q.tokens[len(q.tokens)-n]
}

// reads reports whether the query reads one of some tables.
func (q *query) reads(tables []string) bool {
	return slices.ContainsFunc(q.tables, func(name string) bool {
		return slices.Contains(tables, name)
	})
}

// locks reports whether the query locks rows.
func (q *query) locks() bool {
	i := slices.Index(q.tokens, "FOR")
	return i >= 0 && i+1 < len(q.tokens) &&
		slices.Contains([]string{"UPDATE", "SHARE", "NO", "KEY"}, q.tokens[i+1])
}

// writes reports whether the query changes rows that exist.
func (q *query) writes() bool {
	return slices.Contains(q.tokens, "DELETE") || slices.Contains(q.tokens, "SET")
}

// lacksOwner reports whether the query needs a condition on the owner and has none.
func (q *query) lacksOwner(tables []string) bool {
	unknown := slices.Contains(q.tables, hole) && (q.locks() || q.writes())
	return !q.owner && (q.reads(tables) || unknown)
}
