package budgettest

import (
	"fmt"
	"regexp"
	"testing"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/encoding/prototext"
	"google.golang.org/protobuf/proto"

	"github.com/coffer-budget/coffer/internal/pg/pgtest"
)

// Copy inserts a copy of all rows of a user into the same table of another schema, for the user as.
// The copies keep their ids. A statement that lacks a condition on the user then returns the rows
// of both users. With random ids, the id alone would select the right row.
func Copy(t *testing.T, from, to *pgxpool.Pool, table string, user, as uuid.UUID) {
	t.Helper()
	rows := pgtest.Value[[]byte](t, from, fmt.Sprintf(`
		SELECT jsonb_agg(to_jsonb(x) || jsonb_build_object('user_id', $2::uuid))
		FROM %s x
		WHERE user_id = $1`, table), user, as)
	require.NotEmpty(t, rows, "no rows of the user in %s", table)
	pgtest.Exec(t, to,
		fmt.Sprintf(`INSERT INTO %[1]s SELECT * FROM jsonb_populate_recordset(NULL::%[1]s, $1)`,
			table), rows)
}

// RowsOf returns the rows of a user in a table, without the user's id and without some other
// columns.
func RowsOf(
	t *testing.T, db *pgxpool.Pool, table string, user uuid.UUID, without ...string,
) []string {
	t.Helper()
	rows, err := db.Query(t.Context(), fmt.Sprintf(`
		SELECT (to_jsonb(x) - 'user_id' - $2::text[])::text
		FROM %s x
		WHERE user_id = $1
		ORDER BY 1`, table), user, append([]string{}, without...))
	require.NoError(t, err)
	texts, err := pgx.CollectRows(rows, pgx.RowTo[string])
	require.NoError(t, err)
	return texts
}

// Record holds responses as text. Two records are equal if the same requests got the same
// responses.
type Record []string

// random matches values that differ in each response: cursors are encrypted with a nonce, and
// secrets are random.
var random = regexp.MustCompile(`next_cursor: *"[^"]*"|whsec_[A-Za-z0-9_-]+`)

// spaces matches the indentation and the spaces that prototext varies at random.
var spaces = regexp.MustCompile(` +`)

// Add appends a response or an error.
func (r *Record) Add(resp proto.Message, err error) {
	text := fmt.Sprint(err)
	if err == nil {
		b, _ := prototext.MarshalOptions{Multiline: true}.Marshal(resp)
		text = spaces.ReplaceAllString(random.ReplaceAllString(string(b), ""), " ")
	}
	*r = append(*r, fmt.Sprintf("%d %T %s", len(*r), resp, text))
}
