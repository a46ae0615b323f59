package duplicates

import (
	"cmp"
	"slices"
	"sort"
	"strings"
	"time"

	"github.com/google/uuid"
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
	// OtherWallet is the wallet at the other side of a transfer, or nil. The texts of a leg without
	// an external id may be those of the statement of that wallet.
	OtherWallet *uuid.UUID `db:"other_wallet_id"`
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
	// TransferWalletID is the wallet at the other side of a transfer, or nil. PairN is the row of
	// that side, or nil.
	TransferWalletID *uuid.UUID `db:"transfer_wallet_id"`
	PairN            *int32     `db:"pair_n"`
}

// compareInGroup orders the transactions of a group. Imported ones follow the others, because they
// are near on one day only.
func compareInGroup(a, b existing) int {
	switch {
	case a.Imported == b.Imported:
		return a.compare(b)
	case a.Imported:
		return 1
	}
	return -1
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
// receipt takes all its transactions. Pairs of one day whose texts differ are only possible, and so
// are those that were not compared because there are too many. A leg of a transfer that another
// file has created is the payment of a row that is a transfer with the same wallet, and a possible
// one of other rows, also a few days apart.
func match(rows []wanted, found map[key][]existing, taken map[uuid.UUID]bool) []result {
	m := matching{taken: taken, used: map[uuid.UUID]bool{}, done: map[int32]bool{}}
	m.match(rows, found)
	return m.results
}

// matching is the state of match.
type matching struct {
	taken, used map[uuid.UUID]bool
	done        map[int32]bool
	// limit is the maximum number of transactions that are compared with a row.
	limit    int
	compared int
	results  []result
}

func (m *matching) match(rows []wanted, found map[key][]existing) {
	groups := map[key][]*wanted{}
	for i := range rows {
		groups[rows[i].key()] = append(groups[rows[i].key()], &rows[i])
	}
	m.limit = limitOf(groups, found)
	var pairs []pair
	partly := map[key][]*wanted{}
	for k, group := range groups {
		of, cut := m.pairsOf(group, found[k])
		pairs, partly[k] = append(pairs, of...), cut
	}
	slices.SortFunc(pairs, func(a, b pair) int {
		return cmp.Or(cmp.Compare(a.days, b.days), cmp.Compare(b.score, a.score),
			a.other.compare(*b.other), cmp.Compare(a.row.N, b.row.N))
	})
	for _, status := range []string{matched, possible} {
		for _, p := range pairs {
			if p.agrees == (status == matched) && !m.done[p.row.N] && m.isFree(p.other) {
				m.assign(p.row, p.other, status)
			}
		}
	}
	for k, group := range partly {
		m.assignRest(group, found[k])
	}
	slices.SortFunc(m.results, func(a, b result) int { return cmp.Compare(a.n, b.n) })
}

func (m *matching) isFree(e *existing) bool {
	return !slices.ContainsFunc(e.Parts, func(id uuid.UUID) bool {
		return m.taken[id] || m.used[id]
	})
}

func (m *matching) assign(r *wanted, e *existing, status string) {
	m.done[r.N] = true
	for _, id := range e.Parts {
		m.used[id] = true
	}
	m.results = append(m.results, result{r.N, e.ID, status})
}

// assignRest makes free transactions possible ones of rows that were compared with some of the near
// transactions only. Transactions of the day of a row precede earlier and later ones. It reads each
// transaction three times at most.
func (m *matching) assignRest(rows []*wanted, found []existing) {
	rows = slices.DeleteFunc(rows, func(r *wanted) bool { return m.done[r.N] })
	slices.SortStableFunc(rows, func(a, b *wanted) int { return a.Day.Compare(b.Day) })
	imported := sort.Search(len(found), func(i int) bool { return found[i].Imported })
	for _, pass := range []struct {
		found    []existing
		distance time.Duration
	}{{found[:imported], 0}, {found[imported:], 0}, {found[:imported], maxDays * day}} {
		left := pass.found
		rows = slices.DeleteFunc(rows, func(r *wanted) bool {
			for len(left) > 0 &&
				(r.Day.Sub(left[0].Day) > pass.distance || !m.isFree(&left[0])) {
				left = left[1:]
			}
			if len(left) == 0 || left[0].Day.Sub(r.Day) > pass.distance {
				return false
			}
			m.assign(r, &left[0], possible)
			return true
		})
	}
}

// pairsOf returns the pairs of rows and transactions with the same key that may be the same
// payment. In a large group, a row with the day and the payee of a transaction is paired with it
// alone. partly has the rows that were compared with some of the near transactions only.
func (m *matching) pairsOf(rows []*wanted, found []existing) (pairs []pair, partly []*wanted) {
	limit := min(len(found), m.limit)
	var equal map[*wanted]int
	if len(rows)*len(found) > maxPairs {
		limit = min(limit, maxCandidates)
	}
	if limit < len(found) {
		equal = equalTexts(rows, found)
	}
	texts := make([]words, len(found))
	for _, r := range rows {
		indexes, more := near(r.Day, len(found), in(found), limit)
		if i, ok := equal[r]; ok {
			more = more || len(indexes) > 1
			indexes = []int{i}
		}
		if more {
			partly = append(partly, r)
		}
		if len(indexes) == 0 {
			continue
		}
		own := wordsOf(r.facts)
		for _, i := range indexes {
			e := &found[i]
			if texts[i].all == nil {
				texts[i] = wordsOf(e.facts)
			}
			m.compared++
			p := pair{r, e, int(e.Day.Sub(r.Day).Abs() / day), compare(own, texts[i])}
			isLeg := e.OtherWallet != nil && !e.Imported
			if isLeg && r.TransferWalletID != nil && *r.TransferWalletID == *e.OtherWallet {
				p.likeness = likeness{1, true}
			}
			if p.days == 0 || isLeg || p.agrees && p.score > 0 {
				pairs = append(pairs, p)
			}
		}
	}
	return pairs, partly
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
		t := text(e.facts)
		waiting[t] = append(waiting[t], i)
	}
	equal := map[*wanted]int{}
	for _, r := range rows {
		if t := text(r.facts); len(waiting[t]) > 0 {
			equal[r], waiting[t] = waiting[t][0], waiting[t][1:]
		}
	}
	return equal
}
