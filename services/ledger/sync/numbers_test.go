package sync

import (
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/coffer-budget/coffer/internal/pg"
	"github.com/coffer-budget/coffer/internal/pg/pgtest"
	"github.com/coffer-budget/coffer/services/ledger/fixture"
	"github.com/coffer-budget/coffer/services/ledger/ledgertest"
	"github.com/coffer-budget/coffer/services/ledger/posting"
)

// TestListChangesOfPreviousRelease writes as a replica of the previous release does: without a
// number.
func TestListChangesOfPreviousRelease(t *testing.T) {
	t.Parallel()
	srv := setup(t)
	user := srv.NewUser(t.Context(), t)
	bank := srv.MakeWallet(user.Ctx, t, "Bank", "EUR")
	first, second := user.Create(t, user.Spends("1.10")), user.Create(t, user.Spends("2.20"))
	mirror := newMirror(srv)
	mirror.follow(user.Ctx, t, 1000)
	for _, statement := range []string{
		`
			UPDATE transactions
			SET description = 'old', version = version + 1
			WHERE owner_id = $1 AND id = '` + first.GetId() + `'`,
		`
			UPDATE transactions
			SET wallet_id = '` + bank.String() + `'
			WHERE owner_id = $1 AND id = '` + first.GetId() + `'`,
		`DELETE FROM transactions WHERE owner_id = $1 AND id = '` + second.GetId() + `'`,
		`
			INSERT INTO categories (owner_id, id, name, created_at, updated_at)
			VALUES ($1, gen_random_uuid(), 'Old', now(), now())`,
		`UPDATE wallets SET name = 'Older' WHERE owner_id = $1`,
	} {
		pgtest.Exec(t, srv.DB, statement, user.ID)
		mirror.follow(user.Ctx, t, 1)
		mirror.requireEqual(user.Ctx, t)
	}
}

// TestListChangesPlan requires that a page of a long history reads one index in order, and each row
// of it once.
func TestListChangesPlan(t *testing.T) {
	t.Parallel()
	srv := setup(t)
	id := srv.NewID()
	user := fixture.User{Ctx: fixture.ActAs(t.Context(), id), ID: id}
	conn, err := srv.DB.Acquire(user.Ctx)
	require.NoError(t, err)
	require.NoError(t, ledgertest.Fill(user.Ctx, conn.Conn(), fixture.Today,
		ledgertest.Owner{ID: id, Transactions: 20_000, Years: 5}))
	conn.Release()
	pgtest.Exec(t, srv.DB, `ANALYZE transactions`)
	type line struct {
		Plan string `db:"QUERY PLAN"`
	}
	lines, err := pg.All[line](user.Ctx,
		srv.DB, `EXPLAIN SELECT `+posting.TransactionColumns+`, t.seq FROM transactions t
		WHERE t.owner_id = $1 AND (t.seq, t.id) > ($2, $3) ORDER BY t.seq, t.id LIMIT 1001`,
		user.ID, 0, uuid.Nil)
	require.NoError(t, err)
	var plan string
	for _, l := range lines {
		plan += l.Plan + "\n"
	}
	require.Contains(t, plan, "Index Scan using transactions_seq")
	require.NotContains(t, plan, "Sort")
	require.Equal(t, 1, strings.Count(plan, "Scan"), plan)

	m := newMirror(srv)
	m.follow(user.Ctx, t, 1000)
	require.Equal(t, 20_000+ledgertest.Categories, m.received)
}

// TestListChangesNumbersRows writes rows of two owners without a number, as a replica of the
// previous release does. A read of one owner must number only the rows of this owner that have no
// number.
func TestListChangesNumbersRows(t *testing.T) {
	t.Parallel()
	srv := setup(t)
	user, other := srv.NewUser(t.Context(), t), srv.NewUser(t.Context(), t)
	srv.MakeWallet(user.Ctx, t, "Bank", "EUR")
	seqs := func(of fixture.User) (seqs []int64) {
		const numbers = `SELECT array_agg(seq ORDER BY id) FROM wallets WHERE owner_id = $1`
		require.NoError(t, srv.DB.QueryRow(t.Context(), numbers, of.ID).Scan(&seqs))
		return seqs
	}
	rename := func(wallet uuid.UUID) {
		pgtest.Exec(t, srv.DB, `UPDATE wallets SET name = 'Old' WHERE id = $1`, wallet)
	}
	before := seqs(user)
	rename(other.Wallet)
	require.Equal(t, []int64{-1}, seqs(other))
	current, err := selectState(t.Context(), srv.DB, user.ID)
	require.NoError(t, err)
	require.False(t, current.Unnumbered, "only rows of the owner count")

	rename(user.Wallet)
	newMirror(srv).follow(user.Ctx, t, 1000)
	after := seqs(user)
	require.Greater(t, after[0], before[1])
	require.Equal(t, before[1], after[1], "this row has a number")
	require.Equal(t, []int64{-1}, seqs(other))
}

// TestSweep checks which tombstones a sweep deletes: the old ones that a device may have received,
// of the same owner, kind and id.
func TestSweep(t *testing.T) {
	t.Parallel()
	srv := setup(t)
	user, other := srv.NewUser(t.Context(), t), srv.NewUser(t.Context(), t)
	now := fixture.Today
	old, young := now.Add(-retention-time.Hour), now.Add(-retention+time.Hour)
	insert := func(of fixture.User, kind, id string, seq int64, at time.Time) {
		pgtest.Exec(t, srv.DB, `
				INSERT INTO tombstones (owner_id, kind, id, seq, deleted_at)
				VALUES ($1, $2, $3, $4, $5)`,
			of.ID, kind, id, seq, at)
	}
	insert(user, "wallet", "a", 5, old)
	insert(user, "wallet", "b", 7, young)
	// Nobody has received these, because they have no number.
	insert(user, "wallet", "c", -1, old)
	insert(user, "tag", "a", -1, old)
	insert(other, "wallet", "a", -1, old)
	// More than a sweep reads, and deletes at once.
	many := srv.NewUser(t.Context(), t)
	pgtest.Exec(t, srv.DB, `
		INSERT INTO tombstones (owner_id, kind, id, seq, deleted_at)
		SELECT $1, 'wallet', n, n, $2 FROM generate_series(1, 2 * $3::integer + 1) AS n`,
		many.ID, old.Add(-time.Hour), maxSwept)
	require.NoError(t, Sweep(t.Context(), srv.DB, now))
	left := pgtest.Value[[]string](t, srv.DB, `
			SELECT array_agg(kind || ' ' || id || ' ' || (owner_id = $1)
				ORDER BY kind, id, owner_id = $1)
			FROM tombstones`,
		user.ID)
	require.Equal(t,
		[]string{"tag a true", "wallet a false", "wallet b true", "wallet c true"}, left)
	for of, want := range map[uuid.UUID]int64{
		user.ID: 5, other.ID: 0, many.ID: 2*maxSwept + 1,
	} {
		current, err := selectState(t.Context(), srv.DB, of)
		require.NoError(t, err)
		require.Equal(t, want, current.SweptSeq)
	}
}
