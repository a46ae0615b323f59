package csv

import (
	"errors"
	"io"
	"strings"

	"github.com/coffer-budget/coffer/services/ledger/imports/formats/headings"
	"github.com/coffer-budget/coffer/services/ledger/imports/formats/proposal"
	"github.com/coffer-budget/coffer/services/ledger/imports/formats/scan"
)

// Form is how the rows of a file are split into cells.
type Form struct {
	Delimiter string // One or several characters, or "" if the file has no columns.
	Wrapped   bool   // Each row is one quoted cell.
}

// Rows returns a reader of the rows in r.
func (f Form) Rows(r io.Reader) *scan.Rows {
	rows := &scan.Rows{Lines: scan.NewLines(r), Wrapped: f.Wrapped}
	if len(f.Delimiter) == 1 {
		rows.Delimiter = f.Delimiter[0]
	} else {
		rows.Delimiter, rows.Separator = unitSeparator, f.Delimiter
	}
	return rows
}

// unitSeparator replaces a delimiter of several characters.
const unitSeparator = '\x1f'

// Detect returns the form of a file. A delimiter that the caller has chosen is not examined.
func Detect(head, chosen string) Form {
	if chosen != "" {
		return Form{Delimiter: chosen}
	}
	if delimiter := longDelimiter(head); delimiter != "" {
		return Form{Delimiter: delimiter}
	}
	if delimiter := findDelimiter(head, false); delimiter != "" {
		return Form{Delimiter: delimiter}
	}
	return Form{findDelimiter(head, true), true}
}

const (
	// detectedRows is the number of rows that decide the delimiter.
	detectedRows = 60
	// minLong is the number of rows with equally many of a delimiter of several characters.
	minLong = 3
	// maxLong is the length of the longest delimiter.
	maxLong = 4
)

// longDelimiter returns the delimiter of several different characters such as "~|~" that separates
// the cells of most rows, or "". Empty cells show repeated delimiters, so the shortest one counts.
func longDelimiter(head string) string {
	rows := make(map[string]map[int]int) // By delimiter and its number in a row.
	lines := 0
	for line := range strings.Lines(head) {
		if lines++; lines > detectedRows {
			break
		}
		isText := func(r rune) bool { return !strings.ContainsRune("~|^#¦§", r) }
		seen := make(map[string]bool)
		for run := range strings.FieldsFuncSeq(line, isText) {
			if len(run) < 2 || len(run) > maxLong || strings.Trim(run, run[:1]) == "" || seen[run] {
				continue
			}
			seen[run] = true
			if rows[run] == nil {
				rows[run] = make(map[int]int)
			}
			rows[run][strings.Count(line, run)]++
		}
	}
	best := ""
	for run, counts := range rows {
		for n, found := range counts {
			shorter := len(run) < len(best) || len(run) == len(best) && run < best
			if n > 1 && found >= minLong && (best == "" || shorter) {
				best = run
			}
		}
	}
	return best
}

// findDelimiter returns the delimiter with which most rows have the same number of columns, or "".
// With wrapped, a row is one quoted cell. Known headings count, too: a comma separates the decimals
// of a file whose delimiter is a semicolon, with a stable number of columns.
func findDelimiter(head string, wrapped bool) string {
	best, bestScore := "", 0
	for _, delimiter := range []string{";", "\t", ",", "|", "^", "~"} {
		if !strings.Contains(head, delimiter) {
			continue
		}
		counts := make(map[int]int)
		known, rowCount := 0, 0
		source := Form{delimiter, wrapped}.Rows(strings.NewReader(head))
		for rowCount < detectedRows {
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
