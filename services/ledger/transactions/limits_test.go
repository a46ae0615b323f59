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
	me := newPerson(t.Context(), t, s)
	codesOf := slices.DeleteFunc(fixture.CurrencyCodes(t), func(code string) bool {
		return code == "EUR"
	})
	const limit = 50
	for _, code := range codesOf[:limit-3] {
		req := me.Spends("1")
		req.Currency = code
		me.Create(t, req)
	}
	me.RequireConsistent(t)
	// Batches do not share the statements of single creates, as the requests to another replica do
	// not.
	attempt := func(i int) error {
		req := me.Spends("1")
		req.Currency = codesOf[limit-3+i]
		if i%2 == 0 {
			_, err := me.CreateTransaction(me.Ctx, req)
			return err
		}
		_, err := me.CreateTransactions(me.Ctx,
			&ledgerv1.CreateTransactionsRequest{Transactions: []*createRequest{req}})
		return err
	}
	require.Equal(t, 2, fixture.Simultaneous(t, 6, "WALLET_CURRENCY_LIMIT_REACHED", attempt))
	require.Len(t, me.Balances(t, me.Wallet), limit)
	req := me.Spends("1")
	req.Currency = codesOf[limit+5]
	me.RequireRejected(t, codes.AlreadyExists, "WALLET_CURRENCY_LIMIT_REACHED", func() error {
		_, err := me.CreateTransaction(me.Ctx, req)
		return err
	})
	known := me.Create(t, me.Spends("1"))
	me.RequireRejected(t, codes.AlreadyExists, "WALLET_CURRENCY_LIMIT_REACHED", func() error {
		_, err := me.UpdateTransaction(me.Ctx,
			&updateRequest{Id: known.GetId(), Currency: &req.Currency, Amount: new("1")})
		return err
	})
	me.RequireConsistent(t)
}

func TestExpensiveReadLimit(t *testing.T) {
	t.Parallel()
	base := fixture.New(t)
	base.Reads = reads.NewGates(1, 0)
	srv := serve(t.Context(), base)
	me, other := newPerson(t.Context(), t, srv), newPerson(t.Context(), t, srv)
	me.Create(t, me.Spends("1"))
	summary := func(ctx context.Context) error {
		_, err := srv.GetSummary(ctx, &ledgerv1.GetSummaryRequest{})
		return err
	}
	search := func() error {
		_, err := srv.ListTransactions(me.Ctx, &listRequest{Q: new("nothing")})
		return err
	}
	leave, err := base.Reads.Enter(t.Context(), me.ID)
	require.NoError(t, err)
	for _, read := range []func() error{search, func() error { return summary(me.Ctx) }} {
		e := fixture.RequireReason(t, read(), codes.ResourceExhausted, "RATE_LIMITED")
		require.Positive(t, e.RetryAfter)
	}
	require.NoError(t, summary(other.Ctx), "another user")
	_, err = srv.ListTransactions(me.Ctx, &listRequest{})
	require.NoError(t, err, "a page that the rows nearby fill")
	leave()
	require.NoError(t, summary(me.Ctx))
	require.NoError(t, search())
}
