package ledger

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/coffer-budget/coffer/internal/pg"
)

// watch compares the rows of a user after each request of another one, so that the request that
// changes them is named.
type watch struct {
	user uuid.UUID
	// statement returns a hash of the user's rows of each table. It is empty without a user.
	statement string
	hashes    []tableHash
	// last is the previous request, and changed describes the changes of rows.
	last    string
	changed []string
}

// tableHash is the hash of a user's rows of a table.
type tableHash struct{ Name, Hash string }

// watchRows compares the rows of a user from now on.
func (s *isolated) watchRows(t *testing.T, user uuid.UUID) {
	t.Helper()
	var tables []string
	for _, table := range s.ownedTables(t) {
		tables = append(tables, fmt.Sprintf(`
			SELECT '%[1]s' AS name,
				coalesce(md5(string_agg(x::text, ' ' ORDER BY x::text)), '') AS hash
			FROM %[1]s x WHERE owner_id = $1`, table.Name))
	}
	s.watch = watch{user: user, statement: strings.Join(tables, " UNION ALL ") +
		" ORDER BY name", last: "the preparation"}
	var err error
	s.watch.hashes, err = pg.All[tableHash](t.Context(), s.db, s.watch.statement, user)
	require.NoError(t, err)
	require.NotEmpty(t, s.watch.hashes)
}

// compareRows notes the tables whose rows differ since the previous request. A job that runs
// between two requests belongs to the first one.
func (s *isolated) compareRows(request string) {
	watch := &s.watch
	if watch.statement == "" {
		return
	}
	hashes, err := pg.All[tableHash](s.user.Ctx, s.db, watch.statement, watch.user)
	if err != nil {
		watch.changed = append(watch.changed, err.Error())
		return
	}
	for i, table := range hashes {
		if table != watch.hashes[i] {
			watch.changed = append(watch.changed,
				fmt.Sprintf("%s by %s, or by a job after %s", table.Name, request, watch.last))
		}
	}
	watch.hashes, watch.last = hashes, request
}
