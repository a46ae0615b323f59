package formats

import (
	"errors"
	"fmt"
	"io"
	"iter"
	"regexp"
	"slices"
	"strings"

	"github.com/coffer-budget/coffer/services/ledger/imports/formats/scan"
	"github.com/coffer-budget/coffer/services/ledger/imports/formats/written"
)

// The cells of a QIF record. Further cells are the parts of a split, three each: category, memo and amount.
const (
	qifDate = iota
	qifAmount
	qifPayee
	qifMemo
	qifNumber
	qifCategory
	qifAccount
	qifParts
)

// maxParts is the maximum number of parts of a split.
const maxParts = 50

// qifParser is the state of a QIF file: the current section and record. A line is a field: its first character is the code, and the rest
// the value. A line with ^ ends a record.
type qifParser struct {
	in       *input
	profile  *profile
	section  string // The lower-case name after "!Type:", or "account".
	account  string
	sections int // With transactions, also of investments.
	cells    []string
	filled   bool
	line     int
	size     int
}

// qifAccounts are the sections with transactions of an account.
var qifAccounts = map[string]bool{"bank": true, "cash": true, "ccard": true, "oth a": true, "oth l": true, "other": true, "bank account": true}

// parseQIF parses QIF. Its records have cells, because the file does not say the order of day and month.
func parseQIF(in *input) iter.Seq2[Record, error] {
	in.mapped = true
	return func(yield func(Record, error) bool) {
		p := &qifParser{in: in, profile: &profile{heading: -1, decided: true, options: in.options}}
		p.reset()
		if head, _ := in.text.Peek(1); len(head) > 0 && head[0] != '!' {
			p.section = "bank"
		}
		source := scan.NewLines(in.text)
		for {
			text, err := source.Next()
			atEnd := errors.Is(err, io.EOF)
			if err != nil && !atEnd {
				yield(Record{}, err)
				return
			}
			record, err := p.handle(strings.TrimSpace(string(text)), source.Line, atEnd)
			if err != nil {
				yield(Record{}, err)
				return
			}
			if record != nil && !yield(*record, nil) {
				return
			}
			if atEnd {
				break
			}
		}
		if p.sections == 0 {
			yield(Record{}, &scan.ParseError{Line: source.Line, Message: "the file has no transactions of an account: no !Type:Bank, Cash, CCard, Oth A or Oth L"})
			return
		}
		p.propose()
	}
}

// qifBare begins a file without a header: the fields of a first record.
var qifBare = regexp.MustCompile(`^(?:[DTUPMNLC][^\r\n]*[\r\n]+)*D[ \d][^\r\n]*[\r\n]+(?:[TUPMNLCASE$][^\r\n]*[\r\n]+)*\^`)

// reset starts a record.
func (p *qifParser) reset() {
	p.cells, p.filled, p.line, p.size = make([]string, qifParts), false, 0, 0
}

// handle processes a line. It returns a record that the line completes.
func (p *qifParser) handle(text string, line int, atEnd bool) (*Record, error) {
	switch {
	case atEnd || strings.HasPrefix(text, "^"):
		return p.end(), nil
	case text == "":
		return nil, nil
	case text[0] == '!':
		record := p.end()
		p.header(strings.ToLower(text))
		return record, nil
	}
	if p.line == 0 {
		p.line = line
	}
	if p.size += len(text); p.size > scan.MaxRow {
		return nil, &scan.ParseError{Line: p.line, Message: fmt.Sprintf("the record has more than %d bytes", scan.MaxRow)}
	}
	value := strings.TrimSpace(text[1:])
	switch {
	case p.section == "account":
		if text[0] == 'N' {
			p.account = cut(spaces(value), maxName)
		}
	case qifAccounts[p.section]:
		return nil, p.field(text[0], value)
	}
	return nil, nil
}

// header starts a section.
func (p *qifParser) header(text string) {
	name, isType := strings.CutPrefix(text, "!type:")
	name = strings.TrimSpace(name)
	switch {
	case isType && (qifAccounts[name] || name == ""):
		p.section = "bank"
		p.sections++
	case isType && (strings.HasPrefix(name, "inv") || name == "port"):
		p.in.warn(InvestmentsSkipped)
		p.section = name
		p.sections++
	case strings.HasPrefix(text, "!account"):
		p.section = "account"
	case isType:
		if p.section = name; name == "budget" {
			p.in.warn(BudgetsSkipped)
		}
	}
}

// field adds a field to the current record.
func (p *qifParser) field(code byte, value string) error {
	cell := -1
	switch code {
	case 'D':
		cell = qifDate
	case 'T':
		cell = qifAmount
	case 'U':
		if p.cells[qifAmount] == "" {
			cell = qifAmount
		}
	case 'P':
		cell = qifPayee
	case 'M':
		cell = qifMemo
	case 'N':
		cell = qifNumber
	case 'L':
		cell = qifCategory
	case 'S', 'E', '$', '%':
		return p.part(code, value)
	}
	if cell >= 0 && value != "" {
		p.cells[cell], p.filled = value, true
	}
	return nil
}

// part adds a field of a split's part. S starts a part, and E and $ belong to the last one.
func (p *qifParser) part(code byte, value string) error {
	n := len(p.cells)
	switch {
	case code == 'S':
		if (n-qifParts)/3 == maxParts {
			return &scan.ParseError{Line: p.line, Message: fmt.Sprintf("the split has more than %d parts", maxParts)}
		}
		p.cells = append(p.cells, value, "", "")
	case n == qifParts:
		return nil
	case code == 'E':
		p.cells[n-2] = value
	case code == '$':
		p.cells[n-1] = value
	}
	return nil
}

// end returns the current record, or nil if it is empty.
func (p *qifParser) end() *Record {
	defer p.reset()
	if !p.filled || !qifAccounts[p.section] {
		return nil
	}
	p.sections = max(p.sections, 1)
	p.cells[qifAccount] = p.account
	p.profile.rows++
	p.profile.count(p.cells[:qifPayee])
	return &Record{Line: p.line, Cells: slices.Clip(p.cells)}
}

// propose sets the mapping and the warnings.
func (p *qifParser) propose() {
	p.in.warn(CurrencyAssumed)
	m := &Mapping{Format: QIF, Encoding: "utf-8", AmountMode: Signed, DateLayout: "MM/DD/YYYY", DecimalMark: "."}
	columns := chosen{FieldDate: qifDate, FieldAmount: qifAmount}
	if len(p.profile.columns) > qifAmount && p.profile.columns[qifDate].dates() > 0 {
		c := &p.profile.columns[qifDate]
		order, assumed := c.order(p.in.options.Locale, p.profile.prefersDays())
		if m.DateLayout = c.example.Layout(order); assumed {
			p.in.warn(DateOrderAssumed)
		}
		if m.DecimalMark, assumed = p.profile.mark(columns, m); assumed {
			p.in.warn(DecimalsAssumed)
		}
	}
	p.in.facts.Mapping = m
}

// readQIF fills a record from its cells.
func (r *Reader) readQIF(record *Record) {
	cells := record.Cells
	if len(cells) < qifParts {
		record.Problem = "the record is incomplete"
		return
	}
	record.Account, record.Currency = cells[qifAccount], r.mapping.Currency
	var ok bool
	if record.Date, ok = written.ParseDate(cells[qifDate], r.order); !ok {
		record.Problem = "the date is missing or cannot be read"
		return
	}
	if record.Amount, _, ok = written.ParseAmount(cells[qifAmount], r.mark); !ok {
		record.Problem = "the amount is missing or cannot be read"
		return
	}
	record.Payee, record.Description = cells[qifPayee], cells[qifMemo]
	record.Category, record.Transfer, record.Tags = qifMeaning(cells[qifCategory])
	if number := cells[qifNumber]; strings.ContainsAny(number, "123456789") {
		record.Notes = number
	}
	if payee := written.Fold(record.Payee); payee == "opening balance" || payee == "anfangssaldo" || payee == "solde initial" {
		record.Opening, record.Transfer = true, nil
	}
	if len(cells) >= qifParts+6 {
		r.readParts(record, cells[qifParts:])
	} else if len(cells) == qifParts+3 && record.Category == "" && record.Transfer == nil {
		record.Category, record.Transfer, _ = qifMeaning(cells[qifParts])
	}
	if r.mapping.Invert {
		record.invert()
	}
}

// qifMeaning reads a category: "Food:Groceries/Class", or "[Account]" for a transfer.
func qifMeaning(s string) (category string, transfer *Transfer, tags []string) {
	s, class, _ := strings.Cut(s, "/")
	if class = cut(spaces(class), maxName); class != "" {
		tags = []string{class}
	}
	s = strings.TrimSpace(s)
	if strings.HasPrefix(s, "[") && strings.HasSuffix(s, "]") {
		return "", &Transfer{Account: cut(spaces(s[1:len(s)-1]), maxName)}, tags
	}
	if strings.HasPrefix(s, "--Split") {
		s = ""
	}
	return s, nil, tags
}

// readParts reads the parts of a split. If they do not add up to the amount, it omits them and states that in the notes, because the
// amount of the whole changed the balance.
func (r *Reader) readParts(record *Record, cells []string) {
	var total written.Sum
	var parts []Split
	for i := 0; i+2 < len(cells); i += 3 {
		amount, _, ok := written.ParseAmount(cells[i+2], r.mark)
		if !ok {
			record.Notes = "The file has parts of this transaction without an amount."
			return
		}
		part := Split{Amount: amount, Description: cut(spaces(cells[i+1]), maxText)}
		var transfer *Transfer
		if part.Category, transfer, _ = qifMeaning(cells[i]); transfer != nil {
			part.Account = transfer.Account
		}
		total.Add(amount)
		parts = append(parts, part)
	}
	if total.Unknown || total.Differs(written.SumOf(record.Amount)) {
		record.Notes = "The file has parts of this transaction that do not add up to its amount."
		return
	}
	record.Splits, record.Category, record.Transfer = parts, "", nil
}

// invert changes the signs of a record and its parts.
func (r *Record) invert() {
	r.Amount = written.Negate(r.Amount)
	for i := range r.Splits {
		r.Splits[i].Amount = written.Negate(r.Splits[i].Amount)
	}
}
