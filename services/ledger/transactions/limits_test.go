package transactions

import (
	"context"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"

	"github.com/coffer-budget/coffer/internal/apierr"
	"github.com/coffer-budget/coffer/internal/rpc"
	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
	"github.com/coffer-budget/coffer/services/ledger/fixture"
	"github.com/coffer-budget/coffer/services/ledger/reads"
)

func TestWalletCurrencyLimit(t *testing.T) {
	t.Parallel()
	s := setup(t)
	s.bulks = rpc.NewGate(8, 0, apierr.Unavailable)
	p := newPerson(t.Context(), t, s)
	codesOf := slices.DeleteFunc(fixture.CurrencyCodes(t), func(code string) bool {
		return code == "EUR"
	})
	const limit = 50
	for _, code := range codesOf[:limit-3] {
		req := p.Spends("1")
		req.Currency = code
		p.Create(t, req)
	}
	p.RequireConsistent(t)
	// Batches do not share the statements of single creates, as the requests to another replica do
	// not.
	attempt := func(i int) error {
		req := p.Spends("1")
		req.Currency = codesOf[limit-3+i]
		if i%2 == 0 {
			_, err := p.CreateTransaction(p.Ctx, req)
			return err
		}
		_, err := p.CreateTransactions(p.Ctx,
			&ledgerv1.CreateTransactionsRequest{Transactions: []*createRequest{req}})
		return err
	}
	require.Equal(t, 2, fixture.Simultaneous(t, 6, "WALLET_CURRENCY_LIMIT_REACHED", attempt))
	require.Len(t, p.Balances(t, p.Wallet), limit)
	req := p.Spends("1")
	req.Currency = codesOf[limit+5]
	p.RequireRejected(t, codes.AlreadyExists, "WALLET_CURRENCY_LIMIT_REACHED", func() error {
		_, err := p.CreateTransaction(p.Ctx, req)
		return err
	})
	known := p.Create(t, p.Spends("1"))
	p.RequireRejected(t, codes.AlreadyExists, "WALLET_CURRENCY_LIMIT_REACHED", func() error {
		_, err := p.UpdateTransaction(p.Ctx,
			&updateRequest{Id: known.GetId(), Currency: &req.Currency, Amount: new("1")})
		return err
	})
	p.RequireConsistent(t)
}

func TestExpensiveReadLimit(t *testing.T) {
	t.Parallel()
	f := fixture.New(t)
	f.Reads = reads.NewGates(1, 0)
	s := serve(t.Context(), f)
	p, other := newPerson(t.Context(), t, s), newPerson(t.Context(), t, s)
	p.Create(t, p.Spends("1"))
	summary := func(ctx context.Context) error {
		_, err := s.GetSummary(ctx, &ledgerv1.GetSummaryRequest{})
		return err
	}
	search := func() error {
		_, err := s.ListTransactions(p.Ctx, &listRequest{Q: new("nothing")})
		return err
	}
	leave, err := f.Reads.Enter(t.Context(), p.ID)
	require.NoError(t, err)
	for _, read := range []func() error{search, func() error { return summary(p.Ctx) }} {
		e := fixture.RequireReason(t, read(), codes.ResourceExhausted, "RATE_LIMITED")
		require.Positive(t, e.RetryAfter)
	}
	require.NoError(t, summary(other.Ctx), "another user")
	_, err = s.ListTransactions(p.Ctx, &listRequest{})
	require.NoError(t, err, "a page that the rows nearby fill")
	leave()
	require.NoError(t, summary(p.Ctx))
	require.NoError(t, search())
}
