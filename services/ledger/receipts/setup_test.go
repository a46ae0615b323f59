package receipts

import (
	"context"
	"log/slog"
	"testing"

	"github.com/stretchr/testify/require"

	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
	"github.com/coffer-budget/coffer/services/ledger/accounts"
	"github.com/coffer-budget/coffer/services/ledger/fixture"
	"github.com/coffer-budget/coffer/services/ledger/reports"
)

type form = ledgerv1.CreateTransactionsFromReceiptRequest

// server serves the RPCs that the tests of this package call.
type server struct {
	*fixture.Service
	*Receipts
	*accounts.Accounts
	*reports.Reports
}

// setup returns a server on a fresh database.
func setup(t testing.TB) *server {
	t.Helper()
	base := fixture.New(t)
	r, err := New(base.Ledger, base.Cursors, nil, slog.New(slog.DiscardHandler))
	require.NoError(t, err)
	s := &server{
		Service:  base,
		Receipts: r,
		Reports:  &reports.Reports{Ledger: base.Ledger, Reads: base.Reads},
		Accounts: &accounts.Accounts{Ledger: base.Ledger, Cursors: base.Cursors},
	}
	base.RPCs = s
	return s
}

// person is a user of a server.
type person struct {
	*server
	fixture.User
}

func newPerson(ctx context.Context, t require.TestingT, s *server) person {
	return person{server: s, User: s.NewUser(ctx, t)}
}
