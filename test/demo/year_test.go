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
	for i, e := range entries {
		require.Positive(t, e.cents)
		require.False(t, e.at.After(noon))
		require.True(t, i == 0 || !e.at.Before(entries[i-1].at), "oldest first")
		require.NotEmpty(t, currencyOf(e.wallet), e)
		used[e.category], used[e.wallet] = true, true
	}
	for _, c := range categories {
		require.True(t, used[c.name], c.name)
	}
	for _, w := range wallets {
		require.True(t, used[w.name], w.name)
		require.Positive(t, w.balance-net(entries, w.name), "a household does not open %s with debts", w.name)
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

func TestAmount(t *testing.T) {
	t.Parallel()
	for cents, want := range map[int64]string{0: "0.00", 5: "0.05", 1230: "12.30", -5: "-0.05", -1230: "-12.30"} {
		require.Equal(t, want, amount(cents).String())
	}
}
