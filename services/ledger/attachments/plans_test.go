package attachments

import (
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/coffer-budget/coffer/internal/pg"
	"github.com/coffer-budget/coffer/internal/pg/pgtest"
)

// TestAttachmentsPlans checks the statements that every deletion of a transaction and every upload
// runs, with 2000 attachments of one owner and 38 000 of others.
func TestAttachmentsPlans(t *testing.T) {
	t.Parallel()
	srv := setup(t)
	me := newPerson(t, srv)
	require.NoError(t, pg.InTx(t.Context(), srv.DB, func(tx pgx.Tx) error {
		pgtest.Exec(t, tx, `SET LOCAL session_replication_role = replica`)
		_, err := tx.Exec(t.Context(), `
			INSERT INTO attachments (owner_id, id, transaction_id, status, name, media_type, size,
				sha256, created_at)
			SELECT CASE WHEN n % 20 = 0 THEN $1 ELSE gen_random_uuid() END, gen_random_uuid(),
				gen_random_uuid(), 'ready', 'a', 'text/plain', 1, sha256(n::text::bytea), now()
			FROM generate_series(1, 40000) AS n`, me.ID)
		return err
	}))
	pgtest.Exec(t, srv.DB, `VACUUM ANALYZE attachments`)
	explain := func(sql string, args ...any) string {
		type row struct {
			Line string `db:"QUERY PLAN"`
		}
		var lines []string
		require.NoError(t, pg.InTx(t.Context(), srv.DB, func(tx pgx.Tx) error {
			rows, err := pg.All[row](t.Context(), tx,
				`EXPLAIN (ANALYZE, COSTS OFF, BUFFERS OFF) `+sql, args...)
			for _, r := range rows {
				lines = append(lines, r.Line)
			}
			return err
		}))
		return strings.Join(lines, "\n")
	}
	// The statement of the foreign key.
	plan := explain(`
		DELETE FROM attachments
		WHERE $1 OPERATOR(pg_catalog.=) transaction_id AND $2 OPERATOR(pg_catalog.=) owner_id`,
		uuid.New(), me.ID)
	require.Contains(t, plan, "Index")
	require.NotContains(t, plan, "Seq Scan on attachments")
	plan = explain(
		`SELECT coalesce(sum(size), 0) FROM attachments WHERE owner_id = $1 AND status = 'ready'`,
		me.ID,
	)
	require.Contains(t, plan, "Index")
	require.NotContains(t, plan, "Seq Scan on attachments")
	plan = explain(`
		SELECT owner_id
		FROM attachments
		WHERE status = 'uploading' AND created_at < now()
		LIMIT 1000`)
	require.Contains(t, plan, "attachments_uploading")
	t.Log(explain(`DELETE FROM transactions WHERE id = $1`, uuid.MustParse(me.transaction)))
}
