// Package csv parses the CSV files of banks, whose columns have no fixed meaning.
//
// Detect finds the delimiter at the start of a file. Parse yields the rows as records with cells,
// also the heading and the lines of the bank before and after the table. At the end it proposes a
// mapping (package proposal), and package mapping converts the cells.
//
// Package scan splits the rows. It accepts quotes where banks write them, and limits the length of
// a row.
//
//   - csv.go: Parse. broken.go: rows with line breaks in cells without quotes
//   - detect.go: the delimiter
package csv

import (
	"errors"
	"io"
	"iter"

	"github.com/coffer-budget/coffer/services/ledger/imports/formats/mapping"
	"github.com/coffer-budget/coffer/services/ledger/imports/formats/proposal"
	"github.com/coffer-budget/coffer/services/ledger/imports/formats/statement"
)

// Parse parses rows of cells. The proposed mapping is complete after the last record.
func Parse(
	in *statement.Input, form Form,
) (iter.Seq2[statement.Record, error], *mapping.Mapping) {
	proposed := &mapping.Mapping{}
	return func(yield func(statement.Record, error) bool) {
		rows := &whole{source: form.Rows(in.Text)}
		profile := proposal.NewProfile(in.Options)
		for {
			cells, line, err := rows.next()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				yield(statement.Record{}, err)
				return
			}
			profile.Add(cells)
			if !yield(statement.Record{Line: line, Cells: cells}, nil) {
				return
			}
		}
		*proposed = profile.Propose(in, form.Delimiter)
	}, proposed
}
