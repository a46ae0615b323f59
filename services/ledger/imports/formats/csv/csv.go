// Package csv parses the CSV files of banks, whose columns have no fixed meaning.
//
// Delimiter finds the delimiter at the start of a file. Parse yields the rows as records with
// cells, also the heading and the lines of the bank before and after the table. At the end it
// proposes a mapping (package proposal), and package mapping converts the cells.
//
// Package scan splits the rows. It accepts quotes where banks write them, and limits the length of
// a row.
package csv

import (
	"errors"
	"io"
	"iter"
	"strings"

	"github.com/coffer-budget/coffer/services/ledger/imports/formats/headings"
	"github.com/coffer-budget/coffer/services/ledger/imports/formats/mapping"
	"github.com/coffer-budget/coffer/services/ledger/imports/formats/proposal"
	"github.com/coffer-budget/coffer/services/ledger/imports/formats/scan"
	"github.com/coffer-budget/coffer/services/ledger/imports/formats/statement"
)

// Parse parses rows of cells. The proposed mapping is complete after the last record. With
// wrapped, each row is one quoted cell.
func Parse(
	in *statement.Input, delimiter byte, wrapped bool,
) (iter.Seq2[statement.Record, error], *mapping.Mapping) {
	proposed := &mapping.Mapping{}
	return func(yield func(statement.Record, error) bool) {
		source := &scan.Rows{Lines: scan.NewLines(in.Text), Delimiter: delimiter, Wrapped: wrapped}
		profile := proposal.NewProfile(in.Options)
		for {
			cells, line, err := source.Next()
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
		*proposed = profile.Propose(in, string(delimiter))
	}, proposed
}

// Delimiter returns the delimiter of a file, or 0 if the start of the file has no columns. wrapped
// reports whether each row is one quoted cell. A delimiter that the caller has chosen is not
// examined.
func Delimiter(head, chosen string) (delimiter byte, wrapped bool) {
	if len(chosen) == 1 {
		return chosen[0], false
	}
	if delimiter = findDelimiter(head, false); delimiter != 0 {
		return delimiter, false
	}
	return findDelimiter(head, true), true
}

// delimiterRows is the number of rows that decide the delimiter.
const delimiterRows = 60

// findDelimiter returns the delimiter with which most rows have the same number of columns, or 0.
// With wrapped, a row is one quoted cell. Known headings count, too: a comma separates the decimals
// of a file whose delimiter is a semicolon, with a stable number of columns.
func findDelimiter(head string, wrapped bool) byte {
	best, bestScore := byte(0), 0
	for _, delimiter := range []byte{';', '\t', ',', '|'} {
		if strings.IndexByte(head, delimiter) < 0 {
			continue
		}
		counts := make(map[int]int)
		known, rowCount := 0, 0
		source := &scan.Rows{
			Lines: scan.NewLines(strings.NewReader(head)), Delimiter: delimiter, Wrapped: wrapped,
		}
		for rowCount < delimiterRows {
			cells, _, err := source.Next()
			if err != nil {
				if !errors.Is(err, io.EOF) && rowCount == 0 {
					counts = nil
				}
				break
			}
			rowCount++
			if len(cells) > 1 {
				counts[width(cells)]++
			}
			if len(cells) > width(cells) {
				counts[len(cells)]++
			}
			if rowCount <= proposal.MaxPreamble {
				known = max(known, headings.Known(cells))
			}
		}
		score := 0
		for columns, n := range counts {
			score = max(score, n*(4+min(columns, 12)))
		}
		score += known * 8 * max(1, rowCount/4)
		if score > bestScore {
			best, bestScore = delimiter, score
		}
	}
	return best
}

// width returns the number of cells without empty ones at the end.
func width(cells []string) int {
	n := len(cells)
	for n > 0 && cells[n-1] == "" {
		n--
	}
	return n
}
