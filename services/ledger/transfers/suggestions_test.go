package transfers_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"

	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
	"github.com/coffer-budget/coffer/services/ledger/fixture"
)

// suggested returns the pairs of ids that the service suggests.
func (p person) suggested(t *testing.T, req *suggestRequest) [][2]string {
	t.Helper()
	resp, err := p.SuggestTransfers(p.Ctx, req)
	require.NoError(t, err)
	pairs := [][2]string{}
	for _, s := range resp.GetSuggestions() {
		pairs = append(pairs,
			[2]string{s.GetOutTransaction().GetId(), s.GetInTransaction().GetId()})
	}
	return pairs
}

// on returns a request with another date.
func on(req *ledgerv1.CreateTransactionRequest, date string) *ledgerv1.CreateTransactionRequest {
	req.Date = date
	return req
}

func TestSuggestTransfers(t *testing.T) {
	t.Parallel()
	srv := setup(t)
	t.Run("pairs the nearest dates", func(t *testing.T) {
		t.Parallel()
		me := newPerson(t.Context(), t, srv)
		first := me.Create(t, on(me.Spends("10"), "2026-03-01")).GetId()
		second := me.Create(t, on(me.Spends("10"), "2026-03-03")).GetId()
		near := me.Create(t, on(me.receives("10"), "2026-03-03T23:00:00Z")).GetId()
		far := me.Create(t, on(me.receives("10"), "2026-03-05")).GetId()
		require.Equal(t, [][2]string{{second, near}, {first, far}},
			me.suggested(t, &suggestRequest{}))
		require.Equal(t, [][2]string{{second, near}},
			me.suggested(t, &suggestRequest{Limit: new(int32(1))}))
		require.Equal(t, [][2]string{{second, near}},
			me.suggested(t, &suggestRequest{From: new("2026-03-02"), To: new("2026-03-31")}))
		_, err := me.match(second, near)
		require.NoError(t, err)
		require.Equal(t, [][2]string{{first, far}}, me.suggested(t, &suggestRequest{}))
	})
	t.Run("prefers the smaller id", func(t *testing.T) {
		t.Parallel()
		p := newPerson(t.Context(), t, srv)
		older := p.Create(t, p.Spends("10")).GetId()
		p.Create(t, p.Spends("10"))
		in := p.Create(t, p.receives("10")).GetId()
		require.Equal(t, [][2]string{{older, in}}, p.suggested(t, &suggestRequest{}))
	})
	t.Run("ignores others", func(t *testing.T) {
		t.Parallel()
		me, stranger := newPerson(t.Context(), t, srv), newPerson(t.Context(), t, srv)
		me.Create(t, on(me.Spends("10"), "2026-03-01"))
		me.Create(t, on(me.receives("10"), "2026-03-06"))
		me.Create(t, me.Spends("20"))
		me.Create(t, me.receives("20.01"))
		here := me.receives("10")
		here.WalletId = me.Wallet.String()
		me.Create(t, on(here, "2026-03-01"))
		dollars := me.receives("10")
		dollars.Currency = "USD"
		me.Create(t, on(dollars, "2026-03-01"))
		stranger.Create(t, on(stranger.receives("10"), "2026-03-01"))
		me.transfer(t, me.moves("10"))
		require.Empty(t, me.suggested(t, &suggestRequest{}))
	})
	t.Run("rejects bad windows", func(t *testing.T) {
		t.Parallel()
		me := newPerson(t.Context(), t, srv)
		for _, c := range []struct {
			req    *suggestRequest
			reason string
		}{
			{&suggestRequest{From: new("x")}, "INVALID_TRANSACTION_DATE"},
			{&suggestRequest{From: new("2026-03-02"), To: new("2026-03-01")}, "VALIDATION_ERROR"},
			{&suggestRequest{From: new("2025-01-01"), To: new("2026-02-05")}, "VALIDATION_ERROR"},
			{&suggestRequest{Limit: new(int32(0))}, "VALIDATION_ERROR"},
		} {
			_, err := me.SuggestTransfers(me.Ctx, c.req)
			fixture.RequireReason(t, err, codes.InvalidArgument, c.reason)
		}
		_, err := me.SuggestTransfers(me.Ctx,
			&suggestRequest{From: new("2025-01-01"), To: new("2026-02-04")})
		require.NoError(t, err)
	})
}

// TestSuggestTransfersOfEqualAmounts creates thousands of transactions that would all form pairs
// with each other.
func TestSuggestTransfersOfEqualAmounts(t *testing.T) {
	t.Parallel()
	me := newPerson(t.Context(), t, setup(t))
	for day := range 10 {
		var items []*ledgerv1.CreateTransactionRequest
		for range 100 {
			date := fmt.Sprintf("2026-03-%02d", day+1)
			items = append(items, on(me.Spends("5"), date), on(me.receives("5"), date))
		}
		_, err := me.CreateTransactions(me.Ctx, fixture.Bulk(items...))
		require.NoError(t, err)
	}
	start := time.Now()
	require.Len(t, me.suggested(t, &suggestRequest{Limit: new(int32(200))}), 100)
	t.Logf("took %s", time.Since(start))
}
