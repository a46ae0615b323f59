package reports

import (
	"slices"

	"github.com/coffer-budget/coffer/services/ledger/posting"
)

const (
	// maxLargestBytes limits the size of the largest expenses in a summary. The five largest of 165
	// currencies take 0.5 MB with usual texts and 3.7 MB with the longest descriptions, but 180 MB
	// with the longest notes and parts.
	maxLargestBytes = 4 << 20
	// maxPartBytes is the size of a part with the longest description.
	maxPartBytes = 4100
)

// fittingLargest returns the largest expenses that fit into a summary: those in the first place of
// each currency before those in the second place, and so on. ts are ordered by currency and place,
// and so is the result. The parts need not be loaded.
func fittingLargest(ts []posting.Transaction) []posting.Transaction {
	places, order := make([]int, len(ts)), make([]int, len(ts))
	for i := range ts {
		order[i] = i
		if i > 0 && ts[i].Currency == ts[i-1].Currency {
			places[i] = places[i-1] + 1
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return places[a] - places[b] })
	size, n := 0, 0
	for n < len(order) {
		t := ts[order[n]]
		if size += t.Bytes() + maxPartBytes*t.SplitCount; size > maxLargestBytes {
			break
		}
		n++
	}
	slices.Sort(order[:n])
	kept := make([]posting.Transaction, n)
	for i, at := range order[:n] {
		kept[i] = ts[at]
	}
	return kept
}
