package reports

import (
	"cmp"
	"math"
	"slices"

	"github.com/coffer-budget/coffer/internal/money"
	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
)

// tagsProto returns the tags in a currency, or in all currencies if it is empty. They are ordered
// by currency, and then by expense, the largest first. When there are more rows than
// maxSummaryRows, every currency has an equal share of them. It returns an error if the window has
// more transactions than allowed. A transaction counts for each of its tags, so the rows may exceed
// the totals.
func tagsProto(rows []tagged, currency string) (*ledgerv1.TagTotals, error) {
	read := int64(0)
	for _, row := range rows {
		read += row.Read
	}
	if read > maxReadTransactions {
		return nil, errTooManyTransactions
	}
	rows = slices.DeleteFunc(rows, func(row tagged) bool {
		return row.Name == "" || currency != "" && row.Currency != currency
	})
	slices.SortFunc(rows, func(a, b tagged) int {
		return cmp.Or(cmp.Compare(a.Currency, b.Currency),
			cmp.Compare(b.Expense, a.Expense), cmp.Compare(b.Income, a.Income),
			cmp.Compare(a.Name, b.Name))
	})
	shown := map[string]int{}
	for _, row := range rows {
		shown[row.Currency] = 0
	}
	share := shareOf(len(rows), len(shown))
	out := &ledgerv1.TagTotals{}
	for _, row := range rows {
		if shown[row.Currency] == share {
			continue
		}
		shown[row.Currency]++
		c := money.CurrencyOf(row.Currency)
		out.Values = append(out.Values, &ledgerv1.TagTotal{
			Name: row.Name, Currency: row.Currency,
			Income: c.Format(row.Income), Expense: c.Format(row.Expense),
			TransactionCount: int32(min(row.Count, math.MaxInt32)),
		})
	}
	return out, nil
}

// shareOf returns the number of rows that each of some currencies gets: all, or an equal share of
// maxSummaryRows if there are more. Each row has one of the currencies.
func shareOf(rows, currencies int) int {
	if rows <= maxSummaryRows {
		return rows
	}
	return maxSummaryRows / currencies
}
