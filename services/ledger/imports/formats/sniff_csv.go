package formats

import (
	"errors"
	"io"
	"iter"
	"strings"

	"github.com/coffer-budget/coffer/services/ledger/imports/formats/scan"
	"github.com/coffer-budget/coffer/services/ledger/imports/formats/written"
)

// sniffCSV returns the format of a text with columns: CSV, Firefly III, YNAB or Coffer.
func sniffCSV(head string, options Options) (string, func(*input) iter.Seq2[Record, error]) {
	delimiter, wrapped := byte(0), false
	if len(options.Delimiter) == 1 {
		delimiter = options.Delimiter[0]
	} else if delimiter = findDelimiter(head, false); delimiter == 0 {
		if delimiter, wrapped = findDelimiter(head, true), true; delimiter == 0 {
			return "", nil
		}
	}
	first, _, err := (&scan.Rows{Lines: scan.NewLines(strings.NewReader(head)), Delimiter: delimiter}).Next()
	switch {
	case err == nil && isYNAB(first):
		return YNAB, parseYNAB(delimiter)
	case err == nil && isFirefly(first):
		return Firefly, parseFirefly(delimiter)
	case err == nil && delimiter == ',' && isCofferCSV(first):
		return Coffer, parseCofferCSV
	}
	return CSV, parseCSV(delimiter, wrapped)
}

// sniffRows is the number of rows that decide the delimiter.
const sniffRows = 60

// findDelimiter returns the delimiter with which most rows have the same number of columns, or 0. With wrapped, a row is one quoted cell.
// separates the decimals of a file whose delimiter is a semicolon, with a stable number of columns.
func findDelimiter(head string, wrapped bool) byte {
	best, bestScore := byte(0), 0
	for _, delimiter := range []byte{';', '\t', ',', '|'} {
		if strings.IndexByte(head, delimiter) < 0 {
			continue
		}
		counts := make(map[int]int)
		known, rowCount := 0, 0
		source := &scan.Rows{Lines: scan.NewLines(strings.NewReader(head)), Delimiter: delimiter, Wrapped: wrapped}
		for rowCount < sniffRows {
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
			if rowCount <= maxPreamble {
				known = max(known, knownHeadings(cells))
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

// knownHeadings returns the number of cells that are headings of columns.
func knownHeadings(cells []string) int {
	n := 0
	for _, c := range cells {
		if c != "" && len(c) <= 80 && len(headings[written.Fold(c)]) > 0 {
			n++
		}
	}
	if n < 2 {
		return 0
	}
	return n
}
