package formats

import (
	"cmp"
	"errors"
	"io"
	"iter"
	"regexp"
	"slices"
	"strings"
	"time"
)

// camtParser is the state of a CAMT file: the current statement and entry. It follows the path of open elements, so that the same
// parser reads all versions of CAMT.052, CAMT.053 and CAMT.054, which differ in namespaces and in a few levels.
type camtParser struct {
	in         *input
	stack      []string // Open elements.
	currency   string   // Of the current statement.
	account    string
	name       string
	partial    bool // A page of a statement with several.
	opening    string
	closing    string
	closingDay time.Time
	total      sum
	balance    camtBalance
	entry      *camtEntry
	ready      []Record // Of the last complete entry.
	statements int
	records    int
}

// camtBalance is a balance while it is read.
type camtBalance struct{ code, amount, sign, day string }

// camtAmount is an amount with its currency and sign.
type camtAmount struct{ amount, currency, sign string }

// camtEntry is an Ntry while it is read.
type camtEntry struct {
	camtAmount
	line             int
	status           string
	booked, valued   string
	bankRef, ownRef  string
	additional       string
	transactions     []camtTransaction
	tooManyForSplits bool
}

// camtTransaction is a TxDtls while it is read.
type camtTransaction struct {
	camtAmount
	debtor, creditor     string
	lastDebtor, lastCred string // Ultimate parties.
	texts, references    []string
	additional, bankRef  string
}

// maxTransactions is the maximum number of transactions of an entry that become separate records. An entry with more becomes one record,
// because all of its transactions are in memory until the entry ends.
const maxTransactions = 2000

// ccy finds the currency of an amount.
var ccy = regexp.MustCompile(`\bCcy\s*=\s*["']\s*([A-Za-z]{3})`)

// parseCAMT parses CAMT.052, CAMT.053 and CAMT.054 of all versions.
func parseCAMT(in *input) iter.Seq2[Record, error] {
	return func(yield func(Record, error) bool) {
		p := &camtParser{in: in}
		source := newMarkup(in.text)
		for {
			e, err := source.next()
			if errors.Is(err, io.EOF) {
				break
			}
			if err == nil {
				err = p.handle(e)
			}
			if err != nil {
				yield(Record{}, err)
				return
			}
			for _, record := range p.ready {
				if !yield(record, nil) {
					return
				}
			}
			p.ready = p.ready[:0]
		}
		switch {
		case len(p.stack) > 0:
			yield(Record{}, &ParseError{Line: source.line, Message: "the file ends before </" + p.stack[0] + ">"})
		case p.statements == 0:
			yield(Record{}, &ParseError{Line: source.line, Message: "the file has no statement, report or notification"})
		}
	}
}

// handle processes a tag. XML closes each element, so a wrong end tag means a damaged file and is an error: OFX is more lenient.
func (p *camtParser) handle(e element) error {
	if e.closing {
		if len(p.stack) == 0 || p.stack[len(p.stack)-1] != e.name {
			return &ParseError{Line: e.line, Message: "unexpected end tag </" + cut(e.name, 40) + ">"}
		}
		err := p.close(e.name)
		p.stack = p.stack[:len(p.stack)-1]
		return err
	}
	if len(p.stack) == MaxDepth {
		return &ParseError{Line: e.line, Message: "the elements are nested too deeply"}
	}
	p.stack = append(p.stack, e.name)
	p.open(e)
	if e.text != "" {
		p.value(e)
	}
	if e.empty {
		p.stack = p.stack[:len(p.stack)-1]
	}
	return nil
}

// open processes a start tag.
func (p *camtParser) open(e element) {
	switch e.name {
	case "Stmt", "Rpt", "Ntfctn":
		if p.inMessage() {
			p.statements++
			p.account, p.name, p.currency, p.opening, p.closing = "", "", "", "", ""
			p.total, p.records = sum{}, 0
		}
	case "Bal":
		p.balance = camtBalance{}
	case "Ntry":
		p.entry = &camtEntry{line: e.line}
	case "TxDtls":
		if p.entry == nil {
			return
		}
		if len(p.entry.transactions) == maxTransactions {
			p.entry.tooManyForSplits = true
			p.entry.transactions = p.entry.transactions[:1]
		}
		p.entry.transactions = append(p.entry.transactions, camtTransaction{})
	}
}

// inMessage reports whether the last element of the stack is a child of the message, which may stand in an envelope.
func (p *camtParser) inMessage() bool {
	return len(p.stack) <= 3 || strings.HasPrefix(p.stack[len(p.stack)-2], "BkToCstmr")
}

// value processes the text of the last element of the stack. An element is recognized by its path below the statement or the entry,
// because the same name has different meanings in different places: Amt is in balances, entries and transactions.
func (p *camtParser) value(e element) {
	if i := slices.Index(p.stack, "Ntry"); i >= 0 && p.entry != nil {
		path := strings.TrimPrefix(strings.Join(p.stack[i+1:], "/"), "NtryDtls/")
		if rest, ok := strings.CutPrefix(path, "TxDtls/"); ok && len(p.entry.transactions) > 0 {
			p.entry.transactions[len(p.entry.transactions)-1].value(rest, e)
			return
		}
		p.entry.value(path, e)
		return
	}
	i := slices.IndexFunc(p.stack, func(name string) bool { return name == "Stmt" || name == "Rpt" || name == "Ntfctn" })
	if i < 0 {
		if e.name == "LastPgInd" || e.name == "PgNb" {
			p.page(e)
		}
		return
	}
	switch strings.Join(p.stack[i+1:], "/") {
	case "Acct/Id/IBAN", "Acct/Id/Othr/Id", "Acct/Id/PrtryAcct/Id", "Acct/Id/BBAN":
		p.account = cmp.Or(p.account, strings.ReplaceAll(e.text, " ", ""))
	case "Acct/Ccy":
		p.currency = strings.ToUpper(e.text)
	case "Acct/Nm":
		p.name = e.text
	case "Bal/Tp/CdOrPrtry/Cd", "Bal/Tp/Cd", "Bal/Tp/CdOrPrtry/Prtry":
		p.balance.code = e.text
	case "Bal/Amt":
		p.balance.amount = e.text
		p.currency = cmp.Or(p.currency, currencyAttribute(e))
	case "Bal/CdtDbtInd":
		p.balance.sign = e.text
	case "Bal/Dt/Dt", "Bal/Dt/DtTm", "Bal/Dt":
		p.balance.day = e.text
	case "StmtPgntn/LastPgInd", "StmtPgntn/PgNb", "RptPgntn/LastPgInd", "RptPgntn/PgNb":
		p.page(e)
	}
}

// page records whether the statement has other pages, whose entries are not in this file. Its balances are then not compared with its
// entries.
func (p *camtParser) page(e element) {
	if e.name == "LastPgInd" && e.text == "false" || e.name == "PgNb" && strings.TrimLeft(e.text, "0") != "1" {
		p.partial = true
	}
}

// currencyAttribute returns the currency in the attributes of an amount.
func currencyAttribute(e element) string {
	if m := ccy.FindStringSubmatch(e.attributes); m != nil {
		return strings.ToUpper(m[1])
	}
	return ""
}

// value sets a value of an entry.
func (n *camtEntry) value(path string, e element) {
	switch path {
	case "Amt":
		n.amount, n.currency = e.text, currencyAttribute(e)
	case "CdtDbtInd":
		n.sign = e.text
	case "Sts", "Sts/Cd":
		n.status = e.text
	case "BookgDt/Dt", "BookgDt/DtTm":
		n.booked = e.text
	case "ValDt/Dt", "ValDt/DtTm":
		n.valued = e.text
	case "AcctSvcrRef":
		n.bankRef = e.text
	case "NtryRef":
		n.ownRef = e.text
	case "AddtlNtryInf":
		n.additional = cut(e.text, maxText)
	}
}

// value sets a value of a transaction.
func (t *camtTransaction) value(path string, e element) {
	// Since version 8, the parties are one element deeper.
	switch path = strings.Replace(path, "/Pty/", "/", 1); path {
	case "Amt", "AmtDtls/TxAmt/Amt":
		t.amount, t.currency = e.text, currencyAttribute(e)
	case "CdtDbtInd":
		t.sign = e.text
	case "Refs/AcctSvcrRef":
		t.bankRef = e.text
	case "RltdPties/Dbtr/Nm":
		t.debtor = e.text
	case "RltdPties/Cdtr/Nm":
		t.creditor = e.text
	case "RltdPties/UltmtDbtr/Nm":
		t.lastDebtor = e.text
	case "RltdPties/UltmtCdtr/Nm":
		t.lastCred = e.text
	case "RmtInf/Ustrd":
		t.texts = appendText(t.texts, e.text)
	case "RmtInf/Strd/AddtlRmtInf":
		t.texts = appendText(t.texts, e.text)
	case "RmtInf/Strd/CdtrRefInf/Ref":
		t.references = appendText(t.references, e.text)
	case "AddtlTxInf":
		t.additional = cut(e.text, maxText)
	}
}

// appendText appends a text to a list of at most 20, and drops further ones. A file could otherwise fill the memory with one entry.
func appendText(texts []string, s string) []string {
	if len(texts) >= 20 {
		return texts
	}
	return append(texts, cut(s, maxText))
}
