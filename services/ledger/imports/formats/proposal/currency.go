package proposal

import (
	"cmp"
	"maps"
	"slices"

	"github.com/coffer-budget/coffer/services/ledger/imports/formats/headings"
	"github.com/coffer-budget/coffer/services/ledger/imports/formats/mapping"
	"github.com/coffer-budget/coffer/services/ledger/imports/formats/statement"
	"github.com/coffer-budget/coffer/services/ledger/imports/formats/written"
)

// Currency returns the currency that headings, amounts or the lines before the heading name, if all
// agree.
func (p *Profile) Currency(columns Columns) string {
	code, _ := p.currency(columns)
	return code
}

// currency returns the currency that the file names beside its rows, and the text that names it.
func (p *Profile) currency(columns Columns) (code, text string) {
	if _, ok := columns[mapping.FieldCurrency]; ok {
		return "", ""
	}
	for _, field := range amountFields {
		i, ok := columns[field]
		if !ok {
			continue
		}
		if code = headings.Currency(p.title(i)); code != "" {
			return code, p.title(i)
		}
		for unit := range p.columns[i].units {
			if code = written.CurrencyOf(unit); code != "" && len(p.columns[i].units) == 1 {
				return code, unit
			}
		}
	}
	if p.home != "" {
		return p.home, ""
	}
	if code, text = p.labeledCurrency(); code != "" {
		return code, text
	}
	found := ""
	for row, cells := range p.sample[:max(p.heading+1, p.firstTransaction())] {
		currencyIn := written.CurrencyIn
		if row == p.heading {
			currencyIn = headings.Currency
		}
		for _, cell := range cells {
			if code = currencyIn(cell); code != "" && len(cell) < 100 {
				if found != "" && found != code {
					return "", ""
				}
				found, text = code, cell
			}
		}
	}
	return found, text
}

// setCurrency sets the currency of the rows that name none, and adds the warning that it, or that
// of a unit in the rows, is assumed.
func (p *Profile) setCurrency(in *statement.Input, m *mapping.Mapping, columns Columns) {
	var text string
	m.Currency, text = p.currency(columns)
	_, rows := p.examples(columns[mapping.FieldDate], written.IsDate)
	if unit := p.sharedUnit(columns, text); unit != "" {
		code := cmp.Or(m.Currency, written.CurrencyOf(unit))
		in.Assume(statement.CurrencyAssumed, statement.Shows(statement.UnitShared,
			"unit", quoted(unit), "currency", code), rows...)
	}
	if _, ok := columns[mapping.FieldCurrency]; ok || m.Currency != "" {
		return
	}
	if m.Currency = p.ofOriginal(columns); m.Currency != "" {
		in.Assume(statement.CurrencyAssumed,
			statement.Shows("CURRENCY_OF_SHOPS", "currency", m.Currency), rows...)
	}
	in.Warn(statement.CurrencyAssumed)
}

// sharedUnit returns a unit that several currencies have, in the text that names the currency, the
// column of currencies or beside the amounts, or "".
func (p *Profile) sharedUnit(columns Columns, text string) string {
	if unit := written.SharedIn(text); unit != "" {
		return unit
	}
	units := make(map[string]int)
	for _, field := range amountFields {
		if i, ok := columns[field]; ok {
			maps.Copy(units, p.columns[i].units)
		}
	}
	if i, ok := columns[mapping.FieldCurrency]; ok {
		units = p.columns[i].values // They name the currency whatever the unit of the amounts.
	}
	for _, unit := range slices.Sorted(maps.Keys(units)) {
		if written.IsShared(unit) {
			return unit
		}
	}
	return ""
}

// ofOriginal returns the only currency of all payments at their shops, or "". Without an amount of
// the shop, the file has one amount for both.
func (p *Profile) ofOriginal(columns Columns) string {
	amount, ok := columns[mapping.FieldAmount]
	if !ok || len(p.amountsBeside(amount)) > 0 {
		return ""
	}
	for i := range p.columns {
		c := &p.columns[i]
		if p.isOther(i) && c.fits(mapping.FieldCurrency) && len(c.values) == 1 &&
			c.filled == len(p.transactions) {
			return written.CurrencyOf(at(p.transactions[0], i))
		}
	}
	return ""
}

// ofHeading removes the column of currencies if the heading of the amount names another one: then
// it is that of the amounts at the shops, which have a column of their own.
func (p *Profile) ofHeading(columns Columns) {
	currency, ok := columns[mapping.FieldCurrency]
	amount, hasAmount := columns[mapping.FieldAmount]
	code := headings.Currency(p.title(amount))
	if !ok || !hasAmount || code == "" || len(p.amountsBeside(amount)) == 0 {
		return
	}
	if p.columns[currency].values[code] < p.columns[currency].filled {
		delete(columns, mapping.FieldCurrency)
	}
}

// priced is a column of amounts with the column of their currencies.
type priced struct{ amount, currency int }

// byCurrency chooses between two columns of amounts by their currencies. A payment abroad has the
// amount in the currency of the shop in one of them, and that of the account in the other one. So
// the amounts differ exactly in the rows where one column has another currency than elsewhere, and
// the account has the other column. A column of currencies that belongs to the amount of the shop
// does not name that of the account.
func (p *Profile) byCurrency(columns Columns, taken map[int]bool) {
	amount, ok := columns[mapping.FieldAmount]
	if !ok || p.accountsHaveCurrencies(columns) {
		return
	}
	others := p.amountsBeside(amount)
	t := p.newTable(without(columns, mapping.FieldStatus), append([]int{amount}, others...))
	for _, other := range others {
		own, foreign := p.currencies(amount, other)
		home, decided := p.isHome(t, own, foreign)
		if !decided && p.mayBe(other) {
			if home, decided = p.isHome(t, foreign, own); decided {
				own = foreign
			}
		}
		if !decided {
			continue
		}
		p.home, p.settled = home, true
		taken[amount] = false
		columns[mapping.FieldAmount], taken[own.amount] = own.amount, true
		if i, ok := columns[mapping.FieldCurrency]; ok {
			delete(columns, mapping.FieldCurrency)
			taken[i] = false
		}
		if own.currency != none {
			columns[mapping.FieldCurrency], taken[own.currency] = own.currency, true
		}
		return
	}
}

// mayBe reports whether the balances do not contradict the amounts of a column. Pending payments
// change no balance, so two columns may explain all of them.
func (p *Profile) mayBe(amount int) bool {
	if p.proof == nil {
		return true
	}
	with := *p.proof
	with.debit, with.credit = amount, amount
	if with.table.numbers[amount] == nil {
		return false
	}
	measured, _ := with.table.measure(with)
	return measured.matches == p.proof.matches
}

// accountsHaveCurrencies reports whether each of several accounts of a file has one currency.
func (p *Profile) accountsHaveCurrencies(columns Columns) bool {
	account, hasAccount := columns[mapping.FieldAccount]
	currency, hasCurrency := columns[mapping.FieldCurrency]
	found := make(map[string]string)
	for _, cells := range p.transactions {
		name, code := at(cells, account), at(cells, currency)
		if known, ok := found[name]; ok && known != code {
			return false
		}
		found[name] = code
	}
	return hasAccount && hasCurrency && len(found) > 1
}

// amountsBeside returns the other columns that may have amounts of the same payments, whatever
// their headings.
func (p *Profile) amountsBeside(amount int) (found []int) {
	for i := range p.columns {
		c := &p.columns[i]
		isAmount := c.fits(mapping.FieldAmount) && c.dates()*2 <= c.filled
		if isAmount && i != amount && len(found) < maxNumeric {
			found = append(found, i)
		}
	}
	return found
}

// isHome reports whether a column has the amounts of the account beside a column in the currencies
// of the shops, and returns the currency of the account if the file names it.
func (p *Profile) isHome(t *table, own, foreign priced) (home string, ok bool) {
	var abroad, same int
	for row := range t.records {
		unit := p.unit(t, own, row)
		if row > 0 && unit != home {
			return "", false // The currency of this column changes, too.
		}
		home = unit
	}
	isEqual := func(row int) bool {
		x, y := t.numbers[own.amount][row], t.numbers[foreign.amount][row]
		return !y.filled || !magnitude(x.Sum).Differs(magnitude(y.Sum))
	}
	for row := 0; row < len(t.records) && home == ""; row++ {
		if isEqual(row) {
			home = p.unit(t, foreign, row)
		}
	}
	for row := range t.records {
		unit := p.unit(t, foreign, row)
		switch isAbroad := unit != "" && unit != home; {
		case !t.numbers[own.amount][row].filled || isAbroad == isEqual(row):
			return "", false
		case isAbroad:
			abroad++
		default:
			same++
		}
	}
	return written.CurrencyOf(home), abroad > 0 && same > 0
}

// unit returns the currency of an amount as the file writes it: the code if it is known.
func (p *Profile) unit(t *table, c priced, row int) string {
	cells := p.sample[t.records[row]-1]
	unit := at(cells, c.currency)
	if n, ok := written.ScanNumber(at(cells, c.amount)); ok && n.Unit != "" {
		unit = n.Unit
	}
	if code := written.CurrencyOf(unit); code != "" {
		return code
	}
	return unit
}

// currencies assigns the columns of currencies to two columns of amounts, so that their distances
// are as short as possible. An amount with a currency in its heading needs none.
func (p *Profile) currencies(a, b int) (own, other priced) {
	own, other = priced{a, none}, priced{b, none}
	shortest := 1 << 30
	cost := func(amount, i int) int {
		switch {
		case i == none:
			return 1000
		case headings.Currency(p.title(amount)) != "":
			return 2000
		}
		return distance(amount, i)
	}
	candidates := []int{none}
	for i := range p.columns {
		if p.columns[i].fits(mapping.FieldCurrency) {
			candidates = append(candidates, i)
		}
	}
	for _, x := range candidates {
		for _, y := range candidates {
			if sum := cost(a, x) + cost(b, y); sum < shortest && (x != y || x == none) {
				shortest, own.currency, other.currency = sum, x, y
			}
		}
	}
	return own, other
}
