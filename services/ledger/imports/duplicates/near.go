package duplicates

import (
	"sort"
	"time"
)

const (
	// maxCandidates is the maximum number of transactions that are compared with a row, and that of
	// the imported ones. More have the same wallet, amount and days only in unusual books.
	maxCandidates = 20
	// maxPairs is the number of pairs of rows and transactions with the same wallet and amount that
	// are all compared.
	maxPairs = 10_000
	// maxComparisons is the maximum number of comparisons of texts in a search, about a second. If
	// more rows and transactions are near each other, fewer are compared with each row.
	maxComparisons = 200_000
)

// limitOf returns the limit of matching, such that there are at most maxComparisons. It counts the
// near transactions of each row without reading them.
func limitOf(groups map[key][]*wanted, found map[key][]existing) int {
	rows, comparisons := 0, 0
	for k, group := range groups {
		all := found[k]
		imported := sort.Search(len(all), func(i int) bool { return all[i].Imported })
		for _, r := range group {
			n := within(r.Day, all[:imported], maxDays) + within(r.Day, all[imported:], 0)
			if len(group)*len(all) > maxPairs {
				n = min(n, 2*maxCandidates)
			}
			comparisons += n
		}
		rows += len(group)
	}
	if comparisons <= maxComparisons {
		return maxPairs
	}
	// A row is compared with as many imported transactions as with others.
	return max(1, min(maxComparisons/rows/2, maxCandidates))
}

// within returns the number of transactions, sorted by day, that are at most distance days from a
// day.
func within(of time.Time, found []existing, distance int) int {
	span := time.Duration(distance) * day
	first := sort.Search(len(found), func(i int) bool { return of.Sub(found[i].Day) <= span })
	end := sort.Search(len(found), func(i int) bool { return found[i].Day.Sub(of) > span })
	return end - first
}

// near returns the transactions of a group that may be the payment of a row of a day, the nearest
// days first, at most limit imported and at most limit other ones, and whether there are more. The
// group has n transactions in the order of compareInGroup. Its work does not depend on the number
// of transactions of other days.
func near(day time.Time, n int, at func(i int) *existing, limit int) (indexes []int, more bool) {
	imported := sort.Search(n, func(i int) bool { return at(i).Imported })
	own, moreOwn := nearest(day, 0, imported, at, maxDays, limit)
	ofDay, moreOfDay := nearest(day, imported, n, at, 0, limit)
	return append(own, ofDay...), moreOwn || moreOfDay
}

// nearest returns up to limit of the transactions from first to before end that are at most
// distance days from a day, and whether there are more.
func nearest(
	of time.Time, first, end int, at func(i int) *existing, distance, limit int,
) (indexes []int, more bool) {
	right := first + sort.Search(end-first, func(i int) bool {
		return !at(first + i).Day.Before(of)
	})
	left := right - 1
	days := func(i int) int {
		if i < first || i >= end {
			return distance + 1
		}
		return int(at(i).Day.Sub(of).Abs() / day)
	}
	for {
		earlier, later := days(left), days(right)
		if min(earlier, later) > distance {
			return indexes, false
		}
		if len(indexes) == limit {
			return indexes, true
		}
		if earlier < later {
			indexes = append(indexes, left)
			left--
		} else {
			indexes = append(indexes, right)
			right++
		}
	}
}

// in returns the function that reads a group.
func in(group []existing) func(i int) *existing {
	return func(i int) *existing { return &group[i] }
}
