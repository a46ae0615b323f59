package reports

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
	"github.com/coffer-budget/coffer/services/ledger/accounts"
	"github.com/coffer-budget/coffer/services/ledger/fixture"
	"github.com/coffer-budget/coffer/services/ledger/transactions"
)

// These requests are frequent in the tests.
type (
	summaryRequest  = ledgerv1.GetSummaryRequest
	spendingRequest = ledgerv1.SumSpendingRequest
)

// server serves the RPCs that the tests of this package call.
type server struct {
	*fixture.Service
	*Reports
	*accounts.Accounts
	*transactions.Transactions
}

// setup returns a server on a fresh database.
func setup(t testing.TB) *server {
	t.Helper()
	return serve(t.Context(), fixture.New(t))
}

// serve returns a server in an environment. Its writers end with ctx.
func serve(ctx context.Context, base *fixture.Service) *server {
	s := &server{
		Service: base,
		Reports: &Reports{Ledger: base.Ledger, Reads: base.Reads},
		Accounts: &accounts.Accounts{
			Ledger: base.Ledger, Cursors: base.Cursors, Gates: base.Reads,
		},
		Transactions: transactions.New(base.Ledger, base.Cursors, base.Reads),
	}
	base.RPCs = s
	s.Run(ctx)
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
