package proposal

import (
	"cmp"
	"slices"
	"strings"
	"unicode"

	"github.com/coffer-budget/coffer/services/ledger/imports/formats/headings"
	"github.com/coffer-budget/coffer/services/ledger/imports/formats/mapping"
	"github.com/coffer-budget/coffer/services/ledger/imports/formats/statement"
	"github.com/coffer-budget/coffer/services/ledger/imports/formats/written"
)

// prefersDays reports whether a file with ambiguous dates probably writes the day first: its
// currency or its numbers are not American.
func (p *Profile) prefersDays() bool {
	var dots, commas int
	for i := range p.columns {
		c := &p.columns[i]
		if c.numbers*10 < c.filled*8 {
			continue
		}
		dots, commas = dots+c.dots, commas+c.commas
	}
	for i := range p.columns {
		c := &p.columns[i]
		if c.values["USD"] > 0 {
			return false
		}
		// A slash is the only separator of American dates.
		if c.dates() > 0 && c.example.Separator != '/' && c.example.Separator != '-' {
			return true
		}
	}
	if commas > dots ||
		p.values("EUR", "GBP", "CHF", "AUD", "INR", "NZD", "BRL", "PLN", "DKK", "NOK") {
		return true
	}
	return p.foreign()
}

// values reports whether a column has one of the values.
func (p *Profile) values(values ...string) bool {
	for i := range p.columns {
		for _, v := range values {
			if p.columns[i].values[v] > 0 {
				return true
			}
		}
	}
	return false
}

// foreign reports whether a heading is not in English, or names a currency that is not American.
func (p *Profile) foreign() bool {
	if p.heading < 0 {
		return false
	}
	for _, title := range p.sample[p.heading] {
		if code := written.CurrencyIn(title); code != "" && code != "USD" || strings.ContainsFunc(
			title, func(r rune) bool { return r > unicode.MaxASCII && unicode.IsLetter(r) },
		) {
			return true
		}
		for word := range strings.FieldsSeq(written.Fold(title)) {
			switch word {
			case "datum", "fecha", "data", "dato", "buchungstag", "betrag", "importe", "montant",
				"bedrag", "importo", "valor", "kwota", "belopp", "paid", "saldo", "solde":
				return true
			}
		}
	}
	return false
}

// rankOf returns the rank of a column's heading as an amount. The rank 1 is an amount of the
// account itself, such as a net amount.
func (p *Profile) rankOf(i int) int {
	return cmp.Or(p.rank(i, mapping.FieldAmount), 1<<30)
}

// grossRank is the rank of the headings of gross amounts.
const grossRank = 3

// warnOfAmount adds the warning that another column may have the amounts, or that fees may lower
// them, if neither balances nor headings decide.
func (p *Profile) warnOfAmount(in *statement.Input, columns Columns) {
	amount, ok := columns[mapping.FieldAmount]
	fees := p.named(mapping.FieldFee)
	others := p.named(mapping.FieldAmount)
	rank := 1 << 30
	if ok {
		rank = p.rankOf(amount)
	}
	unnamed := p.amountsByContents(columns)
	var reduced []int
	if ok && p.proof == nil && rank > 1 {
		reduced = p.reduced(columns, amount)
	}
	table := p.newTable(without(columns, mapping.FieldStatus),
		slices.Concat(others, unnamed, reduced, fees, []int{amount}))
	unnamed = slices.DeleteFunc(unnamed, func(i int) bool {
		// Beside a column that a heading names, amounts are equal in most rows.
		return rank == 1 || rank < 1<<30 && table.equal(amount, i)*2 < len(table.records)
	})
	// Of a net amount, a tax may be missing instead of a fee.
	isTaxed := len(fees) == 0 && rank == 1
	others = slices.DeleteFunc(others, func(i int) bool {
		return p.rankOf(i) > rank && (!isTaxed || p.rankOf(i) != grossRank)
	})
	if ok && rank == 1<<30 && p.proof == nil {
		p.warnOfUnread(in, amount)
	}
	if p.netted {
		return
	}
	if ok && p.proof == nil && !p.settled {
		for _, i := range slices.Concat(others, unnamed, reduced) {
			if rows := table.different(amount, i); len(rows) > 0 {
				in.Assume(statement.AmountAssumed, statement.Shows("AMOUNTS_DIFFER",
					"column", p.name(amount), "other", p.name(i)), rows...)
				return
			}
		}
	}
	lowered, isLowered := columns[mapping.FieldFee]
	if p.proof == nil && rank == 1 {
		return
	}
	for _, i := range fees {
		if isLowered && i == lowered {
			continue
		}
		rows := slices.DeleteFunc(table.nonzero(i), func(n int) bool {
			status, _ := written.StatusOf(at(p.sample[n-1], p.status(columns)))
			return status == written.Void
		})
		if len(rows) > 0 && p.mayLower(i) {
			in.Assume(statement.AmountAssumed,
				statement.Shows("FEES_UNPROVEN", "column", p.name(i)), rows...)
			return
		}
	}
}

// reduced returns the columns that are the amount less a third column, such as a discount, or that
// are the amount plus it, in all rows.
func (p *Profile) reduced(columns Columns, amount int) []int {
	others := slices.DeleteFunc(p.amountsBeside(amount), func(i int) bool {
		return p.isOther(i) || p.rank(i, mapping.FieldBalance) > 0 ||
			p.columns[i].filled < p.columns[amount].filled
	})
	t := p.newTable(without(columns, mapping.FieldStatus), append(others, amount))
	return slices.DeleteFunc(slices.Clone(others), func(i int) bool {
		return len(t.nonzero(i)) == 0 || !slices.ContainsFunc(others, func(part int) bool {
			return part != i && len(t.different(part, i)) > 0 &&
				(t.isLess(i, amount, []int{part}) || t.isLess(amount, i, []int{part}))
		})
	})
}

// warnOfUnread adds the warning that another column seems to have amounts that cannot be read. No
// heading names the column of the amounts.
func (p *Profile) warnOfUnread(in *statement.Input, amount int) {
	for i := range p.columns {
		if c := &p.columns[i]; i != amount && c.unread > 0 && c.unread*2 >= c.filled {
			example, rows := p.examples(i, isUnread)
			in.Assume(statement.AmountAssumed, statement.Shows("AMOUNTS_UNREAD",
				"column", p.name(amount), "other", p.name(i), "value", quoted(example)), rows...)
			return
		}
	}
}

// amountsByContents returns the columns that have different numbers with decimals, but neither a
// field nor a heading of amounts.
func (p *Profile) amountsByContents(columns Columns) []int {
	taken := make(map[int]bool)
	for _, i := range columns {
		taken[i] = true
	}
	return slices.DeleteFunc(p.numeric(taken), func(i int) bool {
		isAmount := func(m headings.Meaning) bool {
			return slices.Contains(amountFields, m.Field) && m.Rank < headings.Loose
		}
		c := &p.columns[i]
		isConstant := c.filled > 1 && len(c.values) == 1
		return c.decimals == 0 || isConstant ||
			slices.ContainsFunc(headings.Meanings(p.title(i)), isAmount)
	})
}

// mayLower reports whether the balances do not show if a fee lowers them.
func (p *Profile) mayLower(fee int) bool {
	if p.proof == nil {
		return true
	}
	if p.proof.fee != none {
		// Beside another fee, one in a row whose balance follows would break it.
		unproven := len(p.proof.table.records) - p.proof.matches
		return len(p.proof.table.nonzero(fee)) <= unproven
	}
	with := *p.proof
	with.fee = fee
	measured, _ := with.table.measure(with)
	return measured.matches == p.proof.matches
}

// hasPlus reports whether a positive amount of a column has an explicit sign.
func (p *Profile) hasPlus(amount int) bool {
	marked, _ := p.marks(amount)
	return marked > 0
}

// marksIncome reports whether the amounts of a column are money out unless they are marked, as in
// statements of cards.
func (p *Profile) marksIncome(amount int) bool {
	marked, bare := p.marks(amount)
	return p.columns[amount].negative == 0 && marked > 0 && bare > 0
}

// marks counts the positive amounts of a column with and without an explicit sign.
func (p *Profile) marks(amount int) (marked, bare int) {
	for _, cells := range p.sample[p.heading+1:] {
		n, ok := written.ScanNumber(at(cells, amount))
		switch {
		case !ok || n.Negative || !written.HasNonzero(n.Digits):
		case n.Signed:
			marked++
		default:
			bare++
		}
	}
	return marked, bare
}

// byFees chooses between two columns of amounts if the fees are exactly their difference: the lower
// one is that which changes the account.
func (p *Profile) byFees(columns Columns, taken map[int]bool) {
	amount, ok := columns[mapping.FieldAmount]
	fees := p.named(mapping.FieldFee)
	if !ok || p.proof != nil || len(fees) == 0 || p.columns[amount].negative == 0 {
		return
	}
	others := p.amountsBeside(amount)
	t := p.newTable(without(columns, mapping.FieldStatus),
		slices.Concat(others, fees, []int{amount}))
	for _, other := range others {
		if slices.Contains(fees, other) {
			continue
		}
		switch {
		case t.isLess(amount, other, fees):
		case t.isLess(other, amount, fees):
			taken[amount] = false
			columns[mapping.FieldAmount], taken[other] = other, true
		default:
			continue
		}
		p.netted = true
		return
	}
}
