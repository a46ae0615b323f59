package ledger

import (
	"context"
	"fmt"
	"io/fs"
	"math"
	"net/url"
	"os"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"github.com/coffer-budget/coffer/internal/pg"
	"github.com/coffer-budget/coffer/internal/pg/pgtest"
	"github.com/coffer-budget/coffer/services/ledger/fixture"
)

// TestMigrateRefunds writes parts before, between and during the migrations that correct the
// monthly totals for refunds (ADR 103), with statements of the release before them, whose replicas
// run during an upgrade. Afterwards all totals are right.
func TestMigrateRefunds(t *testing.T) {
	t.Parallel()
	migrate, db := schemaBefore(t)
	migrate(34)
	unchanged, creates := newSpender(t, db), newSpender(t, db)
	unchanged.spend(t, db)
	unchanged.spend(t, db)
	creates.spend(t, db)
	changeBetween, changeAfter := prepareChanges(t, db), prepareChanges(t, db)

	migrate(35)
	changeBetween()
	// The migration waits for a write that is not committed, and then sees it.
	require.NoError(t, pgtest.Behind(t, db, func(tx pgx.Tx) error {
		creates.spend(t, tx)
		return nil
	}, func() error { migrate(36); return nil }))
	changeAfter()
	unchanged.spend(t, db)
	migrate(math.MaxInt)
	fixture.On(db).RequireConsistent(t)
	var refunds, further int64
	require.NoError(t, db.QueryRow(t.Context(), `
		SELECT sum(refund_minor), sum(further_parts) FROM monthly_totals WHERE owner_id = $1`,
		unchanged.owner).Scan(&refunds, &further))
	require.EqualValues(t, 3*2000, refunds)
	require.EqualValues(t, 3, further)
}

// prepareChanges creates expenses of three users. The returned function deletes one, makes an
// income of one, and merges the categories of one.
func prepareChanges(t *testing.T, db pg.Querier) (change func()) {
	t.Helper()
	deletes, changes, merges := newSpender(t, db), newSpender(t, db), newSpender(t, db)
	deleted, changed := deletes.spend(t, db), changes.spend(t, db)
	merges.spend(t, db)
	return func() {
		deletes.post(t, db, -1, 1)
		deletes.exec(t, db,
			`DELETE FROM transactions WHERE owner_id = @owner AND id = @id`, deleted)
		changes.post(t, db, -1, 1)
		changes.exec(t, db,
			`DELETE FROM splits WHERE owner_id = @owner AND transaction_id = @id`, changed)
		changes.exec(t, db,
			`
				UPDATE transactions
				SET amount_minor = 1000, amount_e4 = 100000
				WHERE owner_id = @owner AND id = @id`,
			changed)
		changes.split(t, db, changed, -1)
		changes.post(t, db, 1, -1)
		merges.merge(t, db)
	}
}

// spender is a user who splits expenses of 10 into 30 for food and a refund of 20 for fun.
type spender struct{ owner, wallet, food, fun uuid.UUID }

func newSpender(t *testing.T, db pg.Querier) spender {
	t.Helper()
	u := spender{owner: uuid.New(), wallet: uuid.New(), food: uuid.New(), fun: uuid.New()}
	u.exec(t, db, `
		INSERT INTO wallets (owner_id, id, name, currency, initial_minor, created_at, updated_at)
		VALUES (@owner, @wallet, 'Cash', 'EUR', 0, now(), now())`, uuid.Nil)
	u.exec(t, db, `
		INSERT INTO categories (owner_id, id, name, created_at, updated_at)
		VALUES (@owner, @food, 'Food', now(), now()), (@owner, @fun, 'Fun', now(), now())`,
		uuid.Nil)
	return u
}

func (u spender) exec(t *testing.T, q pg.Querier, sql string, id uuid.UUID) {
	t.Helper()
	pgtest.Exec(t, q, sql,
		pgx.NamedArgs{"owner": u.owner, "wallet": u.wallet, "food": u.food, "fun": u.fun, "id": id})
}

// spend creates an expense, and returns its id.
func (u spender) spend(t *testing.T, q pg.Querier) uuid.UUID {
	t.Helper()
	id := uuid.New()
	u.exec(t, q, `
		SELECT pg_advisory_xact_lock_shared(
			hashtextextended('ledger owner ' || @owner::uuid::text, 0))`, id)
	u.exec(t, q, `
		INSERT INTO transactions (id, owner_id, wallet_id, currency, amount_minor, amount_e4,
			description, date, split_count, created_at, updated_at)
		VALUES (@id, @owner, @wallet, 'EUR', -1000, -100000, '', '2026-01-02', 2, now(), now())`,
		id)
	u.split(t, q, id, 1)
	u.post(t, q, 1, 1)
	return id
}

// split inserts the parts of a transaction: an expense if kind is 1, and an income if it is -1.
func (u spender) split(t *testing.T, q pg.Querier, id uuid.UUID, kind int) {
	t.Helper()
	u.exec(t, q, fmt.Sprintf(`
		INSERT INTO splits (owner_id, transaction_id, position, category_id, wallet_id, currency,
			date, amount_minor, description)
		VALUES (@owner, @id, 0, @food, @wallet, 'EUR', '2026-01-02', -3000 * %[1]d, ''),
			(@owner, @id, 1, @fun, @wallet, 'EUR', '2026-01-02', 2000 * %[1]d, '')`, kind), id)
}

// post adds a transaction to balance and totals if sign is 1, and removes it if sign is -1. Parts
// count by their signs.
func (u spender) post(t *testing.T, q pg.Querier, sign, kind int) {
	t.Helper()
	u.exec(t, q, fmt.Sprintf(`
		INSERT INTO wallet_balances AS b (owner_id, wallet_id, currency, amount_minor)
		VALUES (@owner, @wallet, 'EUR', -1000 * %d)
		ON CONFLICT (owner_id, wallet_id, currency) DO UPDATE
		SET amount_minor = b.amount_minor + EXCLUDED.amount_minor`,
		sign*kind), uuid.Nil)
	u.exec(t, q, fmt.Sprintf(`
		INSERT INTO monthly_totals AS m (owner_id, month, wallet_id, category_id, currency,
			income_minor, expense_minor, transaction_count)
		SELECT @owner, '2026-01-01', @wallet, category, 'EUR', %[1]d * greatest(amount, 0),
			%[1]d * greatest(-amount, 0), %[1]d
		FROM (VALUES (@food::uuid, -3000 * %[2]d), (@fun::uuid, 2000 * %[2]d))
			AS p (category, amount)
		ON CONFLICT (owner_id, month, wallet_id, category_id, currency) DO UPDATE
		SET income_minor = m.income_minor + EXCLUDED.income_minor,
			expense_minor = m.expense_minor + EXCLUDED.expense_minor,
			transaction_count = m.transaction_count + EXCLUDED.transaction_count`,
		sign, kind), uuid.Nil)
}

// merge merges fun into food.
func (u spender) merge(t *testing.T, q pg.Querier) {
	t.Helper()
	u.exec(t, q,
		`UPDATE splits SET category_id = @food WHERE owner_id = @owner AND category_id = @fun`,
		uuid.Nil)
	u.exec(t, q, `
		WITH merged AS (
			DELETE FROM monthly_totals
			WHERE owner_id = @owner AND category_id = @fun
			RETURNING owner_id, month, wallet_id, currency, income_minor, expense_minor,
				transaction_count
		)
		INSERT INTO monthly_totals AS m
			(owner_id, month, wallet_id, category_id, currency, income_minor, expense_minor,
				transaction_count)
		SELECT owner_id, month, wallet_id, @food, currency, income_minor, expense_minor,
			transaction_count FROM merged
		ON CONFLICT (owner_id, month, wallet_id, category_id, currency) DO UPDATE
		SET income_minor = m.income_minor + EXCLUDED.income_minor,
			expense_minor = m.expense_minor + EXCLUDED.expense_minor,
			transaction_count = m.transaction_count + EXCLUDED.transaction_count`, uuid.Nil)
}

// schemaBefore returns a pool on a new schema without tables, and a function that migrates it up to
// a number like the command migrate.
func schemaBefore(t *testing.T) (migrate func(last int), db *pgxpool.Pool) {
	t.Helper()
	name := "ledger_" + strings.ReplaceAll(uuid.NewString(), "-", "")
	t.Cleanup(func() { dropRole(t, name) })
	owner := pgtest.New(t, fstest.MapFS{})
	pgtest.Exec(t, owner, `CREATE ROLE `+name)
	address, err := url.Parse(owner.Config().ConnString())
	require.NoError(t, err)
	address.RawQuery = ""
	target := address.String()
	address.RawQuery = "search_path=" + name
	db, err = pg.Open(t.Context(), address.String())
	require.NoError(t, err)
	t.Cleanup(db.Close)
	return func(last int) {
		files := fstest.MapFS{}
		names, err := fs.Glob(Migrations, "migrations/*.sql")
		require.NoError(t, err)
		for _, file := range names {
			var n int
			_, err := fmt.Sscanf(file, "migrations/%d_", &n)
			require.NoError(t, err)
			text, err := fs.ReadFile(Migrations, file)
			require.NoError(t, err)
			if n <= last {
				files[file] = &fstest.MapFile{Data: text}
			}
		}
		require.NoError(t, pg.Migrate(t.Context(), target, name, files))
	}, db
}

// dropRole drops a role after the database in which it had rights.
func dropRole(t *testing.T, name string) {
	t.Helper()
	server := os.Getenv("TEST_DATABASE_URL")
	if server == "" {
		return
	}
	ctx := context.WithoutCancel(t.Context())
	conn, err := pgx.Connect(ctx, server)
	require.NoError(t, err)
	defer func() { require.NoError(t, conn.Close(ctx)) }()
	require.NoError(t, pg.Exec(ctx, conn, `DROP ROLE IF EXISTS `+name))
}
