// Package qif parses QIF, the old format of Quicken, and reads its records.
//
// A line is a field: its first character is the code, and the rest the value. A line with ^ ends a
// record. A file has sections of accounts; those of investments and budgets are skipped with a
// warning, and lists of categories are ignored.
//
// QIF does not say the order of day and month or the decimal mark. So Parse yields records with
// cells and proposes a mapping, and Read converts the cells. The constants of qif.go define the
// cells. An entry becomes several records if parts of its split are transfers.
//
//   - qif.go: the file. Start reading at Parse
//   - read.go: the conversion of a record, with its transfer and the parts of its split
package qif

import (
	"errors"
	"io"
	"iter"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/coffer-budget/coffer/services/ledger/imports/formats/mapping"
	"github.com/coffer-budget/coffer/services/ledger/imports/formats/proposal"
	"github.com/coffer-budget/coffer/services/ledger/imports/formats/scan"
	"github.com/coffer-budget/coffer/services/ledger/imports/formats/statement"
)

// The cells of a QIF record. Further cells are the parts of a split, three each: category, memo and
// amount. If parts are transfers, the entry becomes several records with the same cells and one
// more: the account of the transfer that the record is, or an empty text in the record of the other
// parts.
const (
	cellDate = iota
	cellAmount
	cellPayee
	cellMemo
	cellNumber
	cellCategory
	cellAccount
	cellParts
)

// maxCopied is the maximum size of the further records of all entries, in bytes. Each of them has
// all cells of its entry, so a file could otherwise become 50 times as large.
const maxCopied = 256 << 20

// parser is the state of a QIF file: the current section and record. A line is a field: its first
// character is the code, and the rest the value. A line with ^ ends a record.
type parser struct {
	in       *statement.Input
	profile  *proposal.Profile
	section  string // The lower-case name after "!Type:", or "account".
	account  string
	sections int // With transactions, also of investments.
	records  int
	copied   int // Bytes of the further records of entries.
	cells    []string
	filled   bool
	line     int
	size     int
}

// accountSections are the sections with transactions of an account.
var accountSections = map[string]bool{
	"bank": true, "cash": true, "ccard": true, "oth a": true, "oth l": true, "other": true,
	"bank account": true,
}

// Parse parses QIF. Its records have cells, because the file does not say the order of day and
// month. The proposed mapping is complete after the last record.
func Parse(in *statement.Input) (iter.Seq2[statement.Record, error], *mapping.Mapping) {
	proposed := &mapping.Mapping{}
	return func(yield func(statement.Record, error) bool) {
		parser := &parser{
			in: in, profile: proposal.NewFixedProfile(in.Options, make([]string, cellPayee)),
		}
		parser.reset()
		if head, _ := in.Text.Peek(1); len(head) > 0 && head[0] != '!' {
			parser.section = "bank"
		}
		source := scan.NewLines(in.Text)
		for {
			text, err := source.Next()
			atEnd := errors.Is(err, io.EOF)
			if err != nil && !atEnd {
				yield(statement.Record{}, err)
				return
			}
			records, err := parser.handle(strings.TrimSpace(string(text)), source.Line, atEnd)
			if err != nil {
				yield(statement.Record{}, err)
				return
			}
			for _, record := range records {
				if !yield(record, nil) {
					return
				}
			}
			if atEnd {
				break
			}
		}
		if parser.sections == 0 {
			yield(statement.Record{}, scan.Errorf(source.Line,
				"the file has no transactions of an account: "+
					"no !Type:Bank, Cash, CCard, Oth A or Oth L"))
			return
		}
		*proposed = parser.propose()
	}, proposed
}

// start begins a file with a header.
var start = regexp.MustCompile(`(?im)^[ \t]*!(?:type|account|option|clear)\b`)

// bareStart begins a file without a header: the fields of a first record.
var bareStart = regexp.MustCompile(
	`^(?:[DTUPMNLC][^\r\n]*[\r\n]+)*D[ \d][^\r\n]*[\r\n]+(?:[TUPMNLCASE$][^\r\n]*[\r\n]+)*\^`,
)

// Detect reports whether a text begins like QIF.
func Detect(head string) bool {
	return start.MatchString(head) || bareStart.MatchString(strings.TrimSpace(head))
}

func (p *parser) reset() {
	p.cells, p.filled, p.line, p.size = make([]string, cellParts), false, 0, 0
}

// handle processes a line. It returns the records of an entry that the line completes.
func (p *parser) handle(text string, line int, atEnd bool) ([]statement.Record, error) {
	switch {
	case atEnd || strings.HasPrefix(text, "^"):
		return p.end()
	case text == "":
		return nil, nil
	case text[0] == '!':
		records, err := p.end()
		p.header(strings.ToLower(text))
		return records, err
	}
	if p.line == 0 {
		p.line = line
	}
	if p.size += len(text); p.size > scan.MaxRow {
		return nil, scan.Errorf(p.line, "the record has more than %d bytes", scan.MaxRow)
	}
	value := strings.TrimSpace(text[1:])
	switch {
	case p.section == "account":
		if text[0] == 'N' {
			p.account = statement.Text(value, statement.MaxName)
		}
	case accountSections[p.section]:
		return nil, p.field(text[0], value)
	}
	return nil, nil
}

// header starts a section.
func (p *parser) header(text string) {
	name, isType := strings.CutPrefix(text, "!type:")
	name = strings.TrimSpace(name)
	switch {
	case isType && (accountSections[name] || name == ""):
		p.section = "bank"
		p.sections++
	case isType && (strings.HasPrefix(name, "inv") || name == "port"):
		p.in.Warn(statement.InvestmentsSkipped)
		p.section = name
		p.sections++
	case strings.HasPrefix(text, "!account"):
		p.section = "account"
	case isType:
		if p.section = name; name == "budget" {
			p.in.Warn(statement.BudgetsSkipped)
		}
	}
}

func (p *parser) field(code byte, value string) error {
	cell := -1
	switch code {
	case 'D':
		// Some programs write another date after the parts of a split.
		if p.cells[cellDate] == "" {
			cell = cellDate
		}
	case 'T':
		cell = cellAmount
	case 'U':
		if p.cells[cellAmount] == "" {
			cell = cellAmount
		}
	case 'P':
		cell = cellPayee
	case 'M':
		cell = cellMemo
	case 'N':
		cell = cellNumber
	case 'L':
		cell = cellCategory
	case 'S', 'E', '$', '%':
		return p.part(code, value)
	}
	if cell >= 0 && value != "" {
		p.cells[cell], p.filled = value, true
	}
	return nil
}

// part adds a field of a split's part. S starts a part, and E and $ belong to the last one.
func (p *parser) part(code byte, value string) error {
	count := len(p.cells)
	switch {
	case code == 'S':
		if (count-cellParts)/3 == statement.MaxParts {
			return scan.Errorf(p.line, "the split has more than %d parts", statement.MaxParts)
		}
		p.cells = append(p.cells, value, "", "")
	case count == cellParts:
		return nil
	case code == 'E':
		p.cells[count-2] = value
	case code == '$':
		p.cells[count-1] = value
	}
	return nil
}

// end returns the records of the current entry, none if it is empty.
func (p *parser) end() ([]statement.Record, error) {
	defer p.reset()
	if !p.filled || !accountSections[p.section] {
		return nil, nil
	}
	p.sections = max(p.sections, 1)
	p.cells[cellAccount] = p.account
	p.profile.Add(p.cells[:cellPayee])
	cells := slices.Clip(p.cells)
	p.records++
	accounts := transferAccounts(cells)
	if len(accounts) == 0 {
		return []statement.Record{{Line: p.line, Cells: cells}}, nil
	}
	if p.copied += p.size * len(accounts); p.copied > maxCopied {
		return nil, scan.Errorf(p.line, "the splits with transfers exceed %d MiB: divide the file",
			maxCopied>>20)
	}
	p.in.Assume(statement.SplitsDivided,
		statement.Shows("SPLIT_WITH_TRANSFERS", "line", strconv.Itoa(p.line)), p.records)
	records := []statement.Record{{Line: p.line, Cells: append(cells, "")}}
	for _, account := range accounts {
		records = append(records, statement.Record{Line: p.line, Cells: append(cells, account)})
	}
	p.records += len(accounts)
	return records, nil
}

// propose returns the mapping and adds the warnings.
func (p *parser) propose() mapping.Mapping {
	p.in.Warn(statement.CurrencyAssumed)
	m := mapping.Mapping{
		Format: statement.QIF, Encoding: "utf-8", AmountMode: mapping.Signed,
		DateLayout: "MM/DD/YYYY", DecimalMark: ".",
	}
	p.profile.ProposeForms(p.in, &m,
		proposal.Columns{mapping.FieldDate: cellDate, mapping.FieldAmount: cellAmount})
	return m
}
