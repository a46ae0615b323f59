// Package firefly parses the export of transactions of Firefly III, a CSV file.
//
// A row is a journal, from a source to a destination. Its type decides which of the two is the
// user's account, and so the sign of the amount. Consecutive journals of one group and one account
// become a record with a split. A transfer between two accounts of the user is one record, and its
// foreign amount is the amount of the other side. Budgets and bills are skipped with a warning. A
// payment to a liability and one from it are transfers, whatever their type.
//
// The columns have fixed names, so the records are complete and need no mapping. Start reading at
// Parse.
package firefly

import (
	"cmp"
	"errors"
	"io"
	"iter"
	"strings"
	"time"

	"github.com/coffer-budget/coffer/services/ledger/imports/formats/scan"
	"github.com/coffer-budget/coffer/services/ledger/imports/formats/statement"
	"github.com/coffer-budget/coffer/services/ledger/imports/formats/written"
)

// parser is the state of an export of Firefly III. A journal is a row. A split is several journals
// with one group, which the export writes one after the other.
type parser struct {
	in      *statement.Input
	columns map[string]int
	group   string            // Of the current record.
	record  *statement.Record // The record of the last row; the next row may be another part of it.
	total   written.Sum
}

// DetectHeading reports whether a row is the heading of Firefly III's export.
func DetectHeading(cells []string) bool {
	found := 0
	for _, c := range cells {
		switch c {
		case "journal_id", "source_name", "destination_name", "type", "amount":
			found++
		}
	}
	return found == 5
}

// Parse parses the export of transactions of Firefly III. Consecutive journals of one group and one
// account become a record with splits.
func Parse(in *statement.Input, delimiter byte) iter.Seq2[statement.Record, error] {
	return func(yield func(statement.Record, error) bool) {
		source := &scan.Rows{Lines: scan.NewLines(in.Text), Delimiter: delimiter}
		parser := &parser{in: in, columns: make(map[string]int)}
		heading, _, err := source.Next()
		for i, title := range heading {
			parser.columns[title] = i
		}
		for err == nil {
			var cells []string
			var line int
			if cells, line, err = source.Next(); err != nil {
				break
			}
			var done *statement.Record
			if done, err = parser.row(cells, line); done != nil && !yield(*done, nil) {
				return
			}
		}
		if !errors.Is(err, io.EOF) {
			yield(statement.Record{}, err)
			return
		}
		if done := parser.finish(); done != nil {
			yield(*done, nil)
		}
	}
}

// row processes a journal. It returns the previous record if the journal does not continue it.
func (p *parser) row(cells []string, line int) (*statement.Record, error) {
	cell := func(name string) string {
		if i, ok := p.columns[name]; ok && i < len(cells) {
			return cells[i]
		}
		return ""
	}
	if cell("budget") != "" || cell("bill") != "" {
		p.in.Warn(statement.BudgetsSkipped)
	}
	record := p.journal(cell)
	record.Line = line
	account, err := p.in.Account(record.Account)
	if err != nil {
		return nil, err
	}
	account.Name, account.Currency = account.Key, cmp.Or(account.Currency, record.Currency)
	if record.Opening && record.Problem == "" {
		account.Opening, account.OpeningDate = record.Amount, record.Date
	}
	if p.continues(&record, cell("group_id")) {
		p.add(&record)
		return nil, nil
	}
	done := p.finish()
	p.record, p.group, p.total = &record, cell("group_id"), written.SumOf(record.Amount)
	if title := cell("group_title"); title != "" && record.Problem == "" {
		p.record.Description = title
		p.record.Splits = []statement.Split{{
			Amount: record.Amount, Category: record.Category, Description: cell("description"),
		}}
	}
	return done, nil
}

func (p *parser) journal(cell func(string) string) statement.Record {
	record := statement.Record{
		Currency: strings.ToUpper(cell("currency_code")), Description: cell("description"),
		Category: cell("category"), Notes: cell("notes"),
	}
	source, destination := cell("source_name"), cell("destination_name")
	amount, _, ok := written.ParseAmount(cell("amount"), written.Dot)
	amount = written.Absolute(shorten(amount))
	if id := cell("journal_id"); id != "" {
		record.ExternalID = "firefly:" + id
	}
	foreign, _, _ := written.ParseAmount(cell("foreign_amount"), written.Dot)
	foreign = written.Absolute(shorten(foreign))
	foreignCurrency := strings.ToUpper(cell("foreign_currency_code"))
	kind := strings.ToLower(cell("type"))
	if kind == "withdrawal" && isLiability(cell("destination_type")) ||
		kind == "deposit" && isLiability(cell("source_type")) {
		kind = "transfer"
	}
	switch kind {
	case "withdrawal":
		record.Account, record.Payee, record.Amount = source, destination, written.Negate(amount)
	case "deposit":
		record.Account, record.Payee, record.Amount = destination, source, amount
	case "transfer":
		record.Account, record.Amount = source, written.Negate(amount)
		record.Transfer = &statement.Transfer{
			Account: statement.Text(destination, statement.MaxName),
		}
		if foreignCurrency != "" && foreignCurrency != record.Currency {
			record.Transfer.Amount, record.Transfer.Currency = foreign, foreignCurrency
		}
		foreignCurrency = ""
	case "opening balance", "liability credit", "reconciliation":
		record.Opening = kind != "reconciliation"
		record.Account, record.Amount = destination, amount
		if isOpposite(cell("destination_type")) {
			record.Account, record.Amount = source, written.Negate(amount)
		}
	default:
		record.Problem = "the type of the journal is unknown"
	}
	if foreignCurrency != "" && strings.Trim(foreign, "0.") != "" {
		record.Notes = strings.TrimSpace(record.Notes + "\n" + foreign + " " + foreignCurrency)
	}
	var day bool
	if record.Date, day = parseDate(cell("date")); !day {
		record.Problem = "the date is missing or cannot be read"
	} else if !ok && record.Problem == "" {
		record.Problem = "the amount is missing or cannot be read"
	}
	for tag := range strings.SplitSeq(cell("tags"), ",") {
		if tag = statement.Text(tag, statement.MaxName); tag != "" {
			record.Tags = append(record.Tags, tag)
		}
	}
	return record
}

// isLiability reports whether an account of this type is a debt. Firefly III calls a payment to it
// a withdrawal, and one from it a deposit, but both change its balance. So they are transfers.
func isLiability(accountType string) bool {
	switch strings.ToLower(accountType) {
	case "loan", "debt", "mortgage":
		return true
	}
	return false
}

// isOpposite reports whether an account of this type is the technical other side of an opening
// balance or a reconciliation.
func isOpposite(accountType string) bool {
	switch strings.ToLower(accountType) {
	case "initial balance account", "liability credit account", "reconciliation account":
		return true
	}
	return false
}

// parseDate reads a date as in ISO 8601, with or without a time. The civil date is used as written.
func parseDate(s string) (time.Time, bool) {
	d, ok := written.ScanDate(s)
	if !ok {
		return time.Time{}, false
	}
	return d.Date(written.YMD)
}

// shorten removes the zeros after the second decimal. Firefly III writes twelve decimals.
func shorten(amount string) string {
	whole, frac, ok := strings.Cut(amount, ".")
	if !ok {
		return amount
	}
	for len(frac) > 2 && strings.HasSuffix(frac, "0") {
		frac = frac[:len(frac)-1]
	}
	return whole + "." + frac
}

// continues reports whether a journal is another part of the current record.
func (p *parser) continues(r *statement.Record, group string) bool {
	whole := p.record
	return whole != nil && group != "" && group == p.group &&
		len(whole.Splits) > 0 && len(whole.Splits) < statement.MaxParts &&
		r.Problem == "" && whole.Problem == "" && !r.Opening && !whole.Opening &&
		r.Transfer == nil && whole.Transfer == nil &&
		r.Account == whole.Account && r.Currency == whole.Currency && r.Date.Equal(whole.Date)
}

// add adds a journal as a part of the current record.
func (p *parser) add(r *statement.Record) {
	p.total.Add(r.Amount)
	p.record.Splits = append(p.record.Splits,
		statement.Split{Amount: r.Amount, Category: r.Category, Description: r.Description})
	if p.record.Payee != r.Payee {
		p.record.Payee = ""
	}
}

// finish completes the current record, or returns nil if there is none.
func (p *parser) finish() *statement.Record {
	record := p.record
	p.record = nil
	if record == nil {
		return nil
	}
	if len(record.Splits) == 1 {
		record.Description = cmp.Or(record.Splits[0].Description, record.Description)
		record.Splits = nil
	}
	if len(record.Splits) > 1 {
		amount, ok := p.total.Text()
		if !ok {
			record.Problem = "the parts of the split cannot be added up"
			return record
		}
		record.Amount, record.Category = amount, ""
		for i := range record.Splits {
			record.Splits[i].Category = statement.Text(record.Splits[i].Category, statement.MaxName)
			record.Splits[i].Description = statement.Text(record.Splits[i].Description,
				statement.MaxText)
		}
	}
	return record
}
