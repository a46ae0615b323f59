package posting_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
	"github.com/coffer-budget/coffer/services/ledger/fixture"
	"github.com/coffer-budget/coffer/services/ledger/posting"
)

// TestBalancesAndTotalsEqualRecomputation does random writes, most of them sound, and recomputes.
func TestBalancesAndTotalsEqualRecomputation(t *testing.T) {
	t.Parallel()
	service := setup(t)
	rapid.Check(t, func(r *rapid.T) {
		p := newPerson(context.Background(), r, service)
		life := life{
			person: p, wallets: []uuid.UUID{p.Wallet, p.MakeWallet(p.Ctx, r, "Yen", "JPY")},
			categories: []uuid.UUID{p.Category, p.MakeCategory(p.Ctx, r, "Fun")},
		}
		for range rapid.IntRange(1, 12).Draw(r, "writes") {
			before := service.Stored(r)
			if err := life.write(r); err != nil {
				require.Equal(r, before, service.Stored(r), "refused with %v", err)
			}
			service.RequireConsistent(r)
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
	amount := fmt.Sprintf("%d.%d", rapid.IntRange(0, 50).Draw(r, "whole"),
		rapid.SampledFrom([]int{0, 5}).Draw(r, "part"))
	currency := rapid.SampledFrom([]string{"EUR", "JPY", "BHD"}).Draw(r, "currency")
	wallet := rapid.SampledFrom(l.wallets).Draw(r, "wallet").String()
	category := rapid.SampledFrom(l.categories).Draw(r, "category").String()
	kind := rapid.SampledFrom([]string{posting.Expense, posting.Income}).Draw(r, "type")
	date := fixture.AnyTime(r).Format("2006-01-02T15:04:05.000Z")
	what := rapid.IntRange(0, 9).Draw(r, "what")
	if what < 4 || len(l.transactions) == 0 {
		some := rapid.SampledFrom([][]string{nil, nil, {"Trip"}, {"work", "TRIP"}})
		tags := some.Draw(r, "tags")
		req := &ledgerv1.CreateTransactionRequest{
			Amount: amount, Currency: currency, WalletId: wallet, CategoryId: category, Type: &kind,
			Date: date, Tags: tags,
		}
		if rapid.Bool().Draw(r, "split") {
			req.Amount, req.CategoryId, req.Splits = "10", "", l.parts(r)
		}
		resp, err := l.CreateTransaction(l.Ctx, req)
		if err == nil {
			l.transactions = append(l.transactions, resp.GetTransaction().GetId())
		}
		return err
	}
	id := rapid.SampledFrom(l.transactions).Draw(r, "transaction")
	switch what {
	case 4:
		_, err := l.DeleteTransaction(l.Ctx, &ledgerv1.DeleteTransactionRequest{Id: id})
		return err
	case 5:
		_, err := l.DeleteCategory(l.Ctx, &ledgerv1.DeleteCategoryRequest{
			Id: l.categories[1].String(), ReassignTo: new(l.categories[0].String()),
		})
		return err
	}
	req := &updateRequest{Id: id}
	for field, set := range map[string]func(){
		"amount": func() { req.Amount = &amount }, "currency": func() { req.Currency = &currency },
		"wallet":   func() { req.WalletId = &wallet },
		"category": func() { req.CategoryId = &category },
		"type":     func() { req.Type = &kind }, "date": func() { req.Date = &date },
	} {
		if rapid.Bool().Draw(r, field+" set") {
			set()
		}
	}
	if rapid.IntRange(0, 2).Draw(r, "splits set") == 0 {
		req.Amount = new("10")
		req.CategoryId, req.Splits = nil, &ledgerv1.Splits{Values: l.parts(r)}
	}
	_, err := l.UpdateTransaction(l.Ctx, req)
	return err
}

// parts returns parts that add up to 10, in most cases.
func (l *life) parts(r *rapid.T) []*ledgerv1.Split {
	category := func() string {
		return rapid.SampledFrom(l.categories).Draw(r, "part's category").String()
	}
	return []*ledgerv1.Split{
		{CategoryId: category(), Amount: "12"},
		{
			CategoryId: category(),
			Amount:     rapid.SampledFrom([]string{"-3", "-3", "-4"}).Draw(r, "refund"),
		},
		{CategoryId: category(), Amount: "1"},
	}
}
