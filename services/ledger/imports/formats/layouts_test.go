package formats_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"text/tabwriter"

	"github.com/stretchr/testify/require"
)

// layout is a labeled file: a line of a set such as known.jsonl.
type layout struct {
	File     string  `json:"file"`
	Source   string  `json:"source"`
	Currency *string `json:"currency"` // Nil if the file does not say.
	Rows     []row   `json:"rows"`
	Also     [][]row `json:"also"`    // Other lists of rows that are right, too.
	Skipped  int     `json:"skipped"` // Rows that are no transactions.
	Note     string  `json:"note"`
}

// row is a transaction as a person would enter it. Money out is negative.
type row struct {
	Date     string `json:"date"`
	Amount   string `json:"amount"`
	Currency string `json:"currency"`
	Payee    string `json:"payee"`
	Text     string `json:"text"`
	Status   string `json:"status"`
}

// floors are the lowest accepted shares of layouts, in percent: of exact ones, and of exact ones
// whose commit waits for no choice of the user.
var floors = map[string]struct{ exact, unasked int }{
	"known": {95, 91}, "unseen": {96, 92}, "fresh": {96, 96}, "held": {96, 96},
	"sealed": {97, 96}, "next": {97, 96}, "later": {93, 89}, "common": {84, 78},
	"blind": {97, 89},
}

// TestLayouts reads the files of banks and programs in testdata/layouts. All sets but next are used
// to improve the importer. All but known were written without knowledge of it, and were kept out at
// first. next must not be used to improve the importer. A file is exact if the dates, amounts and
// currencies of all rows are right. It is warned if some are wrong, but a warning or the problem of
// a row names the kind of the error. It is silent otherwise, which fails the test.
func TestLayouts(t *testing.T) {
	t.Parallel()
	labels, err := filepath.Glob(filepath.Join("..", "testdata", "layouts", "*.jsonl"))
	require.NoError(t, err)
	require.Len(t, labels, len(floors))
	for _, path := range labels {
		set := strings.TrimSuffix(filepath.Base(path), ".jsonl")
		t.Run(set, func(t *testing.T) {
			t.Parallel()
			var table strings.Builder
			w := tabwriter.NewWriter(&table, 0, 0, 2, ' ', 0)
			counts := make(map[string]int)
			layouts := readLayouts(t, set)
			for _, l := range layouts {
				got := readLayout(t, filepath.Join("..", "testdata", "layouts", set, l.File))
				result, wrong := got.judgeAll(l)
				counts[result]++
				got.countTexts(l, counts)
				if result == resultExact && len(got.facts.Warnings) == 0 {
					counts["without a warning"]++
				}
				if result == resultExact && !got.blocks() {
					counts["without a click"]++
				}
				_, _ = fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", result, l.File, wrong,
					strings.Join(got.facts.Warnings, " "))
				if result == resultSilent {
					t.Errorf("%s/%s is wrong without a word: %s", set, l.File, wrong)
				}
			}
			require.NoError(t, w.Flush())
			exact := 100 * counts[resultExact] / len(layouts)
			unasked := 100 * counts["without a click"] / len(layouts)
			t.Logf("%s: %d layouts, %d exact (%d %%), %d exact without a click (%d %%), "+
				"%d without a warning, %d warned, %d silent; "+
				"payee right in %d of %d rows, text shown in %d of %d, pending in %d of %d\n%s",
				set, len(layouts),
				counts[resultExact], exact, counts["without a click"], unasked,
				counts["without a warning"], counts[resultWarned], counts[resultSilent], counts["payee"], counts["payees"], counts["text"],
				counts["texts"], counts["pending"], counts["pendings"], table.String())
			require.Contains(t, floors, set)
			require.GreaterOrEqual(t, exact, floors[set].exact, "exact layouts in percent")
			require.GreaterOrEqual(t, unasked, floors[set].unasked, "exact without a click")
		})
	}
}

// readLayouts returns the labels of a set.
func readLayouts(t *testing.T, set string) []layout {
	t.Helper()
	file, err := os.Open(filepath.Join("..", "testdata", "layouts", set+".jsonl"))
	require.NoError(t, err)
	defer file.Close()
	var layouts []layout
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var l layout
		require.NoError(t, json.Unmarshal(lines.Bytes(), &l))
		require.NotEmpty(t, l.Source, l.File)
		layouts = append(layouts, l)
	}
	require.NoError(t, lines.Err())
	files, err := os.ReadDir(filepath.Join("..", "testdata", "layouts", set))
	require.NoError(t, err)
	require.Len(t, layouts, len(files), "each file has a label")
	return layouts
}
