package duplicates

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
)

// on returns the facts of a payment of a day in January 2026.
func on(dayOfMonth int, payee, description string) facts {
	return facts{
		Currency: "EUR", AmountMinor: -999, Payee: payee, Description: description,
		Day: time.Date(2026, 1, dayOfMonth, 0, 0, 0, 0, time.UTC),
	}
}

// stored returns a transaction with the payment. It was created at a second of its own.
func stored(n int, p facts) existing {
	id := uuid.UUID{15: byte(n), 14: byte(n >> 8)}
	created := p.Day.Add(time.Duration(n) * time.Second)
	return existing{facts: p, ID: id, Parts: []uuid.UUID{id}, CreatedAt: created}
}

func grouped(all ...existing) map[key][]existing {
	return map[key][]existing{all[0].key(): all}
}

func TestMatch(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		transaction, row facts
		want             string
	}{
		"the same payee": {
			on(5, "Netflix", ""),
			on(5, "NETFLIX.COM", "Monthly"),
			matched,
		},
		"another payee": {
			on(5, "Netflix", ""),
			on(5, "Disney Plus", ""),
			possible,
		},
		"another payee, same description": {
			on(5, "Netflix", "Subscription"),
			on(5, "Disney Plus", "Subscription"),
			possible,
		},
		"another description": {
			on(5, "", "Netflix"),
			on(5, "", "Disney Plus"),
			possible,
		},
		"another payee of another day": {
			on(5, "Netflix", "Subscription"),
			on(6, "Disney Plus", "Subscription"),
			"",
		},
		"a day later": {
			on(4, "Rewe", ""),
			on(5, "REWE", "Kartenzahlung 4711"),
			matched,
		},
		"a longer name a day later": {
			on(4, "", "Rewe"),
			on(5, "REWE SAGT DANKE 54321 BERLIN", "Kartenzahlung 2026-01-05 EUR"),
			matched,
		},
		"a name within the purpose": {
			on(3, "Netflix", ""),
			on(5, "PayPal Europe", "Ihr Einkauf bei NETFLIX COM"),
			matched,
		},
		"no text on one day": {
			on(5, "", ""),
			on(5, "Disney Plus", ""),
			matched,
		},
		"no text a day later": {
			on(4, "", ""),
			on(5, "Disney Plus", ""),
			"",
		},
		"five days later": {
			on(1, "Rewe", ""),
			on(6, "Rewe", ""),
			"",
		},
		"a category instead of a name": {
			on(5, "", "Groceries"),
			on(5, "REWE", ""),
			possible,
		},
		"a category instead of a name later": {
			on(4, "", "Groceries"),
			on(5, "REWE", ""),
			"",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			rows := []wanted{{facts: c.row, N: 1}}
			results := match(rows, grouped(stored(1, c.transaction)), nil)
			if c.want == "" {
				require.Empty(t, results)
				return
			}
			require.Equal(t, []result{{1, stored(1, c.transaction).ID, c.want}}, results)
		})
	}
	t.Run("a leg of a transfer", func(t *testing.T) {
		t.Parallel()
		bank, other := uuid.UUID{1}, uuid.UUID{2}
		leg := stored(1, on(5, "", "To savings"))
		leg.OtherWallet = &bank
		row := wanted{facts: on(8, "", "From current account"), N: 1}
		require.Equal(t, []result{{1, leg.ID, possible}}, match([]wanted{row}, grouped(leg), nil))
		row.TransferWalletID = &other
		require.Equal(t, []result{{1, leg.ID, possible}}, match([]wanted{row}, grouped(leg), nil))
		row.TransferWalletID = &bank
		require.Equal(t, []result{{1, leg.ID, matched}}, match([]wanted{row}, grouped(leg), nil))
		leg.OtherWallet = nil
		require.Empty(t, match([]wanted{row}, grouped(leg), nil))
	})
	t.Run("a transaction of another row is not named", func(t *testing.T) {
		t.Parallel()
		netflix := stored(1, on(5, "Netflix", ""))
		rows := []wanted{
			{facts: on(5, "Disney Plus", ""), N: 1}, {facts: on(5, "Netflix", ""), N: 2},
		}
		require.Equal(t, []result{{2, netflix.ID, matched}}, match(rows, grouped(netflix), nil))
		require.Empty(t, match(rows, grouped(netflix), map[uuid.UUID]bool{netflix.ID: true}))
	})
	t.Run("an import of another format matches its day only", func(t *testing.T) {
		t.Parallel()
		imported := stored(1, on(5, "Netflix", ""))
		imported.Imported = true
		for day, want := range map[int]int{4: 0, 5: 1, 6: 0} {
			rows := []wanted{{facts: on(day, "Netflix", ""), N: 1}}
			require.Len(t, match(rows, grouped(imported), nil), want, day)
		}
	})
}

// TestMatchLarge matches payments that all have one day and amount. Each row must find its text,
// and the number of comparisons is limited.
func TestMatchLarge(t *testing.T) {
	t.Parallel()
	const n = 600
	var rows []wanted
	var all []existing
	for i := range n {
		all = append(all, stored(i, on(5, fmt.Sprintf("Shop %d", i), "")))
		rows = append(rows, wanted{facts: on(5, fmt.Sprintf("Shop %d", n-1-i), ""), N: int32(i)})
	}
	found := grouped(all...)
	for i, r := range match(rows, found, nil) {
		require.Equal(t, result{int32(i), all[n-1-i].ID, matched}, r)
	}
	for i := range rows {
		rows[i].Payee = fmt.Sprintf("Other %d", i)
	}
	groups := make([]*wanted, n)
	for i := range rows {
		groups[i] = &rows[i]
	}
	m := matching{limit: maxPairs}
	pairs, partly := m.pairsOf(groups, all)
	require.Len(t, pairs, n*maxCandidates)
	require.Len(t, partly, n)
	for name, c := range map[string]struct {
		days     int
		imported bool
		want     int
	}{
		"of the day":                  {0, false, n},
		"of the day, imported":        {0, true, n},
		"of the day before":           {1, false, n},
		"of the day before, imported": {1, true, 0},
		"of five days before":         {5, false, 0},
	} {
		others := slices.Clone(all)
		for i := range others {
			others[i].Imported = c.imported
			others[i].Day = others[i].Day.AddDate(0, 0, -c.days)
		}
		named := map[uuid.UUID]bool{}
		for _, r := range match(rows, grouped(others...), nil) {
			require.Equal(t, possible, r.status, name)
			named[r.transaction] = true
		}
		require.Len(t, named, c.want, "%s: a row that was not compared names a transaction", name)
	}
}

// TestNear counts the transactions that are read for a row. Those of other days, which an import
// has created, must not count.
func TestNear(t *testing.T) {
	t.Parallel()
	const n = 4096
	var all []existing
	for i := range n {
		e := stored(i, on(4+i%2*2, "Shop", ""))
		e.Imported = i%4 > 1
		all = append(all, e)
	}
	slices.SortFunc(all, compareInGroup)
	for day, want := range map[int]int{4: 40, 5: 20, 6: 40, 20: 0} {
		read := 0
		indexes, more := near(on(day, "", "").Day, n, func(i int) *existing {
			read++
			return &all[i]
		}, maxCandidates)
		require.Len(t, indexes, want, day)
		require.Equal(t, want > 0, more, day)
		require.Less(t, read, 200, day)
	}
}

func TestStretches(t *testing.T) {
	t.Parallel()
	wallet, other := uuid.UUID{1}, uuid.UUID{2}
	at := func(dayOfMonth int) time.Time { return on(dayOfMonth, "", "").Day }
	days := []walletDay{
		{wallet, at(5)}, {wallet, at(6)}, {wallet, at(12)}, {wallet, at(40)}, {other, at(5)},
	}
	require.Equal(t, []stretch{
		{wallet, at(1), at(17)}, {wallet, at(36), at(45)}, {other, at(1), at(10)},
	}, stretches(days))
	days = nil
	for i := range 60 {
		days = append(days, walletDay{wallet, at(5 + i)})
	}
	all := stretches(days)
	require.Greater(t, len(all), 1)
	for i, s := range all {
		require.LessOrEqual(t, s.end.Sub(s.first), stretchDays*day)
		if i > 0 {
			require.Equal(t, all[i-1].end, s.first, "each day once")
		}
	}
	require.Equal(t, at(1), all[0].first)
	require.Equal(t, at(69), all[len(all)-1].end)
}
