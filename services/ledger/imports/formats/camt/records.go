package camt

import (
	"cmp"
	"strings"
	"time"

	"github.com/coffer-budget/coffer/services/ledger/imports/formats/statement"
	"github.com/coffer-budget/coffer/services/ledger/imports/formats/written"
)

// close processes an end tag, before the element leaves the stack.
func (p *parser) close(name string) error {
	switch {
	case name == "Ntry" && p.entry != nil:
		p.ready = p.entry.records(p)
		p.entry = nil
		for _, r := range p.ready {
			if r.Status == "" {
				p.total.Add(r.Amount)
			}
		}
		if len(p.ready) > 0 {
			if _, err := p.in.Account(p.account); err != nil {
				return err
			}
		}
	case name == "Bal" && p.entry == nil:
		p.endBalance()
	case p.inMessage() && (name == "Stmt" || name == "Rpt" || name == "Ntfctn"):
		return p.endStatement()
	}
	return nil
}

// endBalance records an opening or closing balance. A closing balance of the previous statement
// (PRCD) serves as the opening balance if there is no other. Available and interim balances are
// ignored, because they contain entries that are not booked.
func (p *parser) endBalance() {
	amount, ok := written.ParseLoose(p.balance.amount)
	if !ok {
		return
	}
	if p.balance.sign == "DBIT" {
		amount = written.Negate(written.Absolute(amount))
	}
	day, _ := parseDate(p.balance.day)
	switch code := strings.ToUpper(p.balance.code); {
	case code == "OPBD", code == "PRCD" && p.opening == "":
		p.opening, p.openingDay = amount, day
	case code == "CLBD":
		p.closing, p.closingDay = amount, day
	}
}

// endStatement records the account's facts and compares the balances with the entries. If a file
// has several statements of an account, the opening balance of the first one counts, and the
// closing balance with the latest date.
func (p *parser) endStatement() error {
	if p.account == "" && p.opening == "" && p.closing == "" {
		return nil
	}
	account, err := p.in.Account(p.account)
	if err != nil {
		return err
	}
	account.Name = cmp.Or(account.Name, statement.Text(p.name, statement.MaxName))
	account.Currency = cmp.Or(p.currency, account.Currency)
	if account.Opening == "" {
		account.Opening, account.OpeningDate = p.opening, p.openingDay
	}
	if p.closing != "" && !p.closingDay.Before(account.ClosingDate) {
		account.Closing, account.ClosingDate = p.closing, p.closingDay
	}
	if p.opening != "" && p.closing != "" && !p.partial {
		total := p.total
		total.Add(p.opening)
		if total.Differs(written.SumOf(p.closing)) {
			p.in.Assume(statement.BalanceMismatch, statement.Mismatch(p.opening, total, p.closing))
		}
	}
	return nil
}

// parseDate reads a date or a date with a time. The civil date is used as written.
func parseDate(s string) (time.Time, bool) {
	d, ok := written.ScanDate(s)
	if !ok {
		return time.Time{}, false
	}
	return d.Date(written.YMD)
}

// records returns the records of an entry: several if it is a batch whose parts add up to it, and
// none if it only informs, or is pending without a day. A pending entry appears again in a later
// file, with its final amount and another reference.
func (n *entry) records(parser *parser) []statement.Record {
	isPending := strings.EqualFold(n.status, "PDNG")
	if n.status != "" && !isPending && !strings.EqualFold(n.status, "BOOK") {
		return nil
	}
	// The sign is the one of the entry itself, also with RvslInd: a credited reversal takes back a
	// debit.
	record := statement.Record{
		Line: n.line, Account: statement.Text(parser.account, statement.MaxName),
		Currency: cmp.Or(n.currency, parser.currency),
	}
	var ok bool
	if isPending {
		record.Status = written.Pending
	}
	if record.Date, ok = parseDate(cmp.Or(n.booked, n.valued)); !ok {
		if !isPending || cmp.Or(n.booked, n.valued) != "" {
			record.Problem = "the booking date is missing or not a date"
			return []statement.Record{record}
		}
	}
	if record.Amount, ok = n.signed(""); !ok {
		record.Problem = "the amount or CdtDbtInd is missing or cannot be read"
		return []statement.Record{record}
	}
	if parts := n.split(record); parts != nil {
		return parts
	}
	t := transaction{additional: n.additional}
	if len(n.transactions) == 1 {
		t = n.transactions[0]
	}
	t.describe(&record, n.additional)
	if ref := cmp.Or(n.bankRef, t.bankRef); statement.Distinctive(statement.OneLine(ref)) {
		record.ExternalID = "camt:" + statement.OneLine(ref)
	}
	return []statement.Record{record}
}

// signed returns an amount with the sign of its mark, or of the entry's.
func (a signedAmount) signed(sign string) (string, bool) {
	amount, ok := written.ParseLoose(a.amount)
	switch cmp.Or(a.sign, sign) {
	case "DBIT":
		return written.Negate(written.Absolute(amount)), ok
	case "CRDT":
		return written.Absolute(amount), ok
	}
	return "", false
}

// split returns a record for each transaction of a batch, or nil if they do not add up to the
// entry. The entry is then imported as a whole: its amount is what changed the balance.
func (n *entry) split(entry statement.Record) []statement.Record {
	if len(n.transactions) < 2 || n.tooManyForSplits {
		return nil
	}
	var total written.Sum
	parts := make([]statement.Record, 0, len(n.transactions))
	for _, transaction := range n.transactions {
		amount, ok := transaction.signed(n.sign)
		if !ok || transaction.currency != "" && transaction.currency != entry.Currency {
			return nil
		}
		total.Add(amount)
		r := entry
		r.Amount = amount
		transaction.describe(&r, n.additional)
		if statement.Distinctive(statement.OneLine(transaction.bankRef)) &&
			transaction.bankRef != n.bankRef {
			r.ExternalID = "camt:" + statement.OneLine(transaction.bankRef)
		}
		parts = append(parts, r)
	}
	if total.Unknown || total.Differs(written.SumOf(entry.Amount)) {
		return nil
	}
	return parts
}

// describe sets the texts of a record. The payee is the other party: the creditor of a payment, and
// the debtor of money that arrives.
func (t *transaction) describe(r *statement.Record, additional string) {
	r.Payee = cmp.Or(t.debtor, t.lastDebtor)
	if strings.HasPrefix(r.Amount, "-") {
		r.Payee = cmp.Or(t.creditor, t.lastCred)
	}
	r.Description = cmp.Or(strings.Join(t.texts, " "), t.additional, additional)
	r.Notes = strings.Join(t.references, "\n")
}

// appendText appends a text to a list of at most 20, and drops further ones. A file could otherwise
// fill the memory with one entry.
func appendText(texts []string, s string) []string {
	if len(texts) >= 20 {
		return texts
	}
	return append(texts, statement.Cut(s, statement.MaxText))
}
