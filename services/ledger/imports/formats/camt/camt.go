// Package camt parses CAMT.052, CAMT.053 and CAMT.054 of all versions: the account reports,
// statements and notifications of ISO 20022.
//
// The versions differ in namespaces and in a few levels, so the parser follows the path of the open
// elements and ignores namespaces. The XML must be well-formed. Booked and pending entries become
// records. A pending entry appears again in a later file, with its final amount.
//
// An entry is a record. A batch whose transactions add up to it becomes a record of each
// transaction. CdtDbtInd alone gives the sign, also of a reversal (ADR 80). If the balances of a
// complete statement do not match its entries, the file gets the warning BALANCE_MISMATCH.
//
//   - camt.go: the elements of a file. Start reading at Parse
//   - records.go: the records of an entry, and the balances of a statement
package camt

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

// parser is the state of a CAMT file: the current statement and entry. It follows the path of open
// elements, so that the same parser reads all versions of CAMT.052, CAMT.053 and CAMT.054, which
// differ in namespaces and in a few levels.
type parser struct {
	in         *statement.Input
	stack      []string // Open elements.
	currency   string   // Of the current statement.
	account    string
	name       string
	partial    bool // A page of a statement with several.
	opening    string
	openingDay time.Time
	closing    string
	closingDay time.Time
	total      written.Sum
	balance    balance
	entry      *entry
	ready      []statement.Record // Of the last complete entry.
	statements int
	records    int
}

// balance is a balance while it is read.
type balance struct{ code, amount, sign, day string }

type signedAmount struct{ amount, currency, sign string }

// entry is an Ntry while it is read.
type entry struct {
	signedAmount
	line             int
	status           string
	booked, valued   string
	bankRef, ownRef  string
	additional       string
	transactions     []transaction
	tooManyForSplits bool
}

// transaction is a TxDtls while it is read.
type transaction struct {
	signedAmount
	debtor, creditor     string
	lastDebtor, lastCred string // Ultimate parties.
	texts, references    []string
	additional, bankRef  string
}

// maxTransactions is the maximum number of transactions of an entry that become separate records.
// An entry with more becomes one record, because all of its transactions are in memory until the
// entry ends.
const maxTransactions = 2000

// start begins a file.
var start = regexp.MustCompile(
	`(?s)^\s*<.*?(?:camt\.05[234]|<(?:\w+:)?BkToCstmr(?:Stmt|AcctRpt|DbtCdtNtfctn)\b)`,
)

// Detect reports whether a text begins like CAMT.
func Detect(head string) bool { return start.MatchString(head) }

// ccy finds the currency of an amount.
var ccy = regexp.MustCompile(`\bCcy\s*=\s*["']\s*([A-Za-z]{3})`)

// Parse parses CAMT.052, CAMT.053 and CAMT.054 of all versions.
func Parse(in *statement.Input) iter.Seq2[statement.Record, error] {
	return func(yield func(statement.Record, error) bool) {
		parser := &parser{in: in}
		source := scan.NewMarkup(in.Text)
		for {
			element, err := source.Next()
			if errors.Is(err, io.EOF) {
				break
			}
			if err == nil {
				err = parser.handle(element)
			}
			if err != nil {
				yield(statement.Record{}, err)
				return
			}
			for _, record := range parser.ready {
				if !yield(record, nil) {
					return
				}
			}
			parser.ready = parser.ready[:0]
		}
		switch {
		case len(parser.stack) > 0:
			yield(statement.Record{},
				scan.Errorf(source.Line, "the file ends before </%s>", parser.stack[0]))
		case parser.statements == 0:
			yield(statement.Record{},
				scan.Errorf(source.Line, "the file has no statement, report or notification"))
		}
	}
}

// handle processes a tag. XML closes each element, so a wrong end tag means a damaged file and is
// an error: OFX is more lenient.
func (p *parser) handle(element scan.Element) error {
	if element.Closing {
		if len(p.stack) == 0 || p.stack[len(p.stack)-1] != element.Name {
			return scan.Errorf(element.Line, "unexpected end tag </%s>",
				statement.Cut(element.Name, 40))
		}
		err := p.close(element.Name)
		p.stack = p.stack[:len(p.stack)-1]
		return err
	}
	if len(p.stack) == scan.MaxDepth {
		return scan.Errorf(element.Line, "the elements are nested too deeply")
	}
	p.stack = append(p.stack, element.Name)
	p.open(element)
	if element.Text != "" {
		p.value(element)
	}
	if element.Empty {
		p.stack = p.stack[:len(p.stack)-1]
	}
	return nil
}

// open processes a start tag.
func (p *parser) open(element scan.Element) {
	switch element.Name {
	case "Stmt", "Rpt", "Ntfctn":
		if p.inMessage() {
			p.statements++
			p.account, p.name, p.currency, p.opening, p.closing = "", "", "", "", ""
			p.total, p.records = written.Sum{}, 0
		}
	case "Bal":
		p.balance = balance{}
	case "Ntry":
		p.entry = &entry{line: element.Line}
	case "TxDtls":
		if p.entry == nil {
			return
		}
		if len(p.entry.transactions) == maxTransactions {
			p.entry.tooManyForSplits = true
			p.entry.transactions = p.entry.transactions[:1]
		}
		p.entry.transactions = append(p.entry.transactions, transaction{})
	}
}

// inMessage reports whether the last element of the stack is a child of the message, which may
// stand in an envelope.
func (p *parser) inMessage() bool {
	return len(p.stack) <= 3 || strings.HasPrefix(p.stack[len(p.stack)-2], "BkToCstmr")
}

// value processes the text of the last element of the stack. An element is recognized by its path
// below the statement or the entry, because the same name has different meanings in different
// places: Amt is in balances, entries and transactions.
func (p *parser) value(element scan.Element) {
	if i := slices.Index(p.stack, "Ntry"); i >= 0 && p.entry != nil {
		path := strings.TrimPrefix(strings.Join(p.stack[i+1:], "/"), "NtryDtls/")
		if rest, ok := strings.CutPrefix(path, "TxDtls/"); ok && len(p.entry.transactions) > 0 {
			p.entry.transactions[len(p.entry.transactions)-1].value(rest, element)
			return
		}
		p.entry.value(path, element)
		return
	}
	i := slices.IndexFunc(p.stack, func(name string) bool {
		return name == "Stmt" || name == "Rpt" || name == "Ntfctn"
	})
	if i < 0 {
		if element.Name == "LastPgInd" || element.Name == "PgNb" {
			p.page(element)
		}
		return
	}
	switch strings.Join(p.stack[i+1:], "/") {
	case "Acct/Id/IBAN", "Acct/Id/Othr/Id", "Acct/Id/PrtryAcct/Id", "Acct/Id/BBAN":
		p.account = cmp.Or(p.account, strings.ReplaceAll(element.Text, " ", ""))
	case "Acct/Ccy":
		p.currency = strings.ToUpper(element.Text)
	case "Acct/Nm":
		p.name = element.Text
	case "Bal/Tp/CdOrPrtry/Cd", "Bal/Tp/Cd", "Bal/Tp/CdOrPrtry/Prtry":
		p.balance.code = element.Text
	case "Bal/Amt":
		p.balance.amount = element.Text
		p.currency = cmp.Or(p.currency, currencyAttribute(element))
	case "Bal/CdtDbtInd":
		p.balance.sign = element.Text
	case "Bal/Dt/Dt", "Bal/Dt/DtTm", "Bal/Dt":
		p.balance.day = element.Text
	case "StmtPgntn/LastPgInd", "StmtPgntn/PgNb", "RptPgntn/LastPgInd", "RptPgntn/PgNb":
		p.page(element)
	}
}

// page records whether the statement has other pages, whose entries are not in this file. Its
// balances are then not compared with its entries.
func (p *parser) page(e scan.Element) {
	if e.Name == "LastPgInd" && e.Text == "false" ||
		e.Name == "PgNb" && strings.TrimLeft(e.Text, "0") != "1" {
		p.partial = true
	}
}

func currencyAttribute(e scan.Element) string {
	if m := ccy.FindStringSubmatch(e.Attributes); m != nil {
		return strings.ToUpper(m[1])
	}
	return ""
}

func (n *entry) value(path string, element scan.Element) {
	switch path {
	case "Amt":
		n.amount, n.currency = element.Text, currencyAttribute(element)
	case "CdtDbtInd":
		n.sign = element.Text
	case "Sts", "Sts/Cd":
		n.status = element.Text
	case "BookgDt/Dt", "BookgDt/DtTm":
		n.booked = element.Text
	case "ValDt/Dt", "ValDt/DtTm":
		n.valued = element.Text
	case "AcctSvcrRef":
		n.bankRef = element.Text
	case "NtryRef":
		n.ownRef = element.Text
	case "AddtlNtryInf":
		n.additional = statement.Cut(element.Text, statement.MaxText)
	}
}

func (t *transaction) value(path string, element scan.Element) {
	// Since version 8, the parties are one element deeper.
	switch path = strings.Replace(path, "/Pty/", "/", 1); path {
	case "Amt", "AmtDtls/TxAmt/Amt":
		t.amount, t.currency = element.Text, currencyAttribute(element)
	case "CdtDbtInd":
		t.sign = element.Text
	case "Refs/AcctSvcrRef":
		t.bankRef = element.Text
	case "RltdPties/Dbtr/Nm":
		t.debtor = element.Text
	case "RltdPties/Cdtr/Nm":
		t.creditor = element.Text
	case "RltdPties/UltmtDbtr/Nm":
		t.lastDebtor = element.Text
	case "RltdPties/UltmtCdtr/Nm":
		t.lastCred = element.Text
	case "RmtInf/Ustrd", "RmtInf/Strd/AddtlRmtInf":
		t.texts = appendText(t.texts, element.Text)
	case "RmtInf/Strd/CdtrRefInf/Ref":
		t.references = appendText(t.references, element.Text)
	case "AddtlTxInf":
		t.additional = statement.Cut(element.Text, statement.MaxText)
	}
}
