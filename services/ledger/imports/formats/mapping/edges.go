package mapping

import (
	"strings"
	"unicode"

	"github.com/coffer-budget/coffer/services/ledger/imports/formats/statement"
	"github.com/coffer-budget/coffer/services/ledger/imports/formats/written"
)

const (
	// minBareRows is the number of transactions from which texts in all of them but one mean
	// something.
	minBareRows = 5
	// minMissing is the number of texts that a payment rarely lacks.
	minMissing = 2
)

// edges finds the first or the last transaction of a file if it lacks texts that all others have.
// Files without a heading may begin or end with a balance. The zero value is empty.
type edges struct {
	rows        int
	texts       []int // Transactions with a text, by column.
	first, last edge
}

// edge is a transaction, with the columns in which it has a text.
type edge struct {
	n       int
	texts   []bool
	arrives bool // A text names money that comes in, such as "Deposit from".
}

// add adds the next transaction of the file.
func (e *edges) add(r *statement.Record) {
	row := edge{n: r.N, texts: make([]bool, len(r.Cells))}
	for i, cell := range r.Cells {
		out, known := written.SignOf(cell)
		row.arrives = row.arrives || known && !out && strings.Contains(cell, " ")
		if i == len(e.texts) {
			e.texts = append(e.texts, 0)
		}
		if row.texts[i] = strings.ContainsFunc(cell, unicode.IsLetter); row.texts[i] {
			e.texts[i]++
		}
	}
	if e.rows++; e.rows == 1 {
		e.first = row
	}
	e.last = row
}

// bare returns the number of the first or the last transaction if only it lacks most of the texts,
// or 0.
func (e *edges) bare() int {
	if e.rows < minBareRows {
		return 0
	}
	for _, row := range []edge{e.first, e.last} {
		missing, usual := 0, 0
		for i, n := range e.texts {
			has := i < len(row.texts) && row.texts[i]
			if n == e.rows-1 && !has {
				missing++
			}
			if n >= e.rows-1 {
				usual++
			}
		}
		// A fee of the bank also has no other party.
		if missing >= minMissing && missing*2 > usual {
			return row.n
		}
	}
	return 0
}

// pays reports whether a text of the first or the last transaction names money that comes in.
func (e *edges) pays(n int) bool {
	return n == e.first.n && e.first.arrives || n == e.last.n && e.last.arrives
}
