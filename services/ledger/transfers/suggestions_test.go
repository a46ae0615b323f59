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
	s := setup(t)
	t.Run("pairs the nearest dates", func(t *testing.T) {
		t.Parallel()
		p := newPerson(t.Context(), t, s)
		first := p.Create(t, on(p.Spends("10"), "2026-03-01")).GetId()
		second := p.Create(t, on(p.Spends("10"), "2026-03-03")).GetId()
		near := p.Create(t, on(p.receives("10"), "2026-03-03T23:00:00Z")).GetId()
		far := p.Create(t, on(p.receives("10"), "2026-03-05")).GetId()
		require.Equal(t, [][2]string{{second, near}, {first, far}},
			p.suggested(t, &suggestRequest{}))
		require.Equal(t, [][2]string{{second, near}},
			p.suggested(t, &suggestRequest{Limit: new(int32(1))}))
		require.Equal(t, [][2]string{{second, near}},
			p.suggested(t, &suggestRequest{From: new("2026-03-02"), To: new("2026-03-31")}))
		_, err := p.match(second, near)
		require.NoError(t, err)
		require.Equal(t, [][2]string{{first, far}}, p.suggested(t, &suggestRequest{}))
	})
	t.Run("prefers the smaller id", func(t *testing.T) {
		t.Parallel()
		p := newPerson(t.Context(), t, s)
		older := p.Create(t, p.Spends("10")).GetId()
		p.Create(t, p.Spends("10"))
		in := p.Create(t, p.receives("10")).GetId()
		require.Equal(t, [][2]string{{older, in}}, p.suggested(t, &suggestRequest{}))
	})
	t.Run("ignores others", func(t *testing.T) {
		t.Parallel()
		p, stranger := newPerson(t.Context(), t, s), newPerson(t.Context(), t, s)
		p.Create(t, on(p.Spends("10"), "2026-03-01"))
		p.Create(t, on(p.receives("10"), "2026-03-06"))
		p.Create(t, p.Spends("20"))
		p.Create(t, p.receives("20.01"))
		here := p.receives("10")
		here.WalletId = p.Wallet.String()
		p.Create(t, on(here, "2026-03-01"))
		dollars := p.receives("10")
		dollars.Currency = "USD"
		p.Create(t, on(dollars, "2026-03-01"))
		stranger.Create(t, on(stranger.receives("10"), "2026-03-01"))
		p.transfer(t, p.moves("10"))
		require.Empty(t, p.suggested(t, &suggestRequest{}))
	})
	t.Run("rejects bad windows", func(t *testing.T) {
		t.Parallel()
		p := newPerson(t.Context(), t, s)
		for _, c := range []struct {
			req    *suggestRequest
			reason string
		}{
			{&suggestRequest{From: new("x")}, "INVALID_TRANSACTION_DATE"},
			{&suggestRequest{From: new("2026-03-02"), To: new("2026-03-01")}, "VALIDATION_ERROR"},
			{&suggestRequest{From: new("2025-01-01"), To: new("2026-02-05")}, "VALIDATION_ERROR"},
			{&suggestRequest{Limit: new(int32(0))}, "VALIDATION_ERROR"},
		} {
			_, err := p.SuggestTransfers(p.Ctx, c.req)
			fixture.RequireReason(t, err, codes.InvalidArgument, c.reason)
		}
		_, err := p.SuggestTransfers(p.Ctx,
			&suggestRequest{From: new("2025-01-01"), To: new("2026-02-04")})
		require.NoError(t, err)
	})
}

// TestSuggestTransfersOfEqualAmounts creates thousands of transactions that would all form pairs
// with each other.
func TestSuggestTransfersOfEqualAmounts(t *testing.T) {
	t.Parallel()
	p := newPerson(t.Context(), t, setup(t))
	for day := range 10 {
		var items []*ledgerv1.CreateTransactionRequest
		for range 100 {
			date := fmt.Sprintf("2026-03-%02d", day+1)
			items = append(items, on(p.Spends("5"), date), on(p.receives("5"), date))
		}
		_, err := p.CreateTransactions(p.Ctx, fixture.Bulk(items...))
		require.NoError(t, err)
	}
	start := time.Now()
	require.Len(t, p.suggested(t, &suggestRequest{Limit: new(int32(200))}), 100)
	t.Logf("took %s", time.Since(start))
}
