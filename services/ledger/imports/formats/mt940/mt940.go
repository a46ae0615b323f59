// Package mt940 parses MT940 and MT942, the statements of SWIFT as text.
//
// A file consists of fields with numbers. Field 25 is the account, 60 and 62 are the balances, 61
// is an entry, and the field 86 after it has the texts of the entry in the form of the bank's
// country. The blocks of SWIFT around the fields are optional. If the balances do not match the
// entries, the file gets the warning BALANCE_MISMATCH.
//
// An entry has the entry date, or the value date if there is none. Its external id is the bank's
// reference together with the day, because banks use references again.
//
//   - mt940.go: the entries and balances. Start reading at Parse. fields.go: the fields of a file
//   - details.go: payee and description of a field 86
package mt940

import (
	"errors"
	"iter"
	"regexp"
	"strings"
	"time"

	"github.com/coffer-budget/coffer/services/ledger/imports/formats/scan"
	"github.com/coffer-budget/coffer/services/ledger/imports/formats/statement"
	"github.com/coffer-budget/coffer/services/ledger/imports/formats/written"
)

// entryLine is field 61: value date, entry date, debit or credit mark, funds code, amount, type of
// transaction and references.
var entryLine = regexp.MustCompile(`^(\d{6})\s*(\d{4})?\s*(R[CD]|E[CD]|[CD])([A-Z])?\s*` +
	`(\d[\d.]*,?\d*)\s*([A-Z][A-Z0-9 ]{3})?(.*)$`)

// balanceLine is field 60, 62, 64 or 34F: mark, date, currency and amount.
var balanceLine = regexp.MustCompile(`^([CD]?)(\d{6})?([A-Z]{3})([CD]?)\s*(-?\d[\d.]*,?\d*)`)

// parser is the state of an MT940 or MT942 file: the current statement and entry. An entry is field
// 61 with the field 86 after it, so a record is complete only when the next entry, a balance or the
// end of the file follows.
type parser struct {
	in         *statement.Input
	account    string
	currency   string
	opening    string
	total      written.Sum
	record     *statement.Record
	details    string // Field 86 of the current entry.
	statements int
}

// Parse parses MT940 and MT942.
func Parse(in *statement.Input) iter.Seq2[statement.Record, error] {
	return func(yield func(statement.Record, error) bool) {
		parser := &parser{in: in}
		var last field
		err := readFields(scan.NewLines(in.Text), func(f field) (bool, error) {
			last = f
			record, err := parser.handle(f)
			if err != nil || record == nil {
				return true, err
			}
			return yield(*record, nil), nil
		})
		switch {
		case errors.Is(err, errStopped):
			return
		case err != nil:
			yield(statement.Record{}, err)
			return
		}
		if record := parser.finish(); record != nil && !yield(*record, nil) {
			return
		}
		if parser.statements == 0 {
			yield(statement.Record{},
				scan.Errorf(last.line, "the file has no statement: no balance and no entry"))
		}
	}
}

// handle processes a field. It returns a record that the field completes.
func (p *parser) handle(field field) (*statement.Record, error) {
	first := strings.TrimSpace(field.lines[0])
	switch {
	case field.tag == "86" || p.record != nil && field.tag == "25" && strings.Contains(first, "?"):
		// Some files have the tag of the account in front of an entry's details.
		p.details += joinDetails(field.lines)
		return nil, nil
	case field.tag == "61":
		record := p.finish()
		p.entry(field)
		return record, nil
	case field.tag == "NS":
		return nil, nil
	}
	record := p.finish()
	switch field.tag {
	case "20":
		p.opening, p.total = "", written.Sum{}
	case "25", "25P":
		p.account = statement.Text(first, statement.MaxName)
		_, err := p.in.Account(p.account)
		return record, err
	case "60F", "60M":
		p.total = written.Sum{}
		if balance, day, ok := p.balance(first); ok {
			p.opening = balance
			return record, p.describe(func(a *statement.Account) {
				if a.Opening == "" {
					a.Opening, a.OpeningDate = balance, day
				}
			})
		}
	case "62F", "62M":
		if balance, day, ok := p.balance(first); ok {
			p.compare(balance)
			return record, p.describe(func(a *statement.Account) {
				a.Closing, a.ClosingDate = balance, day
			})
		}
	case "34F", "90D", "90C":
		if m := regexp.MustCompile(`^\d*([A-Z]{3})`).FindStringSubmatch(first); m != nil {
			p.currency = m[1]
		}
	}
	return record, nil
}

// balance reads a balance, and sets the currency.
func (p *parser) balance(s string) (amount string, day time.Time, ok bool) {
	p.statements++
	match := balanceLine.FindStringSubmatch(s)
	if match == nil {
		return "", day, false
	}
	p.currency = match[3]
	if amount, ok = written.ParseLoose(match[5]); !ok {
		return "", day, false
	}
	if match[1] == "D" || match[4] == "D" {
		amount = written.Negate(amount)
	}
	day, _ = parseDate(match[2])
	return amount, day, true
}

// compare warns if the entries do not add up to the difference of the balances. A file has a pair
// of balances per day or per page, and the closing balance of one is the opening balance of the
// next.
func (p *parser) compare(closing string) {
	if p.opening == "" {
		return
	}
	total := p.total
	total.Add(p.opening)
	if total.Differs(written.SumOf(closing)) {
		p.in.Assume(statement.BalanceMismatch, statement.Mismatch(p.opening, total, closing))
	}
	p.opening = closing
	p.total = written.Sum{}
}

// describe changes the current account.
func (p *parser) describe(change func(*statement.Account)) error {
	account, err := p.in.Account(p.account)
	if err == nil {
		account.Currency = p.currency
		change(account)
	}
	return err
}

// parseDate reads YYMMDD.
func parseDate(s string) (time.Time, bool) {
	if len(s) != 6 || !written.IsDigitsOnly(s) {
		return time.Time{}, false
	}
	d, ok := written.ScanDate(s)
	if !ok {
		return time.Time{}, false
	}
	return d.Date(written.YMD)
}

// entry starts a record with field 61.
func (p *parser) entry(field field) {
	p.statements++
	record := &statement.Record{Line: field.line, Account: p.account, Currency: p.currency}
	p.record = record
	match := entryLine.FindStringSubmatch(strings.TrimSpace(field.lines[0]))
	if match == nil {
		record.Problem = "field 61 cannot be read"
		return
	}
	var ok bool
	if record.Date, ok = entryDate(match[1], match[2]); !ok {
		record.Problem = "the date cannot be read"
		return
	}
	if record.Amount, ok = written.ParseLoose(strings.TrimSuffix(match[5], ",")); !ok {
		record.Problem = "the amount cannot be read"
		return
	}
	// RC takes back a credit, and RD a debit.
	if mark := match[3]; mark == "D" || mark == "ED" || mark == "RC" {
		record.Amount = written.Negate(record.Amount)
	}
	p.total.Add(record.Amount)
	_, bank, _ := strings.Cut(match[7], "//")
	bank = statement.OneLine(bank)
	if statement.Distinctive(bank) && strings.ContainsAny(bank, "0123456789") && bank != "NONREF" {
		// A bank may use a reference again on another day.
		record.ExternalID = "mt940:" + record.Date.Format("20060102") + ":" + bank
	}
	record.Notes = strings.Join(field.lines[1:], " ")
}

// entryDate returns the entry date, or the value date if there is no valid entry date. The entry
// date has no year in the file. It gets the year in which it is nearest to the value date, so that
// an entry of January with a value date of December is right.
func entryDate(value, entry string) (time.Time, bool) {
	day, ok := parseDate(value)
	if entry == "" {
		return day, ok
	}
	if !ok {
		return parseDate(value[:2] + entry)
	}
	best := day
	nearest := time.Duration(1<<63 - 1)
	for year := day.Year() - 1; year <= day.Year()+1; year++ {
		month := int(entry[0]-'0')*10 + int(entry[1]-'0')
		dayOfMonth := int(entry[2]-'0')*10 + int(entry[3]-'0')
		if t, ok := written.Day(year, month, dayOfMonth); ok && t.Sub(day).Abs() < nearest {
			best, nearest = t, t.Sub(day).Abs()
		}
	}
	return best, true
}

// finish completes the current entry with its details, or returns nil if there is none.
func (p *parser) finish() *statement.Record {
	record := p.record
	if record == nil {
		return nil
	}
	details := parseDetails(p.details)
	supplement := statement.OneLine(record.Notes)
	record.Payee, record.Description, record.Notes = details.payee, details.text, details.notes
	if record.Description == "" {
		record.Description = supplement
	}
	p.record, p.details = nil, ""
	return record
}
