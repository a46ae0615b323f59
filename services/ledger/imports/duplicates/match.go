package duplicates

import (
	"cmp"
	"slices"
	"sort"
	"strings"
	"time"

	"github.com/google/uuid"
)

const (
	// maxCandidates is the maximum number of transactions that are compared with a row. More than
	// that have the same wallet, amount and days only in unusual books.
	maxCandidates = 20
	// maxPairs is the number of pairs of rows and transactions with the same wallet and amount that
	// are all compared.
	maxPairs = 10_000
)

// The outcomes of rows.
const (
	duplicate = "duplicate"
	matched   = "matched"
	// possible is the outcome of a row that stays ready and names the transaction.
	possible = "ready"
)

// result is the outcome of a row.
type result struct {
	n           int32
	transaction uuid.UUID
	status      string
}

// key has what must be equal in a row and its transaction.
type key struct {
	wallet   uuid.UUID
	currency string
	amount   int64
}

// facts are what rows and transactions have in common.
type facts struct {
	WalletID           uuid.UUID `db:"wallet_id"`
	Currency           string
	AmountMinor        int64 `db:"amount_minor"`
	Day                time.Time
	Payee, Description string
}

func (p facts) key() key { return key{p.WalletID, p.Currency, p.AmountMinor} }

// existing is a transaction, or the transactions of a receipt with their total.
type existing struct {
	facts
	ID        uuid.UUID
	CreatedAt time.Time `db:"created_at"`
	// Parts are the transactions of a receipt, whose oldest one is ID. Otherwise it is ID alone.
	Parts []uuid.UUID
	// Imported is set if an import of another format has created the transaction. It matches a row
	// of its day only: its external id has another source, but regular payments are often a few
	// days apart.
	Imported bool
}

// compare orders transactions by day, and those of a day by their creation.
func (e existing) compare(o existing) int {
	return cmp.Or(e.Day.Compare(o.Day), e.CreatedAt.Compare(o.CreatedAt),
		slices.Compare(e.ID[:], o.ID[:]))
}

// wanted is a ready row. It has no amount if its currency is unknown, and then no transaction.
type wanted struct {
	facts
	N          int32
	ExternalID string `db:"external_id"`
	// Pending is set if the bank has not booked the payment. Then only its external id counts.
	Pending bool
}

// near returns the transactions of a group that may be the payment of a row, the nearest days
// first, at most limit of them. The group is in the order of compare.
func near(r wanted, group []existing, limit int) (indexes []int) {
	right := sort.Search(len(group), func(i int) bool { return !group[i].Day.Before(r.Day) })
	left := right - 1
	distance := func(i int) int {
		if i < 0 || i >= len(group) {
			return maxDays + 1
		}
		return int(group[i].Day.Sub(r.Day).Abs() / day)
	}
	for len(indexes) < limit {
		next, days := right, distance(right)
		if earlier := distance(left); earlier < days {
			next, days = left, earlier
		}
		if days > maxDays {
			break
		}
		if next == left {
			left--
		} else {
			right++
		}
		if days == 0 || !group[next].Imported {
			indexes = append(indexes, next)
		}
	}
	return indexes
}

// pair is a row and a transaction that may be the same payment.
type pair struct {
	row   *wanted
	other *existing
	days  int
	likeness
}

// match assigns each transaction to at most one row and each row to at most one transaction: the
// nearest day first, then the most similar text, then the transaction that was created first. A
// receipt takes all its transactions. Pairs of one day whose texts differ are only possible.
func match(rows []wanted, found map[key][]existing, taken map[uuid.UUID]bool) []result {
	var pairs []pair
	groups := map[key][]*wanted{}
	for i := range rows {
		groups[rows[i].key()] = append(groups[rows[i].key()], &rows[i])
	}
	for k, group := range groups {
		pairs = append(pairs, pairsOf(group, found[k])...)
	}
	slices.SortFunc(pairs, func(a, b pair) int {
		return cmp.Or(cmp.Compare(a.days, b.days), cmp.Compare(b.score, a.score),
			a.other.compare(*b.other), cmp.Compare(a.row.N, b.row.N))
	})
	used := map[uuid.UUID]bool{}
	isTaken := func(id uuid.UUID) bool { return taken[id] || used[id] }
	done := map[int32]bool{}
	var results []result
	for _, status := range []string{matched, possible} {
		for _, p := range pairs {
			if p.agrees != (status == matched) || done[p.row.N] ||
				slices.ContainsFunc(p.other.Parts, isTaken) {
				continue
			}
			done[p.row.N] = true
			for _, id := range p.other.Parts {
				used[id] = true
			}
			results = append(results, result{p.row.N, p.other.ID, status})
		}
	}
	slices.SortFunc(results, func(a, b result) int { return cmp.Compare(a.n, b.n) })
	return results
}

// pairsOf returns the pairs of rows and transactions with the same key that may be the same
// payment. In a large group, a row with the day and the payee of a transaction is paired with it
// alone.
func pairsOf(rows []*wanted, found []existing) (pairs []pair) {
	limit := len(found)
	var equal map[*wanted]int
	if len(rows)*len(found) > maxPairs {
		limit, equal = maxCandidates, equalTexts(rows, found)
	}
	texts := make([]words, len(found))
	for _, r := range rows {
		own := wordsOf(r.facts)
		indexes := near(*r, found, limit)
		if i, ok := equal[r]; ok {
			indexes = []int{i}
		}
		for _, i := range indexes {
			e := &found[i]
			if texts[i].all == nil {
				texts[i] = wordsOf(e.facts)
			}
			p := pair{r, e, int(e.Day.Sub(r.Day).Abs() / day), compare(own, texts[i])}
			if p.days == 0 || p.agrees && p.score > 0 {
				pairs = append(pairs, p)
			}
		}
	}
	return pairs
}

// equalTexts pairs the rows and transactions that have the same day and payee, or the same
// description without a payee, each once.
func equalTexts(rows []*wanted, found []existing) map[*wanted]int {
	text := func(p facts) string {
		if p.Payee == "" {
			return p.Day.String() + strings.Join(split(p.Description), " ")
		}
		return p.Day.String() + strings.Join(split(p.Payee), " ")
	}
	waiting := map[string][]int{}
	for i, e := range found {
		waiting[text(e.facts)] = append(waiting[text(e.facts)], i)
	}
	equal := map[*wanted]int{}
	for _, r := range rows {
		if t := text(r.facts); len(waiting[t]) > 0 {
			equal[r], waiting[t] = waiting[t][0], waiting[t][1:]
		}
	}
	return equal
}
