package formats

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"
	"strings"
	"time"

	"github.com/coffer-budget/coffer/services/ledger/imports/formats/scan"
	"github.com/coffer-budget/coffer/services/ledger/imports/formats/written"
)

// ofxParser is the state of an OFX file: the current statement and transaction. OFX 1 is SGML without end tags of values, and many banks
// omit other end tags, too. So the parser ends an element when another one shows that it must have ended.
type ofxParser struct {
	in         *input
	account    string
	currency   string
	parents    []string // Open aggregates, at most MaxDepth.
	record     *Record  // The current STMTTRN.
	fields     map[string]string
	balance    string
	statements int
	skipped    bool // Inside of an investment statement.
	listed     bool // Inside of a list of transactions.
	closed     bool // The file's </OFX> was read.
	status     map[string]string
}

// aggregates are the elements that contain others and that the parser needs to know.
var aggregates = written.WordSet(`OFX SIGNONMSGSRSV1 SONRS STATUS BANKMSGSRSV1 CREDITCARDMSGSRSV1 STMTTRNRS CCSTMTTRNRS STMTRS CCSTMTRS BANKACCTFROM
	CCACCTFROM BANKTRANLIST BANKTRANLISTP STMTTRN PAYEE LEDGERBAL AVAILBAL BANKACCTTO CCACCTTO CURRENCY ORIGCURRENCY INVSTMTMSGSRSV1
	INVSTMTTRNRS INVSTMTRS FI BALLIST BAL STMTTRNP INVACCTFROM LOANSTMTRS LOANACCTFROM LOANTRANLIST`)

// maxElements is the maximum number of elements of one transaction, and between two of them. A file with more is not a statement.
const maxElements = 10_000

// parseOFX parses OFX 1 and 2, and QFX.
func parseOFX(in *input) iter.Seq2[Record, error] {
	return func(yield func(Record, error) bool) {
		p := &ofxParser{in: in, status: make(map[string]string)}
		source := scan.NewMarkup(in.text)
		for elements := 0; ; elements++ {
			e, err := source.Next()
			if errors.Is(err, io.EOF) {
				break
			}
			if elements > maxElements {
				err = &scan.ParseError{Line: source.Line, Message: fmt.Sprintf("more than %d elements without a transaction", maxElements)}
			}
			var record *Record
			if e.Name = strings.ToUpper(e.Name); err == nil {
				record, err = p.handle(e)
			}
			if err != nil {
				yield(Record{}, err)
				return
			}
			if record != nil {
				elements = 0
				if !yield(*record, nil) {
					return
				}
			}
		}
		if record := p.finish(); record != nil && !yield(*record, nil) {
			return
		}
		switch {
		case !p.closed && (p.listed || p.statements == 0):
			yield(Record{}, &scan.ParseError{Line: source.Line, Message: "the file ends before </OFX>"})
		case p.statements == 0:
			yield(Record{}, &scan.ParseError{Line: source.Line, Message: "the file has no statement of a bank account or card"})
		}
	}
}

// handle processes a tag. It returns a record that the tag completes.
func (p *ofxParser) handle(e scan.Element) (*Record, error) {
	if e.Closing {
		return p.close(e)
	}
	// Some writers use these three as elements with a text.
	isValue := e.Text != "" && (e.Name == "PAYEE" || e.Name == "CURRENCY" || e.Name == "ORIGCURRENCY")
	if aggregates[strings.ToLower(e.Name)] && !isValue {
		return p.open(e)
	}
	if p.skipped {
		return nil, nil
	}
	parent := ""
	if len(p.parents) > 0 {
		parent = p.parents[len(p.parents)-1]
	}
	return nil, p.value(parent, e)
}

// open processes the start of an aggregate.
func (p *ofxParser) open(e scan.Element) (record *Record, err error) {
	// No aggregate contains itself: the end tag of the first one is missing.
	if i := slices.Index(p.parents, e.Name); i >= 0 {
		p.parents = p.parents[:i]
	}
	if len(p.parents) == MaxDepth {
		return nil, &scan.ParseError{Line: e.Line, Message: "the elements are nested too deeply"}
	}
	p.parents = append(p.parents, e.Name)
	switch e.Name {
	case "INVSTMTRS":
		p.in.warn(InvestmentsSkipped)
		p.skipped, p.statements = true, p.statements+1
	case "STMTRS", "CCSTMTRS", "LOANSTMTRS":
		p.account, p.currency, p.statements = "", "", p.statements+1
	case "STMTTRN":
		// Also ends a transaction whose end tag is missing.
		record = p.finish()
		if !p.skipped {
			p.record, p.fields = &Record{Line: e.Line, Account: p.account, Currency: p.currency}, make(map[string]string)
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
func (p *ofxParser) close(e scan.Element) (record *Record, err error) {
	for i := len(p.parents) - 1; i >= 0; i-- {
		if p.parents[i] == e.Name {
			p.parents = p.parents[:i]
			break
		}
	}
	switch e.Name {
	case "OFX":
		p.closed = true
		return p.finish(), nil
	case "BANKTRANLIST", "STMTRS", "CCSTMTRS":
		p.listed = false
		return p.finish(), nil
	case "STMTTRN":
		return p.finish(), nil
	case "INVSTMTRS":
		p.skipped = false
	case "STATUS":
		if strings.EqualFold(p.status["SEVERITY"], "ERROR") {
			return nil, &scan.ParseError{Line: e.Line, Message: spaces("the bank reports the error " + p.status["CODE"] + " " + cut(p.status["MESSAGE"], 200))}
		}
	}
	return nil, nil
}

// value processes an element with a text.
func (p *ofxParser) value(parent string, e scan.Element) error {
	switch {
	case parent == "STATUS":
		p.status[e.Name] = e.Text
	case p.record != nil:
		key := e.Name
		switch parent {
		case "CURRENCY", "ORIGCURRENCY", "BANKACCTTO", "CCACCTTO", "PAYEE":
			key = parent + "." + key
		}
		if _, ok := p.fields[key]; !ok && len(p.fields) < 64 {
			p.fields[key] = e.Text
		}
	case e.Name == "CURDEF":
		p.currency = strings.ToUpper(cut(e.Text, 3))
		return p.describe(func(a *Account) { a.Currency = p.currency })
	case e.Name == "ACCTID" && strings.HasSuffix(parent, "FROM"):
		p.account = cut(spaces(e.Text), maxName)
		return p.describe(func(a *Account) { a.Currency = p.currency })
	case parent == "LEDGERBAL" && e.Name == "BALAMT":
		p.balance, _ = written.ParseLoose(e.Text)
		return p.describe(func(a *Account) { a.Closing = p.balance })
	case parent == "LEDGERBAL" && e.Name == "DTASOF":
		day, _ := ofxDate(e.Text)
		return p.describe(func(a *Account) { a.ClosingDate = day })
	}
	return nil
}

// describe changes the current account.
func (p *ofxParser) describe(change func(*Account)) error {
	if p.statements == 0 {
		return nil
	}
	if p.account == "" && len(p.in.facts.Accounts) == 0 && p.currency != "" && p.balance == "" {
		return nil // CURDEF stands before the account's number.
	}
	account, err := p.in.account(p.account)
	if err == nil {
		change(account)
	}
	return err
}

// finish completes the current transaction, or returns nil if there is none.
func (p *ofxParser) finish() *Record {
	r, f := p.record, p.fields
	if r == nil {
		return nil
	}
	p.record, p.fields = nil, nil
	if symbol := cmp.Or(f["CURRENCY.CURSYM"], f["CURRENCY"]); symbol != "" {
		r.Currency = strings.ToUpper(cut(symbol, 3))
	}
	var ok bool
	if r.Date, ok = ofxDate(cmp.Or(f["DTPOSTED"], f["DTUSER"])); !ok {
		r.Problem = "DTPOSTED is missing or not a date"
	}
	if r.Amount, ok = written.ParseLoose(f["TRNAMT"]); !ok && r.Problem == "" {
		r.Problem = "TRNAMT is missing or not a number"
	}
	r.Payee, r.Description = cmp.Or(f["NAME"], f["PAYEE.NAME"], f["PAYEE"]), f["MEMO"]
	if number := f["CHECKNUM"]; strings.Trim(number, "0 ") != "" {
		r.Notes = cut(spaces(number), maxName)
	}
	if id := spaces(f["FITID"]); distinctive(id) {
		r.ExternalID = "ofx:" + id
	}
	return r
}

// distinctive reports whether a reference can identify a transaction: it has at least four characters, not all equal. Some banks write 0
// or a row of zeros in each transaction.
func distinctive(id string) bool {
	return len(id) >= 4 && strings.Trim(id, id[:1]) != ""
}

// ofxDate reads YYYYMMDD with or without a time and a zone. The civil date is used as written.
func ofxDate(s string) (time.Time, bool) {
	s = strings.TrimSpace(s)
	if len(s) >= 8 && written.IsDigitsOnly(s[:8]) {
		d, ok := written.ScanDate(s[:8])
		if !ok {
			return time.Time{}, false
		}
		if t, ok := d.Date(written.YMD); ok {
			return t, true
		}
		return d.Date(written.DMY)
	}
	d, ok := written.ScanDate(s)
	if !ok {
		return time.Time{}, false
	}
	if all := d.Orders(); all == written.YMD || all == written.DMY || all == written.MDY {
		return d.Date(all)
	}
	return time.Time{}, false
}
