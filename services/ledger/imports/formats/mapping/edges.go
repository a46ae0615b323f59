package mapping

import (
	"strings"
	"unicode"

	"github.com/coffer-budget/coffer/services/ledger/imports/formats/statement"
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
	n     int
	texts []bool
}

// add adds the next transaction of the file.
func (e *edges) add(r *statement.Record) {
	row := edge{r.N, make([]bool, len(r.Cells))}
	for i, cell := range r.Cells {
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

// bare returns the number of the first or the last transaction if only it lacks texts, or 0.
func (e *edges) bare() int {
	if e.rows < minBareRows {
		return 0
	}
	for _, row := range []edge{e.first, e.last} {
		missing := 0
		for i, n := range e.texts {
			if n == e.rows-1 && (i >= len(row.texts) || !row.texts[i]) {
				missing++
			}
		}
		if missing >= minMissing {
			return row.n
		}
	}
	return 0
}
