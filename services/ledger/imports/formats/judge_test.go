package formats_test

import (
	"cmp"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/coffer-budget/coffer/internal/money"
	"github.com/coffer-budget/coffer/services/ledger/imports/formats"
	"github.com/coffer-budget/coffer/services/ledger/imports/formats/statement"
	"github.com/coffer-budget/coffer/services/ledger/imports/formats/written"
)

// reading is a file as the importer shows it before the commit.
type reading struct {
	records []statement.Record
	facts   formats.Facts
	// wallet is the currency of the wallet, in which rows without a currency are read.
	wallet string
	err    error // The file is rejected, or its mapping lacks columns.
}

// readLayout reads a file like an upload.
func readLayout(t *testing.T, path string) reading {
	t.Helper()
	file, err := os.Open(path)
	require.NoError(t, err)
	defer file.Close()
	opened, err := formats.Open(file, statement.Options{})
	if err != nil {
		return reading{err: err}
	}
	return read(opened)
}

// read reads an opened file by the proposed mapping.
func read(file *formats.File) reading {
	var r reading
	for record, err := range file.Records() {
		if err != nil {
			r.err = err
			return r
		}
		r.records = append(r.records, record)
	}
	if r.facts = file.Facts(); r.facts.Mapping != nil {
		reader, err := formats.NewReader(r.facts.Mapping)
		if err != nil {
			r.err = err
		}
		if reader == nil {
			return r
		}
		for i, record := range r.records {
			r.records[i] = reader.Record(record)
		}
	}
	return r
}

const (
	resultExact  = "exact"
	resultWarned = "WARNED"
	resultSilent = "SILENT"
)

// kinds are the kinds of errors, with the warnings that name them.
var kinds = map[string][]string{
	"currency": {statement.CurrencyAssumed},
	"date":     {statement.DateOrderAssumed},
	"sign":     {statement.BalanceMismatch, statement.SignAssumed},
	"amount":   {statement.BalanceMismatch, statement.DecimalsAssumed, statement.AmountAssumed},
	"extra":    {statement.StatusAssumed, statement.BalanceMismatch},
	"missing":  nil, // Only problems of rows name missing rows.
}

// thousandths is an amount of a currency with three decimals.
var thousandths = regexp.MustCompile(`\.\d{3}$`)

// judgeAll compares the rows with the labels, and with the other lists of rows that are right, too,
// such as those with the days of the payments instead of the postings.
func (r *reading) judgeAll(l layout) (result, wrong string) {
	result, wrong = r.judge(l)
	for _, rows := range l.Also {
		other := l
		if other.Rows = rows; result != resultExact {
			if exact, _ := r.judge(other); exact == resultExact {
				return exact, ""
			}
		}
	}
	return result, wrong
}

// judge compares the rows with the labels. It returns the result, and the kinds of the errors.
func (r *reading) judge(l layout) (result, wrong string) {
	if r.err != nil {
		if len(l.Rows) == 0 {
			return resultExact, ""
		}
		return resultWarned, "rejected: " + r.err.Error()
	}
	for _, w := range l.Rows {
		if l.Currency == nil && thousandths.MatchString(w.Amount) {
			r.wallet = "KWD" // The user has a wallet in the currency of the bank.
		}
	}
	want, got := make([]row, len(l.Rows)), r.rows()
	for i, w := range l.Rows {
		want[i] = row{Date: w.Date, Amount: written.TrimDecimals(w.Amount), Currency: w.Currency}
	}
	pair := func(same func(a, b row) bool) (n int) {
		for i := 0; i < len(want); {
			j := slices.IndexFunc(got, func(g row) bool { return same(want[i], g) })
			if j < 0 {
				i++
				continue
			}
			want, got, n = slices.Delete(want, i, i+1), slices.Delete(got, j, j+1), n+1
		}
		return n
	}
	absolute := func(s string) string { return strings.TrimPrefix(s, "-") }
	pair(func(a, b row) bool { return a == b })
	found := map[string]int{
		"currency": pair(func(a, b row) bool { return a.Date == b.Date && a.Amount == b.Amount }),
		"sign": pair(func(a, b row) bool {
			return a.Date == b.Date && absolute(a.Amount) == absolute(b.Amount)
		}),
		"date": pair(func(a, b row) bool { return a.Amount == b.Amount }),
	}
	both := pair(func(a, b row) bool { return absolute(a.Amount) == absolute(b.Amount) })
	found["amount"] = pair(func(a, b row) bool { return a.Date == b.Date })
	found["date"], found["sign"] = found["date"]+both, found["sign"]+both
	other := pair(func(_, _ row) bool { return true })
	found["date"], found["amount"] = found["date"]+other, found["amount"]+other
	found["extra"], found["missing"] = len(got), len(want)
	return r.result(found)
}

// result returns the result for a number of errors of each kind.
func (r *reading) result(found map[string]int) (result, wrong string) {
	var all []string
	result = resultExact
	for _, kind := range []string{"date", "sign", "amount", "currency", "missing", "extra"} {
		n := found[kind]
		if n == 0 {
			continue
		}
		named := slices.ContainsFunc(kinds[kind], func(code string) bool {
			return slices.Contains(r.facts.Warnings, code)
		}) || r.problems() >= n && kind == "missing"
		switch {
		case !named:
			result = resultSilent
		case result == resultExact:
			result = resultWarned
		}
		all = append(all, fmt.Sprintf("%d %s", n, kind))
	}
	return result, strings.Join(all, ", ")
}

// rows returns the rows that a commit would book, in the form of labels without texts.
func (r *reading) rows() []row {
	var all []row
	for _, record := range r.records {
		if r.isReady(record) {
			all = append(all, row{
				Date: record.Date.Format("2006-01-02"), Amount: written.TrimDecimals(record.Amount),
				Currency: record.Currency,
			})
		}
	}
	return all
}

// problems returns the number of rows that the user sees as invalid.
func (r *reading) problems() int {
	n := 0
	for _, record := range r.records {
		if _, problem := r.minorOf(record); problem && !record.Skip && !record.Opening {
			n++
		}
	}
	return n
}

// isReady reports whether a commit would book a record. It skips opening balances and amounts of 0.
func (r *reading) isReady(record statement.Record) bool {
	minor, problem := r.minorOf(record)
	return !record.Skip && !record.Opening && !problem && minor != 0
}

// minorOf returns the amount of a record, or reports that the upload shows a problem. It also
// rejects amounts that the currency does not have, and currencies that Coffer does not have. The
// upload also shows that the day of a pending payment without one is assumed.
func (r *reading) minorOf(record statement.Record) (minor int64, problem bool) {
	currency, _ := money.ParseCurrency(cmp.Or(r.wallet, "EUR"))
	minor, _, err := record.Minor(currency)
	return minor, record.Problem != "" || err != nil || record.Date.IsZero()
}

// countTexts counts the rows whose label has a payee or a text, and those in which a person sees
// it: the payee as the payee, and the text anywhere. It does the same for pending rows. A row is
// found by its date and amount.
func (r *reading) countTexts(l layout, counts map[string]int) {
	used := make(map[int]bool)
	for _, want := range l.Rows {
		i := slices.IndexFunc(r.records, func(record statement.Record) bool {
			return !used[record.N] && r.isReady(record) &&
				record.Date.Format("2006-01-02") == want.Date &&
				written.TrimDecimals(record.Amount) == written.TrimDecimals(want.Amount)
		})
		var payee, all, status string
		if i >= 0 {
			record := r.records[i]
			status = record.Status
			used[record.N] = true
			payee = written.Fold(record.Payee)
			all = written.Fold(record.Payee + " " + record.Description + " " + record.Notes)
		}
		if want.Status == written.Pending {
			counts["pendings"]++
			if status == written.Pending {
				counts["pending"]++
			}
		}
		if want.Payee != "" {
			counts["payees"]++
			if payee == written.Fold(want.Payee) {
				counts["payee"]++
			}
		}
		if want.Text != "" {
			counts["texts"]++
			if strings.Contains(all, written.Fold(want.Text)) {
				counts["text"]++
			}
		}
	}
}

// blocks reports whether a commit waits for a choice of the user.
func (r *reading) blocks() bool {
	return slices.ContainsFunc(r.facts.Warnings, func(code string) bool {
		_, blocks := statement.Blocking[code]
		return blocks
	})
}
