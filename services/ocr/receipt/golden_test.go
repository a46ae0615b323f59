package receipt

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/coffer-budget/coffer/services/ocr/receipt/printed"
)

var today = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

// golden is the expected content of a receipt in testdata. Fields that are left out must be empty.
type golden struct {
	Merchant, Date, Currency, Subtotal, Tax, Tip, Discount, Rounding, Total string
	Amounts                                                                 []string
}

func TestJoinGoldenReceipts(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/*.txt")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			t.Parallel()
			text, err := os.ReadFile(file)
			require.NoError(t, err)
			want := readGolden(t, strings.TrimSuffix(file, ".txt")+".json")
			require.Equal(t, want, shown(readText(string(text))))
			require.Equal(t, want, shown(Join(today, Read(printed.FromText(string(text))))),
				"as a text file")
		})
	}
}

func TestJoinConfidenceAndEvidence(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("testdata/en_us.txt")
	require.NoError(t, err)
	receipt := readText(string(text))
	places := map[string]string{}
	for _, e := range receipt.Evidence {
		require.Equal(t, 1, e.Page)
		places[e.Field] = e.Text
	}
	for _, field := range []string{"merchant", "date", "currency", "total", "subtotal"} {
		require.Contains(t, receipt.Confidence, field)
		require.Contains(t, places, field)
	}
	require.GreaterOrEqual(t, receipt.Confidence["total"], confidentTotal)
	require.Equal(t, "40.91", places["total"])
	require.Contains(t, places["lines[3]"], "Apple Pie")
}

// readText reads a text as if an engine had recognized it, so that its digits may be misread.
func readText(text string) Receipt { return Join(today, Read(recognized(text))) }

// recognized returns the pages of a text without the mark for exact words.
func recognized(text string) []printed.Page {
	pages := printed.FromText(text)
	for i := range pages {
		pages[i].Exact = false
	}
	return pages
}

func readGolden(t *testing.T, name string) golden {
	t.Helper()
	raw, err := os.ReadFile(name)
	require.NoError(t, err)
	var g golden
	require.NoError(t, json.Unmarshal(raw, &g))
	return g
}

// shown returns the fields that golden files contain.
func shown(r Receipt) golden {
	g := golden{
		Merchant: r.Merchant, Date: r.Date, Currency: r.Currency, Subtotal: r.Subtotal,
		Tax: r.Tax, Tip: r.Tip, Discount: r.Discount, Rounding: r.Rounding, Total: r.Total,
	}
	for _, it := range r.Items {
		g.Amounts = append(g.Amounts, it.Amount)
	}
	return g
}
