package resolving

import (
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// sideOf returns a side that the file calls a transfer, on a day of January.
func sideOf(n int32, day int, account, other, amount, currency string) side {
	return side{
		N: n, Account: account, Other: other, Amount: amount, Currency: currency,
		Date: time.Date(2026, 1, day, 0, 0, 0, 0, time.UTC),
	}
}

// pairsOf returns the numbers of the rows of each pair, the smaller one first, sorted.
func pairsOf(sides []side) [][2]int32 {
	pairs := [][2]int32{}
	for i, j := range matchSides(sides) {
		if i < j {
			pairs = append(pairs, [2]int32{sides[i].N, sides[j].N})
		}
	}
	slices.SortFunc(pairs, func(a, b [2]int32) int { return int(a[0] - b[0]) })
	return pairs
}

func TestMatchSides(t *testing.T) {
	t.Parallel()
	id := func(s side, id string) side {
		s.TransferID = id
		return s
	}
	payee := func(s side) side {
		s.Origin = byPayee
		return s
	}
	pending := func(s side) side {
		s.Pending = true
		return s
	}
	for name, tc := range map[string]struct {
		sides []side
		want  [][2]int32
	}{
		"an_exchange_behind_others_of_one_currency": {
			[]side{
				sideOf(1, 5, "A", "B", "-1", "EUR"), sideOf(2, 5, "A", "B", "-7", "USD"),
				sideOf(3, 5, "B", "A", "6", "EUR"), sideOf(4, 5, "B", "A", "8", "EUR"),
				sideOf(5, 5, "B", "A", "9", "CHF"), sideOf(6, 5, "B", "A", "9", ""),
			},
			[][2]int32{{1, 5}, {2, 3}},
		},
		"booked_sides_before_pending_ones": {
			[]side{
				pending(sideOf(1, 5, "A", "B", "-1", "")), sideOf(2, 6, "A", "B", "-1", ""),
				sideOf(3, 5, "B", "A", "1", ""), sideOf(4, 7, "A", "B", "-2", "EUR"),
				pending(sideOf(5, 7, "B", "A", "3", "USD")), sideOf(6, 7, "B", "A", "4", "USD"),
			},
			[][2]int32{{2, 3}, {4, 6}},
		},
		"pending_sides": {
			[]side{
				sideOf(1, 5, "A", "B", "-1", ""), pending(sideOf(2, 5, "A", "B", "-1", "")),
				pending(sideOf(3, 5, "B", "A", "1", "")),
			},
			[][2]int32{{2, 3}},
		},
		"a_pending_side_and_a_booked_one": {
			[]side{
				pending(sideOf(1, 5, "A", "B", "-1", "")), sideOf(2, 6, "B", "A", "1", ""),
			},
			[][2]int32{{1, 2}},
		},
		"both_accounts": {
			[]side{sideOf(1, 5, "A", "B", "-12.50", ""), sideOf(2, 5, "B", "A", "12.5", "")},
			[][2]int32{{1, 2}},
		},
		"equal_transfers_in_the_order_of_the_file": {
			[]side{
				sideOf(1, 5, "A", "B", "-1", ""), sideOf(2, 5, "A", "B", "-1", ""),
				sideOf(3, 5, "B", "A", "1", ""), sideOf(4, 5, "B", "A", "1", ""),
			},
			[][2]int32{{1, 3}, {2, 4}},
		},
		"not_the_same_direction": {
			[]side{sideOf(1, 5, "A", "B", "-1", ""), sideOf(2, 5, "B", "A", "-1", "")},
			[][2]int32{},
		},
		"not_another_account": {
			[]side{sideOf(1, 5, "A", "B", "-1", ""), sideOf(2, 5, "B", "C", "1", "")}, [][2]int32{},
		},
		"days_apart": {
			[]side{sideOf(1, 5, "A", "B", "-1", ""), sideOf(2, 8, "B", "A", "1", "")},
			[][2]int32{{1, 2}},
		},
		"days_apart_the_other_way_round": {
			[]side{sideOf(1, 8, "A", "B", "-1", ""), sideOf(2, 5, "B", "A", "1", "")},
			[][2]int32{{1, 2}},
		},
		"too_many_days_apart": {
			[]side{sideOf(1, 5, "A", "B", "-1", ""), sideOf(2, 9, "B", "A", "1", "")},
			[][2]int32{},
		},
		"not_another_amount_on_another_day": {
			[]side{sideOf(1, 5, "A", "B", "-1", "EUR"), sideOf(2, 6, "B", "A", "2", "USD")},
			[][2]int32{},
		},
		"not_another_id_on_another_day": {
			[]side{
				id(sideOf(1, 5, "A", "B", "-1", ""), "x"), id(sideOf(2, 6, "B", "A", "1", ""), "y"),
			},
			[][2]int32{},
		},
		"the_nearest_day_first": {
			[]side{
				sideOf(1, 5, "A", "B", "-1", ""), sideOf(2, 8, "B", "A", "1", ""),
				sideOf(3, 6, "B", "A", "1", ""), sideOf(4, 8, "A", "B", "-1", ""),
				sideOf(5, 9, "A", "B", "-1", ""), sideOf(6, 11, "B", "A", "1", ""),
			},
			[][2]int32{{1, 3}, {2, 4}, {5, 6}},
		},
		"not_another_amount_in_one_currency": {
			[]side{sideOf(1, 5, "A", "B", "-1", "EUR"), sideOf(2, 5, "B", "A", "2", "EUR")},
			[][2]int32{},
		},
		"two_currencies": {
			[]side{sideOf(1, 5, "A", "B", "-1", "EUR"), sideOf(2, 5, "B", "A", "2", "USD")},
			[][2]int32{{1, 2}},
		},
		"equal_amounts_before_two_currencies": {
			[]side{
				sideOf(1, 5, "A", "B", "-1", "EUR"), sideOf(2, 5, "B", "A", "2", "USD"),
				sideOf(3, 5, "B", "A", "1", "USD"), sideOf(4, 5, "A", "B", "-3", "EUR"),
			},
			[][2]int32{{1, 3}, {2, 4}},
		},
		"an_id_on_two_days": {
			[]side{
				id(sideOf(1, 5, "A", "B", "-1", "EUR"), "x"),
				id(sideOf(2, 5, "A", "B", "-1", "EUR"), "y"),
				id(sideOf(3, 7, "B", "A", "1", "EUR"), "y"),
				id(sideOf(4, 7, "B", "A", "2", "USD"), "x"),
			},
			[][2]int32{{1, 4}, {2, 3}},
		},
		"a_row_with_two_names_once": {
			[]side{
				payee(sideOf(1, 5, "A", "B", "-1", "")), payee(sideOf(1, 5, "A", "C", "-1", "")),
				sideOf(2, 5, "B", "A", "1", ""), sideOf(3, 5, "C", "A", "1", ""),
			},
			[][2]int32{{1, 2}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, tc.want, pairsOf(tc.sides))
		})
	}
}

func TestOneSided(t *testing.T) {
	t.Parallel()
	transfers := func(days int) []side {
		var sides []side
		for i := range days {
			sides = append(sides, sideOf(int32(i+1), i+1, "A", "B", "-1", ""))
		}
		return sides
	}
	other := func(sides []side, n int32, account, to, amount string) []side {
		return append(sides, sideOf(n, 20, account, to, amount, ""))
	}
	for name, tc := range map[string]struct {
		sides []side
		want  []int32
	}{
		"no_transfer_has_two_rows": {transfers(3), []int32{1, 2, 3}},
		"most_transfers_have_two": {
			other(other(transfers(1), 8, "C", "D", "-5"), 9, "D", "C", "5"), nil,
		},
		"both_accounts_write_theirs": {other(transfers(1), 9, "B", "A", "-1"), []int32{1, 9}},
		"parts_and_their_total":      {other(transfers(2), 9, "B", "A", "2"), nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			every := func(string) bool { return true }
			alone, paired := unmatched(tc.sides, matchSides(tc.sides), every)
			single := oneSided(alone, paired)
			maps.DeleteFunc(single, func(_ int32, one bool) bool { return !one })
			require.Equal(t, tc.want, slices.Sorted(maps.Keys(single)))
		})
	}
}
