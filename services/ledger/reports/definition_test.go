package reports

import (
	"context"
	"maps"
	"slices"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/coffer-budget/coffer/internal/calendar"
	"github.com/coffer-budget/coffer/internal/money"
	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
	"github.com/coffer-budget/coffer/services/ledger/posting"
)

// TestTotalsAgree compares all answers that contain sums with a model and with each other (ADR
// 103), in random windows of random histories with refunds within split transactions: days,
// categories, wallets, months, tags, lists and the spending of budgets.
func TestTotalsAgree(t *testing.T) {
	t.Parallel()
	s := setup(t)
	rapid.Check(t, func(r *rapid.T) {
		answers := newAnswers(r, s)
		for _, code := range []string{"BHD", "EUR", "JPY"} {
			answers.currency = money.CurrencyOf(code)
			answers.requireAgreement()
		}
	})
}

// sums are totals in one currency, in minor units.
type sums struct{ income, expense, count int64 }

func (s sums) plus(o sums) sums {
	return sums{s.income + o.income, s.expense + o.expense, s.count + o.count}
}

func (s sums) minus(o sums) sums {
	return sums{s.income - o.income, s.expense - o.expense, s.count - o.count}
}

// moved returns s without the count, which not all rows have.
func (s sums) moved() sums { return sums{s.income, s.expense, 0} }

// answers asks for the sums of one user in one window and currency.
type answers struct {
	*server
	history
	r        *rapid.T
	ctx      context.Context //nolint:containedctx // A test has one user per request.
	owner    uuid.UUID
	from, to string
	window   calendar.Period
	currency money.Currency
}

// tag tags every third transaction of the history.
func (a answers) tag() {
	for i := 0; i < len(a.transactions); i += 3 {
		a.transactions[i].Tags = []string{"trip"}
		_, err := a.UpdateTransaction(a.ctx, &ledgerv1.UpdateTransactionRequest{
			Id: a.transactions[i].ID.String(), Tags: &ledgerv1.Tags{Values: []string{"Trip"}},
		})
		require.NoError(a.r, err)
	}
}

// model computes sums from all transactions.
func (a answers) model(which func(posting.Transaction) bool) sums {
	income, expense, count := a.moved(a.window, a.currency.Code(), which)
	return sums{income, expense, int64(count)}
}

// read returns the sums of a row of an answer.
func (a answers) read(row interface {
	GetIncome() string
	GetExpense() string
}, count int32,
) sums {
	income, err := a.currency.Parse(row.GetIncome())
	require.NoError(a.r, err)
	expense, err := a.currency.Parse(row.GetExpense())
	require.NoError(a.r, err)
	return sums{income, expense, int64(count)}
}

// list returns the totals of the expenses and incomes of a list. The totals of the four types add
// up to those of the list of all types.
func (a answers) list(set func(*ledgerv1.ListTransactionsRequest)) sums {
	of, code := map[string]sums{}, a.currency.Code()
	for _, kind := range []string{
		posting.Expense, posting.Income, posting.Transfer, posting.Adjustment, "",
	} {
		req := &ledgerv1.ListTransactionsRequest{
			Include: []string{"totals"}, Currency: &code,
			From: &a.from, To: &a.to, Limit: new(int32(1)),
		}
		if kind != "" {
			req.Type = &kind
		}
		set(req)
		resp, err := a.ListTransactions(a.ctx, req)
		require.NoError(a.r, err)
		require.False(a.r, resp.GetCapped())
		for _, row := range resp.GetTotals() {
			of[kind] = a.read(row, row.GetCount())
		}
	}
	expenses, incomes, legs := of[posting.Expense], of[posting.Income], of[posting.Transfer]
	require.Equal(a.r, sums{0, expenses.expense, expenses.count}, expenses)
	require.Equal(a.r, sums{incomes.income, 0, incomes.count}, incomes)
	adjustments := of[posting.Adjustment]
	require.Equal(a.r, sums{0, 0, legs.count}, legs)
	require.Equal(a.r, sums{0, 0, adjustments.count}, adjustments)
	require.Equal(a.r, expenses.plus(incomes).plus(legs).plus(adjustments), of[""])
	return expenses.plus(incomes)
}

// requireAgreement compares the sums of one currency.
func (a answers) requireAgreement() {
	resp, err := a.GetSummary(a.ctx, &summaryRequest{
		From: &a.from, To: &a.to, Currency: new(a.currency.Code()),
		Include: []string{"daily", "tags"},
	})
	require.NoError(a.r, err)
	summary := resp.GetSummary()
	totals := a.read(summary.GetTotals()[0], summary.GetTotals()[0].GetTransactionCount())
	require.Equal(a.r, a.model(func(posting.Transaction) bool { return true }), totals)
	require.Equal(a.r, totals, a.list(func(*ledgerv1.ListTransactionsRequest) {}), "list")
	a.requireDays(summary, totals)
	a.requireWallets(summary, totals)
	a.requireCategories(summary, totals)
	a.requireTag(summary)
	a.requireSpending()
}

// requireDays compares the totals with the sums of days and of whole months.
func (a answers) requireDays(summary *ledgerv1.Summary, totals sums) {
	var days, months sums
	for _, row := range summary.GetDaily().GetValues() {
		days = days.plus(a.read(row, 0))
	}
	require.Equal(a.r, totals.moved(), days, "days")
	whole := calendar.MonthOf(a.window.From).Equal(a.window.From) &&
		calendar.MonthOf(a.window.End).Equal(a.window.End)
	if !whole || a.window.From.Before(trend(a.window).From) {
		return
	}
	for _, row := range summary.GetTrend() {
		if row.GetMonth() >= a.from[:len(calendar.MonthLayout)] {
			months = months.plus(a.read(row, 0))
		}
	}
	require.Equal(a.r, totals.moved(), months, "months")
}

// requireWallets compares the totals with the sums of wallets, and these with lists.
func (a answers) requireWallets(summary *ledgerv1.Summary, totals sums) {
	var wallets sums
	for _, row := range summary.GetByWallet() {
		wallet := a.read(row, 0)
		wallets = wallets.plus(wallet)
		listed := a.list(func(req *ledgerv1.ListTransactionsRequest) {
			req.WalletId = []string{row.GetWalletId()}
		})
		require.Equal(a.r, wallet, listed.moved(), "wallet")
	}
	require.Equal(a.r, totals.moved(), wallets, "wallets")
}

// requireCategories compares the totals with the sums of categories, and these with lists and the
// model. The shares add up to 100.
func (a answers) requireCategories(summary *ledgerv1.Summary, totals sums) {
	var categories sums
	share, spent := 0.0, false
	for _, row := range summary.GetByCategory() {
		category := a.read(row, 0)
		categories = categories.plus(category)
		require.Equal(a.r, category.expense > 0, row.GetPercentage() > 0)
		share, spent = share+row.GetPercentage(), spent || category.expense > 0
		listed := a.list(func(req *ledgerv1.ListTransactionsRequest) {
			req.CategoryId = []string{row.GetCategoryId()}
		})
		ids := []uuid.UUID{uuid.MustParse(row.GetCategoryId())}
		income, expense, count := a.movedIn(a.window, a.currency.Code(), ids,
			func(posting.Transaction) bool { return true })
		require.Equal(a.r, sums{income, expense, int64(count)}, listed, "category")
		require.Equal(a.r, listed.moved(), category, "category")
	}
	require.Equal(a.r, totals.moved(), categories, "categories")
	if spent {
		require.InDelta(a.r, 100, share, 0.1)
	}
}

// requireTag compares the sums of a tag with the model and the list.
func (a answers) requireTag(summary *ledgerv1.Summary) {
	var tagged sums
	for _, row := range summary.GetByTag().GetValues() {
		tagged = a.read(row, row.GetTransactionCount())
	}
	require.Equal(a.r, a.model(func(t posting.Transaction) bool {
		return len(t.Tags) > 0
	}), tagged, "tag")
	require.Equal(a.r, tagged, a.list(func(req *ledgerv1.ListTransactionsRequest) {
		req.Tag = []string{"Trip"}
	}), "tag")
}

// requireSpending compares the spending of a budget with the list of its wallet and categories.
func (a answers) requireSpending() {
	wallet := rapid.SampledFrom(a.wallets).Draw(a.r, "wallet of the budget").ID.String()
	var categories []string
	for _, id := range slices.SortedFunc(maps.Keys(a.categories), func(x, y uuid.UUID) int {
		return slices.Compare(x[:], y[:])
	}) {
		if len(categories) == 0 || rapid.Bool().Draw(a.r, "category of the budget") {
			categories = append(categories, id.String())
		}
	}
	resp, err := a.SumSpending(a.ctx, &spendingRequest{Windows: []*ledgerv1.SpendingWindow{{
		OwnerId: a.owner.String(), WalletId: wallet, CategoryIds: categories,
		From: a.from, To: a.to,
	}}})
	require.NoError(a.r, err)
	spent := int64(0)
	for _, amount := range resp.GetSpendings()[0].GetAmounts() {
		if amount.GetCurrency() == a.currency.Code() {
			spent = amount.GetSpentMinor()
		}
	}
	listed := a.list(func(req *ledgerv1.ListTransactionsRequest) {
		req.WalletId, req.CategoryId = []string{wallet}, categories
	})
	require.Equal(a.r, listed.expense-listed.income, spent, "budget")
}
