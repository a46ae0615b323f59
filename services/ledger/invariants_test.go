package ledger

import (
	"context"
	"fmt"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/coffer-budget/coffer/internal/pg"
	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
)

// requireConsistent requires that balances and totals equal a recomputation.
func (s *server) requireConsistent(t require.TestingT) { require.Empty(t, s.differences(t)) }

// differences compares the stored balances and totals of each owner with a recomputation from the transactions.
func (s *server) differences(t require.TestingT) map[uuid.UUID][]string {
	type row struct {
		Owner      uuid.UUID
		Difference string
	}
	rows, err := pg.All[row](context.Background(), s.db, `
		WITH computed AS (
			SELECT owner_id, wallet_id, currency, sum(amount)::bigint AS amount_minor
			FROM (
				SELECT owner_id, id AS wallet_id, currency, initial_minor AS amount FROM wallets
				UNION ALL
				SELECT owner_id, wallet_id, currency, amount_minor FROM transactions
			) AS m
			GROUP BY owner_id, wallet_id, currency
		)
		SELECT owner_id AS owner, format('balance of %s in %s: kept %s, computed %s', wallet_id, currency, b.amount_minor, c.amount_minor) AS difference
		FROM wallet_balances b
		FULL JOIN computed c USING (owner_id, wallet_id, currency)
		WHERE coalesce(b.amount_minor, 0) <> coalesce(c.amount_minor, 0)
		UNION ALL
		SELECT owner_id, format('totals of %s in %s: kept %s, computed %s', category_id, month, m, c)
		FROM monthly_totals m
		FULL JOIN (
			SELECT owner_id, date_trunc('month', date AT TIME ZONE 'UTC')::date AS month, wallet_id, category_id, currency,
				sum(greatest(amount_minor, 0))::bigint AS income_minor, sum(greatest(-amount_minor, 0))::bigint AS expense_minor,
				count(*) AS transaction_count
			FROM transactions
			GROUP BY 1, 2, 3, 4, 5
		) AS c USING (owner_id, month, wallet_id, category_id, currency)
		WHERE (coalesce(m.income_minor, 0), coalesce(m.expense_minor, 0), coalesce(m.transaction_count, 0))
			<> (coalesce(c.income_minor, 0), coalesce(c.expense_minor, 0), coalesce(c.transaction_count, 0))
		UNION ALL
		SELECT owner_id, format('totals of %s in wallet %s, of which one does not exist', category_id, wallet_id)
		FROM monthly_totals m
		WHERE NOT (
			EXISTS (SELECT FROM wallets w WHERE w.owner_id = m.owner_id AND w.id = m.wallet_id)
			AND EXISTS (SELECT FROM categories c WHERE c.owner_id = m.owner_id AND c.id = m.category_id))`)
	require.NoError(t, err)
	differences := map[uuid.UUID][]string{}
	for _, r := range rows {
		differences[r.Owner] = append(differences[r.Owner], r.Difference)
	}
	return differences
}

// TestBalancesAndTotalsEqualRecomputation does random writes, most of them sound, and recomputes.
func TestBalancesAndTotalsEqualRecomputation(t *testing.T) {
	t.Parallel()
	s := setup(t)
	rapid.Check(t, func(r *rapid.T) {
		p := newPerson(context.Background(), r, s)
		l := life{person: p, wallets: []uuid.UUID{p.wallet, p.makeWallet(p.ctx, r, "Yen", "JPY")}, categories: []uuid.UUID{p.category, p.makeCategory(p.ctx, r, "Fun")}}
		for range rapid.IntRange(1, 12).Draw(r, "writes") {
			before := s.stored(r)
			if err := l.write(r); err != nil {
				require.Equal(r, before, s.stored(r), "refused with %v", err)
			}
			s.requireConsistent(r)
		}
	})
}

// life is what a random person has made so far.
type life struct {
	person
	wallets, categories []uuid.UUID
	transactions        []string
}

func (l *life) write(r *rapid.T) error {
	amount := fmt.Sprintf("%d.%d", rapid.IntRange(0, 50).Draw(r, "whole"), rapid.SampledFrom([]int{0, 5}).Draw(r, "part"))
	currency := rapid.SampledFrom([]string{"EUR", "JPY", "BHD"}).Draw(r, "currency")
	wallet := rapid.SampledFrom(l.wallets).Draw(r, "wallet").String()
	category := rapid.SampledFrom(l.categories).Draw(r, "category").String()
	kind := rapid.SampledFrom([]string{expense, income}).Draw(r, "type")
	date := anyTime(r).Format(timestamp)
	what := rapid.IntRange(0, 9).Draw(r, "what")
	if what < 4 || len(l.transactions) == 0 {
		resp, err := l.CreateTransaction(l.ctx, &ledgerv1.CreateTransactionRequest{
			Amount: amount, Currency: currency, WalletId: wallet, CategoryId: category, Type: &kind, Date: date,
		})
		if err == nil {
			l.transactions = append(l.transactions, resp.GetTransaction().GetId())
		}
		return err
	}
	id := rapid.SampledFrom(l.transactions).Draw(r, "transaction")
	switch what {
	case 4:
		_, err := l.DeleteTransaction(l.ctx, &ledgerv1.DeleteTransactionRequest{Id: id})
		return err
	case 5:
		_, err := l.DeleteCategory(l.ctx, &ledgerv1.DeleteCategoryRequest{Id: l.categories[1].String(), ReassignTo: new(l.categories[0].String())})
		return err
	}
	req := &ledgerv1.UpdateTransactionRequest{Id: id}
	for field, set := range map[string]func(){
		"amount": func() { req.Amount = &amount }, "currency": func() { req.Currency = &currency },
		"wallet": func() { req.WalletId = &wallet }, "category": func() { req.CategoryId = &category },
		"type": func() { req.Type = &kind }, "date": func() { req.Date = &date },
	} {
		if rapid.Bool().Draw(r, field+" set") {
			set()
		}
	}
	_, err := l.UpdateTransaction(l.ctx, req)
	return err
}
