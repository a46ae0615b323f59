package demo

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

var noon = time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)

func TestYear(t *testing.T) {
	t.Parallel()
	entries := year(1, noon, 365)
	require.Equal(t, entries, year(1, noon, 365), "the same seed and time")
	require.NotEqual(t, entries, year(2, noon, 365))
	require.InDelta(t, 1500, len(entries), 150)
	used := map[string]bool{}
	for i, entry := range entries {
		require.Positive(t, entry.cents)
		require.False(t, entry.at.After(noon))
		require.True(t, i == 0 || !entry.at.Before(entries[i-1].at), "oldest first")
		require.NotEmpty(t, currencyOf(entry.wallet), entry)
		for _, name := range []string{
			entry.category, entry.part, entry.wallet, entry.to, entry.kind,
		} {
			used[name] = true
		}
		if entry.kind == transfer {
			require.NotEmpty(t, currencyOf(entry.to), entry)
			require.NotEqual(t, entry.wallet, entry.to)
			require.Positive(t, entry.toCents)
		} else {
			require.NotEmpty(t, entry.payee)
		}
		require.Equal(t, entry.part != "", entry.partCents > 0)
		require.Less(t, entry.partCents, entry.cents)
	}
	require.True(t, used[transfer])
	used[fund] = true // Its transactions are adjustments, see valueFund.
	for _, c := range categories {
		require.True(t, used[c.name], c.name)
	}
	for _, w := range wallets {
		require.True(t, used[w.name], w.name)
		require.Positive(t, w.balance-net(append(imported(noon), entries...), w.name),
			"a household does not open %s with debts", w.name)
	}
	// A later time on the same day only adds transactions.
	morning := year(1, noon.Add(-4*time.Hour), 365)
	require.Equal(t, morning, entries[:len(morning)])
}

func TestYearHasSeasons(t *testing.T) {
	t.Parallel()
	spent := map[time.Month]map[string]int64{}
	for _, e := range year(1, noon, 365) {
		if spent[e.at.Month()] == nil {
			spent[e.at.Month()] = map[string]int64{}
		}
		spent[e.at.Month()][e.category] += e.cents
	}
	require.Greater(t, spent[time.December][gifts], 2*spent[time.May][gifts])
	require.Greater(t, spent[time.January][utilities], spent[time.July][utilities])
	require.Greater(t, spent[time.August][holidays], spent[time.February][holidays])
}

func TestNet(t *testing.T) {
	t.Parallel()
	entries := []entry{
		{kind: income, wallet: checking, cents: 1000},
		{kind: expense, wallet: checking, cents: 300},
		{kind: transfer, wallet: checking, cents: 100, to: travel, toCents: 108},
	}
	require.EqualValues(t, 600, net(entries, checking))
	require.EqualValues(t, 108, net(entries, travel))
	require.Zero(t, net(entries, cash))
}

func TestAmount(t *testing.T) {
	t.Parallel()
	for cents, want := range map[int64]string{
		0: "0.00", 5: "0.05", 1230: "12.30", -5: "-0.05", -1230: "-12.30",
	} {
		require.Equal(t, want, amount(cents).String())
	}
}

// TestValuations requires that the value of the fund is not stated before its opening balance.
func TestValuations(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 28, 9, 0, 0, 0, time.UTC)
	require.Len(t, valuations(now, now.AddDate(-1, 0, 0)), 3)
	day := time.Date(2026, 10, 31, 0, 0, 0, 0, time.UTC)
	require.Equal(t, []valuation{{day, 878_930}}, valuations(now, now.AddDate(0, 0, -30)))
	require.Empty(t, valuations(now, now.AddDate(0, 0, -7)))
}
