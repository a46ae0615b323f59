// Package ofx parses OFX 1 and 2, and QFX, the formats that banks offer for Quicken and Microsoft
// Money.
//
// OFX 1 is SGML: elements with a value have no end tag, and many banks omit other end tags, too.
// OFX 2 is XML. The parser reads both with the same rules, and ends an element when another one
// shows that it must have ended. Only a file that ends before its statement is complete is an
// error.
//
// A file has statements of bank accounts and cards. Each STMTTRN is a record, its FITID the
// external id, and the LEDGERBAL the closing balance of the account. A STMTTRNP is a pending
// record. Statements of investments are skipped with a warning. The civil date is used as written,
// whatever its zone.
//
// Start reading at Parse. Package scan splits the file into tags.
package ofx

import (
	"cmp"
	"errors"
	"io"
	"iter"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/coffer-budget/coffer/services/ledger/imports/formats/scan"
	"github.com/coffer-budget/coffer/services/ledger/imports/formats/statement"
	"github.com/coffer-budget/coffer/services/ledger/imports/formats/written"
)

// parser is the state of an OFX file: the current statement and transaction. OFX 1 is SGML without
// end tags of values, and many banks omit other end tags, too. So the parser ends an element when
// another one shows that it must have ended.
type parser struct {
	in         *statement.Input
	account    string
	currency   string
	parents    []string          // Open aggregates, at most scan.MaxDepth.
	record     *statement.Record // The current STMTTRN or STMTTRNP.
	fields     map[string]string
	balance    string
	statements int
	skipped    bool // Inside of an investment statement.
	listed     bool // Inside of a list of transactions.
	closed     bool // The file's </OFX> was read.
	status     map[string]string
}

// aggregates are the elements that contain others and that the parser needs to know.
var aggregates = written.WordSet(`OFX SIGNONMSGSRSV1 SONRS STATUS BANKMSGSRSV1 CREDITCARDMSGSRSV1
	STMTTRNRS CCSTMTTRNRS STMTRS CCSTMTRS BANKACCTFROM CCACCTFROM BANKTRANLIST BANKTRANLISTP
	STMTTRN PAYEE LEDGERBAL AVAILBAL BANKACCTTO CCACCTTO CURRENCY ORIGCURRENCY INVSTMTMSGSRSV1
	INVSTMTTRNRS INVSTMTRS FI BALLIST BAL STMTTRNP INVACCTFROM LOANSTMTRS LOANACCTFROM
	LOANTRANLIST`)

// start begins a file.
var start = regexp.MustCompile(`(?i)OFXHEADER\s*[:=]|<OFX>`)

// Detect reports whether a text begins like OFX.
func Detect(head string) bool { return start.MatchString(head) }

// maxElements is the maximum number of elements of one transaction, and between two of them. A file
// with more is not a statement.
const maxElements = 10_000

// Parse parses OFX 1 and 2, and QFX.
func Parse(in *statement.Input) iter.Seq2[statement.Record, error] {
	return func(yield func(statement.Record, error) bool) {
		parser := &parser{in: in, status: make(map[string]string)}
		source := scan.NewMarkup(in.Text)
		for elements := 0; ; elements++ {
			element, err := source.Next()
			if errors.Is(err, io.EOF) {
				break
			}
			if elements > maxElements {
				err = scan.Errorf(source.Line, "more than %d elements without a transaction",
					maxElements)
			}
			var record *statement.Record
			if element.Name = strings.ToUpper(element.Name); err == nil {
				record, err = parser.handle(element)
			}
			if err != nil {
				yield(statement.Record{}, err)
				return
			}
			if record != nil {
				elements = 0
				if !yield(*record, nil) {
					return
				}
			}
		}
		if record := parser.finish(); record != nil && !yield(*record, nil) {
			return
		}
		switch {
		case !parser.closed && (parser.listed || parser.statements == 0):
			yield(statement.Record{}, scan.Errorf(source.Line, "the file ends before </OFX>"))
		case parser.statements == 0:
			yield(statement.Record{},
				scan.Errorf(source.Line, "the file has no statement of a bank account or card"))
		}
	}
}

// handle processes a tag. It returns a record that the tag completes.
func (p *parser) handle(element scan.Element) (*statement.Record, error) {
	if element.Closing {
		return p.close(element)
	}
	// Some writers use these three as elements with a text.
	isValue := element.Text != "" &&
		(element.Name == "PAYEE" || element.Name == "CURRENCY" || element.Name == "ORIGCURRENCY")
	if aggregates[strings.ToLower(element.Name)] && !isValue {
		return p.open(element)
	}
	if p.skipped {
		return nil, nil
	}
	parent := ""
	if len(p.parents) > 0 {
		parent = p.parents[len(p.parents)-1]
	}
	return nil, p.value(parent, element)
}

// open processes the start of an aggregate.
func (p *parser) open(element scan.Element) (record *statement.Record, err error) {
	// No aggregate contains itself: the end tag of the first one is missing.
	if i := slices.Index(p.parents, element.Name); i >= 0 {
		p.parents = p.parents[:i]
	}
	if len(p.parents) == scan.MaxDepth {
		return nil, scan.Errorf(element.Line, "the elements are nested too deeply")
	}
	p.parents = append(p.parents, element.Name)
	switch element.Name {
	case "INVSTMTRS":
		p.in.Warn(statement.InvestmentsSkipped)
		p.skipped, p.statements = true, p.statements+1
	case "STMTRS", "CCSTMTRS", "LOANSTMTRS":
		p.account, p.currency, p.statements = "", "", p.statements+1
	case "STMTTRN", "STMTTRNP":
		// Also ends a transaction whose end tag is missing.
		record = p.finish()
		if !p.skipped {
			p.record = &statement.Record{
				Line: element.Line, Account: p.account, Currency: p.currency,
			}
			p.fields = make(map[string]string)
			if element.Name == "STMTTRNP" {
				p.record.Status = written.Pending
			}
		}
	case "BANKTRANLIST":
		p.listed = true
	case "LEDGERBAL":
		// Some writers leave out the end tag of the list.
		record, p.listed = p.finish(), false
	case "STATUS":
		clear(p.status)
	}
	return record, nil
}

// close processes an end tag. It also ends the aggregates inside whose end tags are missing.
func (p *parser) close(element scan.Element) (record *statement.Record, err error) {
	for i := len(p.parents) - 1; i >= 0; i-- {
		if p.parents[i] == element.Name {
			p.parents = p.parents[:i]
			break
		}
	}
	switch element.Name {
	case "OFX":
		p.closed = true
		return p.finish(), nil
	case "BANKTRANLIST", "STMTRS", "CCSTMTRS":
		p.listed = false
		return p.finish(), nil
	case "STMTTRN", "STMTTRNP":
		return p.finish(), nil
	case "INVSTMTRS":
		p.skipped = false
	case "STATUS":
		if strings.EqualFold(p.status["SEVERITY"], "ERROR") {
			return nil, scan.Errorf(element.Line, "%s",
				statement.OneLine("the bank reports the error "+
					p.status["CODE"]+" "+statement.Cut(p.status["MESSAGE"], 200)))
		}
	}
	return nil, nil
}

// value processes an element with a text.
func (p *parser) value(parent string, element scan.Element) error {
	switch {
	case parent == "STATUS":
		p.status[element.Name] = element.Text
	case p.record != nil:
		key := element.Name
		switch parent {
		case "CURRENCY", "ORIGCURRENCY", "BANKACCTTO", "CCACCTTO", "PAYEE":
			key = parent + "." + key
		}
		if _, ok := p.fields[key]; !ok && len(p.fields) < 64 {
			p.fields[key] = element.Text
		}
	case element.Name == "CURDEF":
		p.currency = strings.ToUpper(statement.Cut(element.Text, 3))
		return p.describe(func(a *statement.Account) { a.Currency = p.currency })
	case element.Name == "ACCTID" && strings.HasSuffix(parent, "FROM"):
		p.account = statement.Text(element.Text, statement.MaxName)
		return p.describe(func(a *statement.Account) { a.Currency = p.currency })
	case parent == "LEDGERBAL" && element.Name == "BALAMT":
		p.balance, _ = written.ParseLoose(element.Text)
		return p.describe(func(a *statement.Account) { a.Closing = p.balance })
	case parent == "LEDGERBAL" && element.Name == "DTASOF":
		day, _ := parseDate(element.Text)
		return p.describe(func(a *statement.Account) { a.ClosingDate = day })
	}
	return nil
}

// describe changes the current account.
func (p *parser) describe(change func(*statement.Account)) error {
	if p.statements == 0 {
		return nil
	}
	if p.account == "" && len(p.in.Facts.Accounts) == 0 && p.currency != "" && p.balance == "" {
		return nil // CURDEF stands before the account's number.
	}
	account, err := p.in.Account(p.account)
	if err == nil {
		change(account)
	}
	return err
}

// finish completes the current transaction, or returns nil if there is none.
func (p *parser) finish() *statement.Record {
	record, fields := p.record, p.fields
	if record == nil {
		return nil
	}
	p.record, p.fields = nil, nil
	if symbol := cmp.Or(fields["CURRENCY.CURSYM"], fields["CURRENCY"]); symbol != "" {
		record.Currency = strings.ToUpper(statement.Cut(symbol, 3))
	}
	var ok bool
	day := cmp.Or(fields["DTPOSTED"], fields["DTUSER"], fields["DTTRAN"])
	if record.Date, ok = parseDate(day); !ok && (day != "" || record.Status != written.Pending) {
		record.Problem = "DTPOSTED is missing or not a date"
	}
	if record.Amount, ok = written.ParseLoose(fields["TRNAMT"]); !ok && record.Problem == "" {
		record.Problem = "TRNAMT is missing or not a number"
	}
	record.Payee, record.Description = cmp.Or(fields["NAME"], fields["PAYEE.NAME"],
		fields["PAYEE"]), fields["MEMO"]
	if number := fields["CHECKNUM"]; strings.Trim(number, "0 ") != "" {
		record.Notes = statement.Text(number, statement.MaxName)
	}
	if id := statement.OneLine(fields["FITID"]); statement.Distinctive(id) {
		record.ExternalID = "ofx:" + id
	}
	return record
}

// parseDate reads YYYYMMDD with or without a time and a zone. The civil date is used as written.
func parseDate(text string) (time.Time, bool) {
	text = strings.TrimSpace(text)
	if len(text) >= 8 && written.IsDigitsOnly(text[:8]) {
		d, ok := written.ScanDate(text[:8])
		if !ok {
			return time.Time{}, false
		}
		if t, ok := d.Date(written.YMD); ok {
			return t, true
		}
		return d.Date(written.DMY)
	}
	d, ok := written.ScanDate(text)
	if !ok {
		return time.Time{}, false
	}
	if all := d.Orders(); all == written.YMD || all == written.DMY || all == written.MDY {
		return d.Date(all)
	}
	return time.Time{}, false
}
