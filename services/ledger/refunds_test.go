package ledger

import (
	"context"
	"fmt"
	"io/fs"
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
	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
	"github.com/coffer-budget/coffer/services/ledger/accounts"
	"github.com/coffer-budget/coffer/services/ledger/fixture"
	"github.com/coffer-budget/coffer/services/ledger/posting"
	"github.com/coffer-budget/coffer/services/ledger/transactions"
)

// spender is a user who splits expenses of 10 into 30 and -20.
type spender struct {
	fixture.User
	fun uuid.UUID
}

// spenders serves the RPCs of this test.
type spenders struct {
	*fixture.Service
	*accounts.Accounts
	*transactions.Transactions
}

// TestMigrateRefunds writes parts before, between and during the migrations that correct the monthly totals for refunds (ADR 103). The
// statements that write parts are those of the previous release, whose replicas run during an upgrade. Afterwards all totals are right.
func TestMigrateRefunds(t *testing.T) {
	t.Parallel()
	migrate, db := schemaBefore(t)
	migrate(34)
	f := fixture.On(db)
	s := &spenders{
		Service: f, Accounts: &accounts.Accounts{Ledger: f.Ledger, Cursors: f.Cursors},
		Transactions: transactions.New(f.Ledger, f.Cursors, f.Reads),
	}
	f.RPCs = s
	s.Run(t.Context())
	unchanged, deletes, changes, merges, creates := s.spender(t), s.spender(t), s.spender(t), s.spender(t), s.spender(t)
	unchanged.spend(t)
	unchanged.spend(t)
	deleted, changed := deletes.spend(t), changes.spend(t)
	merges.spend(t)
	creates.spend(t)

	migrate(35)
	_, err := s.DeleteTransaction(deletes.Ctx, &ledgerv1.DeleteTransactionRequest{Id: deleted.GetId()})
	require.NoError(t, err)
	_, err = s.UpdateTransaction(changes.Ctx, &ledgerv1.UpdateTransactionRequest{
		Id: changed.GetId(), Type: new(posting.Income), Date: new("2026-01-31"),
		Splits: &ledgerv1.Splits{Values: []*ledgerv1.Split{
			{CategoryId: changes.fun.String(), Amount: "15"}, {CategoryId: changes.fun.String(), Amount: "-5"},
		}},
	})
	require.NoError(t, err)
	target := merges.Category.String()
	_, err = s.DeleteCategory(merges.Ctx, &ledgerv1.DeleteCategoryRequest{Id: merges.fun.String(), ReassignTo: &target})
	require.NoError(t, err)

	// The migration waits for a write that is not committed, and then sees it.
	err = pgtest.Behind(t, db, func(tx pgx.Tx) error {
		created := posting.Transaction{
			ID: s.NewID(), OwnerID: creates.ID, WalletID: creates.Wallet, AmountMinor: -10, Currency: "EUR", Date: fixture.Today,
			Splits: []posting.Split{{CategoryID: creates.Category, AmountMinor: -30}, {CategoryID: creates.fun, AmountMinor: 20}},
		}
		_, err := s.Service.Ledger.InsertTransactions(creates.Ctx, tx, []posting.Transaction{created}, []*ledgerv1.Transaction{created.Proto()})
		return err
	}, func() error { migrate(36); return nil })
	require.NoError(t, err)
	s.RequireConsistent(t)
	merges.fun = merges.Category
	for _, u := range []spender{unchanged, deletes, changes, merges, creates} {
		u.spend(t)
	}
	s.RequireConsistent(t)
	var refunds, further int64
	require.NoError(t, db.QueryRow(t.Context(), `
		SELECT sum(refund_minor), sum(further_parts) FROM monthly_totals WHERE owner_id = $1`, unchanged.ID).Scan(&refunds, &further))
	require.EqualValues(t, 3*2000, refunds)
	require.EqualValues(t, 3, further)
}

// spender creates a user with a second category.
func (s *spenders) spender(t *testing.T) spender {
	t.Helper()
	u := s.NewUser(t.Context(), t)
	return spender{User: u, fun: s.MakeCategory(u.Ctx, t, "Fun")}
}

// spend creates an expense with a refund.
func (u spender) spend(t *testing.T) *ledgerv1.Transaction {
	t.Helper()
	req := u.Spends("10")
	req.CategoryId = ""
	req.Splits = []*ledgerv1.Split{{CategoryId: u.Category.String(), Amount: "30"}, {CategoryId: u.fun.String(), Amount: "-20"}}
	return u.Create(t, req)
}

// schemaBefore returns a pool on a new schema without tables, and a function that migrates it up to a number like the command migrate.
func schemaBefore(t *testing.T) (migrate func(last int), db *pgxpool.Pool) {
	t.Helper()
	name := "ledger_" + strings.ReplaceAll(uuid.NewString(), "-", "")
	t.Cleanup(func() { dropRole(t, name) })
	owner := pgtest.New(t, fstest.MapFS{})
	_, err := owner.Exec(t.Context(), `CREATE ROLE `+name)
	require.NoError(t, err)
	u, err := url.Parse(owner.Config().ConnString())
	require.NoError(t, err)
	u.RawQuery = ""
	target := u.String()
	u.RawQuery = "search_path=" + name
	db, err = pg.Open(t.Context(), u.String())
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
	_, err = conn.Exec(ctx, `DROP ROLE IF EXISTS `+name)
	require.NoError(t, err)
}
