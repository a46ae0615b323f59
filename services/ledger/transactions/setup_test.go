package transactions

import (
	"context"
	"log/slog"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/coffer-budget/coffer/internal/apierr"
	"github.com/coffer-budget/coffer/internal/rpc"
	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
	"github.com/coffer-budget/coffer/services/ledger/accounts"
	"github.com/coffer-budget/coffer/services/ledger/fixture"
	"github.com/coffer-budget/coffer/services/ledger/receipts"
	"github.com/coffer-budget/coffer/services/ledger/reports"
)

// These requests are frequent in the tests.
type (
	createRequest = ledgerv1.CreateTransactionRequest
	updateRequest = ledgerv1.UpdateTransactionRequest
	listRequest   = ledgerv1.ListTransactionsRequest
	deleteRequest = ledgerv1.DeleteTransactionRequest
	payeesRequest = ledgerv1.ListPayeesRequest
)

// server serves the RPCs that the tests of this package call.
type server struct {
	*fixture.Service
	*Transactions
	*accounts.Accounts
	*receipts.Receipts
	*reports.Reports
}

// setup returns a server on a fresh database.
func setup(t testing.TB) *server {
	t.Helper()
	return serve(t.Context(), fixture.New(t))
}

// serve returns a server in an environment. Its writers end with ctx.
func serve(ctx context.Context, base *fixture.Service) *server {
	srv := &server{
		Service:      base,
		Transactions: New(base.Ledger, base.Cursors, base.Reads),
		Receipts:     &receipts.Receipts{Ledger: base.Ledger, Log: slog.New(slog.DiscardHandler)},
		Reports:      &reports.Reports{Ledger: base.Ledger, Reads: base.Reads},
		Accounts:     &accounts.Accounts{Ledger: base.Ledger, Cursors: base.Cursors},
	}
	base.RPCs = srv
	srv.bulks = rpc.NewGate(1, 0, apierr.Unavailable)
	srv.Run(ctx)
	return srv
}

// person is a user of a server.
type person struct {
	*server
	fixture.User
}

func newPerson(ctx context.Context, t require.TestingT, s *server) person {
	return person{server: s, User: s.NewUser(ctx, t)}
}
