package balances_test

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/coffer-budget/coffer/services/ledger/imports/formats/balances"
	"github.com/coffer-budget/coffer/services/ledger/imports/formats/written"
)

// row is a row of a test: a day, an amount, and the balance after it.
type row struct {
	day             int
	amount, balance string
}

// verdict reads rows of one account in the order of the file.
func verdict(rows []row) balances.Verdict {
	var t balances.Trail
	for i, r := range rows {
		t.Add(balances.Row{
			N: i + 1, Date: time.Date(2024, 1, r.day, 0, 0, 0, 0, time.UTC),
			Amount: written.SumOf(r.amount), Balance: written.SumOf(r.balance),
			Stated: r.balance != "",
		})
	}
	return t.Verdict()
}

// account is a file whose balances follow, the oldest row first.
var account = []row{
	{1, "1000", "1500"},
	{2, "-20.50", "1479.50"},
	{2, "-3.50", "1476"},
	{4, "-76", "1400"},
	{5, "600", "2000"},
}

func TestVerdict(t *testing.T) {
	t.Parallel()
	changed := func(change func(rows []row) []row) []row { return change(slices.Clone(account)) }
	reversed := changed(func(rows []row) []row { slices.Reverse(rows); return rows })
	before := changed(func(rows []row) []row {
		for i, r := range rows {
			rows[i].balance, _ = written.SumOf(r.balance).
				Plus(written.SumOf(r.amount).Negated()).Text()
		}
		return rows
	})
	inverted := changed(func(rows []row) []row {
		for i := range rows {
			rows[i].amount = written.Negate(rows[i].amount)
		}
		return rows
	})
	oneDay := changed(func(rows []row) []row {
		for i := range rows {
			rows[i].day = 1
		}
		return rows
	})
	for name, c := range map[string]struct {
		rows                            []row
		agreed, opposed, other, firstAt int
		contradicts, debt               bool
	}{
		"the oldest first": {rows: account, agreed: 4},
		"the newest first": {rows: reversed, agreed: 4},
		"one day":          {rows: oneDay, agreed: 4},
		"balances before":  {rows: before, agreed: 4},
		"the oldest first, but the newest of each day": {
			rows: []row{
				{2, "-3.50", "1476"},
				{2, "-20.50", "1479.50"},
				{5, "600", "2000"},
				{5, "-76", "1400"},
				{6, "-1", "1999"},
			},
			agreed: 4,
		},
		"a gap": {
			rows: slices.Delete(slices.Clone(account), 2, 3), agreed: 2, other: 1, firstAt: 3,
		},
		"a balance a day": {
			rows:   changed(func(rows []row) []row { rows[1].balance = ""; return rows }),
			agreed: 3,
		},
		"the balance of the export": {rows: []row{{1, "-1", "5"}, {2, "-2", "5"}, {3, "-3", "5"}}},
		"not sorted": {rows: []row{
			{3, "-1", "7"}, {1, "-5", "20"}, {5, "-6", "1"}, {2, "-4", "16"}, {4, "2", "9"},
		}},
		"all inverted": {rows: inverted, opposed: 4, firstAt: 2, contradicts: true},
		"a debt":       {rows: inverted, opposed: 4, firstAt: 2, debt: true},
		"one wrong sign": {
			rows:   changed(func(rows []row) []row { rows[3].amount = "76"; return rows }),
			agreed: 3, opposed: 1, firstAt: 4, contradicts: true,
		},
		"amounts of others": {
			rows:  []row{{1, "5", "90"}, {2, "6", "80"}, {3, "7", "60"}},
			other: 2, firstAt: 2, contradicts: true,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			v := verdict(c.rows)
			require.Equal(t, []int{c.agreed, c.opposed, c.other},
				[]int{v.Agreed, v.Opposed, v.Other})
			if c.firstAt > 0 {
				require.Equal(t, c.firstAt, v.First.Row)
			}
			require.Equal(t, c.contradicts, v.Contradicts(c.debt))
		})
	}
}

func TestVerdictComparesWithinAccounts(t *testing.T) {
	t.Parallel()
	var trail balances.Trail
	for i, r := range account {
		for j, name := range []string{"EUR", "USD"} {
			trail.Add(balances.Row{
				N: 2*i + j + 1, Account: name, Amount: written.SumOf(r.amount),
				Balance: written.SumOf(r.balance), Stated: true,
			})
		}
	}
	require.Equal(t, 8, trail.Verdict().Agreed)
	require.Zero(t, trail.Verdict().Other)
}

func TestVerdictAfterUnreadableRow(t *testing.T) {
	t.Parallel()
	var trail balances.Trail
	for i, r := range account {
		if i == 3 {
			trail.Interrupt()
			continue
		}
		trail.Add(balances.Row{
			N: i, Amount: written.SumOf(r.amount), Balance: written.SumOf(r.balance), Stated: true,
		})
	}
	require.Equal(t, balances.Verdict{Agreed: 2}, trail.Verdict())
}
