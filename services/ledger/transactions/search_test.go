package transactions

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestHasTrigram(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		"": false, "DM": false, "日本": false, "a b c": false, "a-b": false, "%_%": false,
		"dm markt": true, "日本語": false, "été": false, "Zürich": true, "123": true,
	} {
		require.Equal(t, want, hasTrigram(text), text)
	}
}

func TestComparisons(t *testing.T) {
	t.Parallel()
	for substring, want := range map[string]int{
		"": 0, "a": 1, "corner bakery": 3, "hahaha": 3, "XXXXXXXXXXXX1234": 12,
		"XXXX XXXX XXXX 1234":          6,
		strings.Repeat("a", 999) + "b": 999, strings.Repeat("aA", 500): 1000,
		strings.Repeat("ab", 500): 500,
	} {
		require.Equal(t, want, comparisons(substring), substring)
	}
}

// TestComparisonsLimit counts the equal characters that LIKE compares.
func TestComparisonsLimit(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		repeated := func(name string) string {
			unit := rapid.StringMatching("[ab]{1,6}").Draw(t, name)
			rest := rapid.StringMatching("[ab]{0,6}").Draw(t, name)
			return strings.Repeat(unit, rapid.IntRange(1, 50).Draw(t, name)) + rest
		}
		text, substring := repeated("text"), repeated("substring")
		equal := 0
		for i := range text {
			rest := text[i:]
			for n := range min(len(rest), len(substring)) {
				if rest[n] != substring[n] {
					break
				}
				equal++
			}
		}
		// A prefix of each length may begin once more than its period allows.
		require.LessOrEqual(t, equal, (comparisons(substring)+1)*len(text)+len(substring))
	})
}

// TestListTransactionsRepetitions finds all rows with a substring of many repetitions, of which a
// page examines few.
func TestListTransactionsRepetitions(t *testing.T) {
	t.Parallel()
	s := setup(t)
	me := newPerson(t.Context(), t, s)
	substring := strings.Repeat("x", 999) + "y"
	list := transactionList{substring: substring}
	const rows = 500
	require.Less(t, list.affordable(scannedRows), rows)
	for i := range rows {
		req := me.Spends("1")
		req.Description = fmt.Sprint("row ", i)
		if i%100 == 0 {
			req.Description = substring
		}
		me.Create(t, req)
	}
	req := &listRequest{Q: &substring}
	found := 0
	for {
		resp, err := me.ListTransactions(me.Ctx, req)
		require.NoError(t, err)
		found += len(resp.GetTransactions())
		if !resp.GetPagination().GetHasMore() {
			break
		}
		req.Cursor = resp.GetPagination().GetNextCursor()
	}
	require.Equal(t, rows/100, found)
	req.Cursor, req.Include = "", []string{includeTotals}
	resp, err := me.ListTransactions(me.Ctx, req)
	require.NoError(t, err)
	require.True(t, resp.GetCapped())
	require.EqualValues(t, list.totaled(), resp.GetCappedAt())
}
