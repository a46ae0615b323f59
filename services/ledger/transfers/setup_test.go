package transfers_test

import (
	"context"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
	"github.com/coffer-budget/coffer/services/ledger/accounts"
	"github.com/coffer-budget/coffer/services/ledger/fixture"
	"github.com/coffer-budget/coffer/services/ledger/posting"
	"github.com/coffer-budget/coffer/services/ledger/reports"
	"github.com/coffer-budget/coffer/services/ledger/transactions"
	"github.com/coffer-budget/coffer/services/ledger/transfers"
)

// These requests are frequent in the tests.
type (
	listRequest    = ledgerv1.ListTransfersRequest
	suggestRequest = ledgerv1.SuggestTransfersRequest
	updateRequest  = ledgerv1.UpdateTransferRequest
	createRequest  = ledgerv1.CreateTransferRequest
	matchRequest   = ledgerv1.MatchTransferRequest
	unlinkRequest  = ledgerv1.UnlinkTransferRequest
)

// server serves the RPCs that the tests of this package call.
type server struct {
	*fixture.Service
	*transfers.Transfers
	*accounts.Accounts
	*transactions.Transactions
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
		Service: base,
		Transfers: &transfers.Transfers{
			Ledger: base.Ledger, Cursors: base.Cursors, Reads: base.Reads,
		},
		Accounts:     &accounts.Accounts{Ledger: base.Ledger, Cursors: base.Cursors},
		Transactions: transactions.New(base.Ledger, base.Cursors, base.Reads),
		Reports:      &reports.Reports{Ledger: base.Ledger, Reads: base.Reads},
	}
	base.RPCs = srv
	srv.Run(ctx)
	return srv
}

// person is a user with two wallets in euros and one in yen.
type person struct {
	*server
	fixture.User
	bank, yen uuid.UUID
}

func newPerson(ctx context.Context, t require.TestingT, s *server) person {
	p := person{server: s, User: s.NewUser(ctx, t)}
	p.bank, p.yen = s.MakeWallet(p.Ctx, t, "Bank", "EUR"), s.MakeWallet(p.Ctx, t, "Yen", "JPY")
	return p
}

// moves returns a request for a transfer from the user's first wallet to the bank.
func (p person) moves(amount string) *createRequest {
	return &createRequest{
		FromWalletId: p.Wallet.String(), ToWalletId: p.bank.String(), Amount: amount,
		Date: "2026-03-14", Description: "card",
	}
}

// transfer creates a transfer.
func (p person) transfer(t require.TestingT, req *createRequest) *ledgerv1.Transfer {
	resp, err := p.CreateTransfer(p.Ctx, req)
	require.NoError(t, err)
	return resp.GetTransfer()
}

// leg returns a transaction.
func (p person) leg(t require.TestingT, id string) *ledgerv1.Transaction {
	resp, err := p.GetTransaction(p.Ctx, &ledgerv1.GetTransactionRequest{Id: id})
	require.NoError(t, err)
	return resp.GetTransaction()
}

// receives returns a request for an income in the bank.
func (p person) receives(amount string) *ledgerv1.CreateTransactionRequest {
	req := p.Spends(amount)
	req.Type, req.WalletId = new(posting.Income), p.bank.String()
	return req
}

// match makes a transfer of an expense and an income.
func (p person) match(out, in string) (*ledgerv1.Transfer, error) {
	resp, err := p.MatchTransfer(p.Ctx, &matchRequest{OutTransactionId: out, InTransactionId: in})
	return resp.GetTransfer(), err
}
