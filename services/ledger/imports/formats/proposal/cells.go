package proposal

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/coffer-budget/coffer/services/ledger/imports/formats/mapping"
	"github.com/coffer-budget/coffer/services/ledger/imports/formats/written"
)

// maxLabel is the maximum length of a tag.
const maxLabel = 30

// texts counts the texts of a column in the sample.
type texts struct {
	filled, distinct int
	top              int    // Cells with the most frequent text.
	frequent         string // The most frequent text.
	kinds, codes     int    // Cells with the name of a kind of payment, and with a code.
	signs            int    // Cells with one word for a direction, such as DEBIT.
	length, words    int    // Of all cells.
}

// describe counts the texts of all columns in the transactions below the heading.
func (p *Profile) describe() {
	p.transactions = nil
	for _, cells := range p.sample[p.heading+1:] {
		if written.IsTransaction(cells) {
			p.transactions = append(p.transactions, cells)
		}
	}
	p.texts = make([]texts, len(p.columns))
	for i := range p.columns {
		p.texts[i] = p.countTexts(i)
	}
}

// countTexts counts the texts of a column.
func (p *Profile) countTexts(i int) texts {
	var texts texts
	if !p.columns[i].textual() {
		return texts
	}
	seen := make(map[string]int)
	for _, cells := range p.transactions {
		cell := at(cells, i)
		if cell == "" {
			continue
		}
		texts.filled++
		texts.length += utf8.RuneCountInString(cell)
		texts.words += len(strings.Fields(cell))
		if written.IsKind(cell) {
			texts.kinds++
			if _, known := written.SignOf(cell); known && !strings.Contains(cell, " ") {
				texts.signs++
			}
		} else if isCode(cell) {
			texts.codes++
		}
		if seen[cell]++; seen[cell] > texts.top {
			texts.top, texts.frequent = seen[cell], cell
		}
	}
	texts.distinct = len(seen)
	return texts
}

// mean returns the mean length of the texts.
func (t texts) mean() int { return t.length / max(1, t.filled) }

// isConstant reports whether nearly all rows have the same text.
func (t texts) isConstant() bool { return t.filled > 0 && t.top*10 >= t.filled*9 }

// saysNothing reports whether the column has no texts, or whether most of them are codes or names
// of kinds of payments.
func (t texts) saysNothing() bool { return (t.kinds+t.codes)*10 >= t.filled*8 }

// onlyKinds reports whether the texts are names of kinds of payments, and say more than whether the
// amount is money out.
func (t texts) onlyKinds() bool { return t.saysNothing() && t.kinds > t.codes+t.signs }

// textual reports whether a column has texts, and not dates or numbers.
func (c *column) textual() bool {
	return c.filled > 0 && c.dates()*2 <= c.filled && c.numbers*2 <= c.filled
}

// hasLabels reports whether a column with a heading of a rank has tags: its cells are lists of
// short names. Only finance applications write tags; banks use the word label for other texts.
func (p *Profile) hasLabels(i, rank int) bool {
	if rank > wholeRank {
		return false
	}
	t := p.texts[i]
	labels := 0
	for _, cells := range p.transactions {
		cell := at(cells, i)
		if cell != "" && !slices.ContainsFunc(strings.FieldsFunc(cell, isListMark), isNoLabel) {
			labels++
		}
	}
	return labels*10 >= t.filled*9
}

// isListMark reports whether a character separates the tags of a list.
func isListMark(r rune) bool { return strings.ContainsRune(",;|#", r) }

// isNoLabel reports whether a text is longer than tags are.
func isNoLabel(text string) bool {
	return utf8.RuneCountInString(text) > maxLabel || len(strings.Fields(text)) > 3
}

// isCode reports whether a text is the number of an account, a reference or another code: it has at
// most three ASCII characters, or digits, at least as many as letters, and no word.
func isCode(text string) bool {
	if len(text) <= 3 {
		return true
	}
	digits, letters, run := 0, 0, 0
	for _, r := range text {
		switch {
		case unicode.IsDigit(r):
			digits, run = digits+1, 0
		case unicode.IsLetter(r):
			letters++
			if run++; run > 4 {
				return false
			}
		default:
			run = 0
		}
	}
	return digits > 0 && digits >= letters
}

// minHolderRows is the number of rows from which equal texts in most of them can be the holder of
// the account.
const minHolderRows = 5

// isHolder reports whether a column names the holder of the account, and not the other party. All
// of its texts are equal, and a line before the heading has the same text, or a longer heading
// names the other party, such as "Naam tegenpartij" beside "Naam". Without either of them, a
// heading that can mean both, such as "Name", is the holder's if no other text of the rows mentions
// the name.
func (p *Profile) isHolder(index int) bool {
	texts := p.texts[index]
	if !texts.isConstant() {
		return false
	}
	for _, cells := range p.sample[:max(p.heading, 0)] {
		if slices.Contains(cells, texts.frequent) {
			return true
		}
	}
	title := written.Fold(p.title(index)) + " "
	for other := range p.columns {
		if strings.HasPrefix(written.Fold(p.title(other)), title) &&
			p.rank(other, mapping.FieldPayee) > 0 {
			return true
		}
	}
	return p.rank(index, mapping.FieldPayee) > 1 && texts.filled >= minHolderRows &&
		!p.isMentioned(index)
}

// isMentioned reports whether half of the rows have the most frequent text of a column in another
// column, too.
func (p *Profile) isMentioned(i int) bool {
	rows, found := 0, 0
	text := p.texts[i].frequent
	folded := written.Fold(text)
	for _, cells := range p.transactions {
		if at(cells, i) != text {
			continue
		}
		rows++
		for other, cell := range cells {
			if other != i && strings.Contains(written.Fold(cell), folded) {
				found++
				break
			}
		}
	}
	return found*2 >= rows
}

// payer returns the free column with the parties that pay, beside a column with those that receive,
// or -1. A column that has the holder of the account even where money comes in names no payer.
func (p *Profile) payer(columns Columns, taken map[int]bool) int {
	payee, ok := columns[mapping.FieldPayee]
	if !ok || p.rank(payee, mapping.FieldPayer) > 0 ||
		p.rank(payee, mapping.FieldPayee) != 1 {
		return -1
	}
	for i := range p.columns {
		t := p.texts[i]
		if taken[i] || p.rank(i, mapping.FieldPayer) != 1 || t.saysNothing() {
			continue
		}
		everywhere := t.isConstant() && t.filled*10 >= len(p.transactions)*9
		if !everywhere || !p.hasBothDirections(columns) {
			return i
		}
	}
	return -1
}

// hasBothDirections reports whether some amounts of the sample are money in, and others money out.
// Debits and credits of zero are neither.
func (p *Profile) hasBothDirections(columns Columns) bool {
	kind, hasKind := columns[mapping.FieldType]
	in, out := false, false
	for _, cells := range p.transactions {
		for _, field := range []string{
			mapping.FieldAmount, mapping.FieldDebit, mapping.FieldCredit,
		} {
			i, ok := columns[field]
			if !ok {
				continue
			}
			n, ok := written.ScanNumber(at(cells, i))
			if !ok || !written.HasNonzero(n.Digits) {
				continue
			}
			isOut, known := n.Negative || field == mapping.FieldDebit, true
			if hasKind {
				isOut, known = written.SignOf(at(cells, kind))
			}
			in, out = in || known && !isOut, out || known && isOut
		}
	}
	return in && out
}
