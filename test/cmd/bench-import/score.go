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

func (s *score) add(found result) {
	if found.expected == "error" {
		s.broken++
		s.rejected += one(found.right)
		return
	}
	s.files++
	s.exact += one(found.right)
	s.rows, s.hit, s.got = s.rows+found.rows, s.hit+found.hit, s.got+found.got
	s.currencies += found.currencies
	s.currencyRight += found.currencyRight
	s.payees, s.payeeRight = s.payees+found.payees, s.payeeRight+found.payeeRight
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
func judge(label label, prediction prediction) result {
	got := count(prediction.Rows, key)
	found := result{expected: label.Expect, got: len(prediction.Rows)}
	if label.Expect == "error" {
		found.right = prediction.Error != "" &&
			(len(prediction.Rows) == 0 || equal(got, count(label.Rows, key)))
		return found
	}
	best := label.Rows
	for _, other := range label.Also {
		want, before := count(other, key), count(best, key)
		if equal(want, got) || common(want, got) > common(before, got) {
			best = other
		}
	}
	want := count(best, key)
	found.rows, found.hit = len(best), common(want, got)
	found.right = equal(want, got) && (prediction.Error == "" || len(best) == 0)
	currency := func(r row) string { return key(r) + " " + strings.ToUpper(r.Currency) }
	known := make([]row, 0, len(best))
	for _, b := range best {
		if b.Currency == "" {
			b.Currency = label.Currency
		}
		if b.Currency != "" {
			known = append(known, b)
		}
	}
	found.currencies = len(known)
	found.currencyRight = common(count(known, currency), count(prediction.Rows, currency))
	payee := func(r row) string {
		return key(r) + " " + strings.Join(strings.Fields(strings.ToLower(r.Payee)), " ")
	}
	var named []row
	for _, b := range best {
		if b.Payee != "" {
			named = append(named, b)
		}
	}
	found.payees, found.payeeRight = len(named), common(count(named, payee),
		count(prediction.Rows, payee))
	return found
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
