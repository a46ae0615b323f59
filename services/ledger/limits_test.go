package ledger

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/proto"

	"github.com/coffer-budget/coffer/internal/apierr"
	"github.com/coffer-budget/coffer/internal/money"
	"github.com/coffer-budget/coffer/internal/rpc"
	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
)

// simultaneous runs do n times at once and returns the number of successes. All errors must have the reason.
func simultaneous(t *testing.T, n int, reason string, do func(i int) error) (succeeded int) {
	t.Helper()
	errs := make([]error, n)
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() { errs[i] = do(i) })
	}
	wg.Wait()
	for _, err := range errs {
		if err == nil {
			succeeded++
			continue
		}
		requireReason(t, err, codes.AlreadyExists, reason)
	}
	return succeeded
}

func TestCreateWalletLimit(t *testing.T) {
	t.Parallel()
	s := setup(t)
	ctx := actAs(t.Context(), s.newID())
	s.makeWallets(ctx, t, maxWallets-2, "EUR")
	create := func(i int) error {
		_, err := s.CreateWallet(ctx, &ledgerv1.CreateWalletRequest{Name: fmt.Sprint("Another ", i), Currency: "EUR"})
		return err
	}
	require.Equal(t, 2, simultaneous(t, 6, "WALLET_LIMIT_REACHED", create))
	s.refuses(t, codes.AlreadyExists, "WALLET_LIMIT_REACHED", func() error { return create(0) })
	s.makeWallet(actAs(t.Context(), s.newID()), t, "of another user", "EUR")
}

func TestCreateCategoryLimit(t *testing.T) {
	t.Parallel()
	s := setup(t)
	ctx := actAs(t.Context(), s.newID())
	s.makeCategories(ctx, t, maxCategories-2)
	create := func(i int) error {
		_, err := s.CreateCategory(ctx, &ledgerv1.CreateCategoryRequest{Name: fmt.Sprint("Another ", i)})
		return err
	}
	require.Equal(t, 2, simultaneous(t, 6, "CATEGORY_LIMIT_REACHED", create))
	s.refuses(t, codes.AlreadyExists, "CATEGORY_LIMIT_REACHED", func() error { return create(9) })
	s.makeCategory(actAs(t.Context(), s.newID()), t, "of another user")
}

func TestWalletCurrencyLimit(t *testing.T) {
	t.Parallel()
	s := setup(t)
	s.bulks = rpc.NewGate(8, 0, apierr.Unavailable)
	p := newPerson(t.Context(), t, s)
	codesOf := slices.DeleteFunc(currencyCodes(t), func(code string) bool { return code == "EUR" })
	const limit = 50
	for _, code := range codesOf[:limit-3] {
		req := p.spends("1")
		req.Currency = code
		p.create(t, req)
	}
	p.requireConsistent(t)
	// Batches do not share the statements of single creates, as the requests to another replica do not.
	attempt := func(i int) error {
		req := p.spends("1")
		req.Currency = codesOf[limit-3+i]
		if i%2 == 0 {
			_, err := p.CreateTransaction(p.ctx, req)
			return err
		}
		_, err := p.CreateTransactions(p.ctx, &ledgerv1.CreateTransactionsRequest{Transactions: []*ledgerv1.CreateTransactionRequest{req}})
		return err
	}
	require.Equal(t, 2, simultaneous(t, 6, "WALLET_CURRENCY_LIMIT_REACHED", attempt))
	require.Len(t, p.balances(t, p.wallet), limit)
	req := p.spends("1")
	req.Currency = codesOf[limit+5]
	p.refuses(t, codes.AlreadyExists, "WALLET_CURRENCY_LIMIT_REACHED", func() error {
		_, err := p.CreateTransaction(p.ctx, req)
		return err
	})
	known := p.create(t, p.spends("1"))
	p.refuses(t, codes.AlreadyExists, "WALLET_CURRENCY_LIMIT_REACHED", func() error {
		_, err := p.UpdateTransaction(p.ctx, &ledgerv1.UpdateTransactionRequest{Id: known.GetId(), Currency: &req.Currency, Amount: new("1")})
		return err
	})
	p.requireConsistent(t)
}

// TestGetSummarySize fills a user up to all limits, with the longest names and descriptions, and beyond the limit of currencies.
func TestGetSummarySize(t *testing.T) {
	t.Parallel()
	s := setup(t)
	id := s.newID()
	ctx := actAs(t.Context(), id)
	s.makeWallets(ctx, t, maxWallets, "EUR")
	s.makeCategories(ctx, t, maxCategories)
	_, err := s.db.Exec(ctx, `
		INSERT INTO wallet_balances (owner_id, wallet_id, currency, amount_minor)
		SELECT $1, w.id, c, 99999999999999
		FROM (SELECT id, row_number() OVER () AS n FROM wallets WHERE owner_id = $1) AS w,
			unnest($2::text[]) WITH ORDINALITY AS c (c, m)
		WHERE (n + m) % 165 < 49 AND c <> 'EUR'`, id, currencyCodes(t))
	require.NoError(t, err)
	_, err = s.db.Exec(ctx, `
		INSERT INTO monthly_totals (owner_id, month, wallet_id, category_id, currency, income_minor, expense_minor, transaction_count)
		SELECT $1, '2026-03-01', (SELECT id FROM wallets WHERE owner_id = $1 LIMIT 1), id, c, 99999999999999, 99999999999999, 1
		FROM categories, unnest($2::text[]) c
		WHERE owner_id = $1`, id, currencyCodes(t))
	require.NoError(t, err)
	_, err = s.db.Exec(ctx, `
		INSERT INTO transactions (id, owner_id, wallet_id, category_id, currency, amount_minor, amount_e4, description, date,
			created_at, updated_at)
		SELECT gen_random_uuid(), $1, (SELECT id FROM wallets WHERE owner_id = $1 LIMIT 1),
			(SELECT id FROM categories WHERE owner_id = $1 LIMIT 1), c, -99999999999999, -99999999999999, repeat('😀', 1000), $3, $3, $3
		FROM unnest($2::text[]) AS c, generate_series(1, 6)`, id, currencyCodes(t), today)
	require.NoError(t, err)
	resp, err := s.GetSummary(ctx, &ledgerv1.GetSummaryRequest{})
	require.NoError(t, err)
	summary := resp.GetSummary()
	require.Len(t, summary.GetLargestExpenses(), len(currencyCodes(t)))
	own := 0
	for _, w := range summary.GetByWallet() {
		if w.GetCurrency() == "EUR" {
			own++
		}
	}
	require.Equal(t, maxWallets, own)
	require.Len(t, summary.GetByWallet(), maxSummaryRows)
	require.Len(t, summary.GetByCategory(), maxSummaryRows/len(currencyCodes(t))*len(currencyCodes(t)))
	require.Less(t, proto.Size(resp), 4<<20)
}

func (s *server) makeWallets(ctx context.Context, t *testing.T, n int, currency string) {
	t.Helper()
	first := s.makeWallet(ctx, t, "First", currency)
	_, err := s.db.Exec(ctx, `
		WITH made AS (
			INSERT INTO wallets (owner_id, id, name, currency, initial_minor, created_at, updated_at)
			SELECT owner_id, gen_random_uuid(), repeat('😀', 96) || i, currency, 0, created_at, updated_at
			FROM wallets, generate_series(2, $2) AS i
			WHERE id = $1
			RETURNING owner_id, id, currency
		)
		INSERT INTO wallet_balances (owner_id, wallet_id, currency, amount_minor)
		SELECT owner_id, id, currency, 0 FROM made`, first, n)
	require.NoError(t, err)
}

func (s *server) makeCategories(ctx context.Context, t *testing.T, n int) {
	t.Helper()
	first := s.makeCategory(ctx, t, "First")
	_, err := s.db.Exec(ctx, `
		INSERT INTO categories (owner_id, id, name, created_at, updated_at)
		SELECT owner_id, gen_random_uuid(), repeat('😀', 96) || i, created_at, updated_at
		FROM categories, generate_series(2, $2) AS i
		WHERE id = $1`, first, n)
	require.NoError(t, err)
}

// currencyCodes are all active codes.
func currencyCodes(t *testing.T) (all []string) {
	t.Helper()
	for n := range 26 * 26 * 26 {
		code := string([]byte{byte('A' + n/676), byte('A' + n/26%26), byte('A' + n%26)})
		if _, ok := money.ParseCurrency(code); ok {
			all = append(all, code)
		}
	}
	require.Greater(t, len(all), 100)
	return all
}

func TestExpensiveReadLimit(t *testing.T) {
	t.Parallel()
	s := setup(t)
	s.reads = newReadGates(1, 1)
	p, other := newPerson(t.Context(), t, s), newPerson(t.Context(), t, s)
	p.create(t, p.spends("1"))
	summary := func(ctx context.Context) error {
		_, err := s.GetSummary(ctx, &ledgerv1.GetSummaryRequest{})
		return err
	}
	search := func() error {
		_, err := s.ListTransactions(p.ctx, &ledgerv1.ListTransactionsRequest{Q: new("nothing")})
		return err
	}
	leave, err := s.reads.enter(t.Context(), p.id)
	require.NoError(t, err)
	waiting := make(chan error, 1)
	go func() { waiting <- summary(p.ctx) }()
	require.Eventually(t, func() bool { return s.reads.waitingOf(p.id) == 1 }, 10*time.Second, time.Millisecond)
	for _, read := range []func() error{search, func() error { return summary(p.ctx) }} {
		e := requireReason(t, read(), codes.ResourceExhausted, "RATE_LIMITED")
		require.Positive(t, e.RetryAfter)
	}
	require.NoError(t, summary(other.ctx), "another user")
	_, err = s.ListTransactions(p.ctx, &ledgerv1.ListTransactionsRequest{})
	require.NoError(t, err, "a page that the rows nearby fill")
	leave()
	require.NoError(t, <-waiting)
	require.NoError(t, search())
	require.Empty(t, s.reads.byUser)
}

func (g *readGates) waitingOf(user uuid.UUID) int {
	g.mu.Lock()
	defer g.mu.Unlock()
	if gate, ok := g.byUser[user]; ok {
		return gate.Waiting()
	}
	return 0
}

func TestHasTrigram(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		"": false, "DM": false, "日本": false, "a b c": false, "a-b": false, "%_%": false, "dm markt": true, "日本語": false, "été": false, "Zürich": true, "123": true,
	} {
		require.Equal(t, want, hasTrigram(text), text)
	}
}
