package main

import (
	"math/big"
	"strings"
)

type result struct {
	// expected is the label's Expect. right is set if all rows are right, or if a broken file was
	// rejected.
	expected string
	right    bool
	// rows is the number of labeled rows, got of returned rows, and hit of rows that both have.
	rows, hit, got int
	// currencies and payees are the numbers of labeled rows that state one.
	currencies, currencyRight int
	payees, payeeRight        int
}

type score struct {
	files, exact, broken, rejected                                int
	rows, hit, got, currencies, currencyRight, payees, payeeRight int
}

func (s *score) add(r result) {
	if r.expected == "error" {
		s.broken++
		s.rejected += one(r.right)
		return
	}
	s.files++
	s.exact += one(r.right)
	s.rows, s.hit, s.got = s.rows+r.rows, s.hit+r.hit, s.got+r.got
	s.currencies, s.currencyRight = s.currencies+r.currencies, s.currencyRight+r.currencyRight
	s.payees, s.payeeRight = s.payees+r.payees, s.payeeRight+r.payeeRight
}

func one(b bool) int {
	if b {
		return 1
	}
	return 0
}

// judge compares a prediction with a label. The order of rows does not matter, and equal rows count
// as often as they occur. If the label has several lists, the one that the prediction fits best
// counts.
func judge(l label, p prediction) result {
	got := count(p.Rows, key)
	r := result{expected: l.Expect, got: len(p.Rows)}
	if l.Expect == "error" {
		r.right = p.Error != "" && (len(p.Rows) == 0 || equal(got, count(l.Rows, key)))
		return r
	}
	best := l.Rows
	for _, other := range l.Also {
		want, before := count(other, key), count(best, key)
		if equal(want, got) || common(want, got) > common(before, got) {
			best = other
		}
	}
	want := count(best, key)
	r.rows, r.hit = len(best), common(want, got)
	r.right = equal(want, got) && (p.Error == "" || len(best) == 0)
	currency := func(r row) string { return key(r) + " " + strings.ToUpper(r.Currency) }
	known := make([]row, 0, len(best))
	for _, b := range best {
		if b.Currency == "" {
			b.Currency = l.Currency
		}
		if b.Currency != "" {
			known = append(known, b)
		}
	}
	r.currencies = len(known)
	r.currencyRight = common(count(known, currency), count(p.Rows, currency))
	payee := func(r row) string {
		return key(r) + " " + strings.Join(strings.Fields(strings.ToLower(r.Payee)), " ")
	}
	var named []row
	for _, b := range best {
		if b.Payee != "" {
			named = append(named, b)
		}
	}
	r.payees, r.payeeRight = len(named), common(count(named, payee), count(p.Rows, payee))
	return r
}

// key returns date and amount of a row, with equal amounts in one form.
func key(r row) string {
	amount, ok := new(big.Rat).SetString(r.Amount)
	if !ok {
		return r.Date + " unreadable " + r.Amount
	}
	return r.Date + " " + amount.RatString()
}

func count(rows []row, key func(row) string) map[string]int {
	n := make(map[string]int)
	for _, r := range rows {
		n[key(r)]++
	}
	return n
}

func common(a, b map[string]int) int {
	n := 0
	for k, c := range a {
		n += min(c, b[k])
	}
	return n
}

func equal(a, b map[string]int) bool {
	if len(a) != len(b) {
		return false
	}
	for k, c := range a {
		if b[k] != c {
			return false
		}
	}
	return true
}
