package ocr

import (
	"context"
	"encoding/json"
	"image"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/coffer-budget/coffer/services/ocr/receipt"
)

// golden is the expected content of a receipt.
type golden struct {
	Merchant, Date, Currency, Subtotal, Tax, Tip, Discount, Rounding, Total string
	Amounts                                                                 []string
}

func TestReadPhotographs(t *testing.T) {
	t.Parallel()
	t.Run("tesseract", func(t *testing.T) { t.Parallel(); testReadPhotographs(t, newTestReader()) })
	t.Run("neural", func(t *testing.T) { t.Parallel(); testReadPhotographs(t, neuralReader(t)) })
}

func testReadPhotographs(t *testing.T, reader reader) {
	t.Helper()
	files, err := filepath.Glob("receipt/testdata/*.txt")
	require.NoError(t, err)
	require.GreaterOrEqual(t, len(files), 10)
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".txt")
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			text, want := goldenText(t, name)
			r, err := reader.read(t.Context(), asJPEG(t, photograph(printed(t, text, 26), 0.03)))
			require.NoError(t, err)
			require.Equal(t, want, shown(r.Receipt))
		})
	}
}

func TestReadRejectsImageWithoutReceipt(t *testing.T) {
	t.Parallel()
	blank := image.NewGray(image.Rect(0, 0, 800, 1200))
	for name, img := range map[string]*image.Gray{"black": blank, "greeting": printed(t, "Happy birthday, dear reader", 24)} {
		_, err := newTestReader().read(t.Context(), asJPEG(t, img))
		require.ErrorIs(t, err, errParse, name)
	}
}

func TestReadWithBrokenEngine(t *testing.T) {
	t.Parallel()
	file := asJPEG(t, printed(t, "Total 1.00", 24))
	for name, script := range map[string]string{
		"crashes":               "kill -SEGV $$",
		"killed":                "kill -KILL $$",
		"hangs":                 "sleep 30",
		"prints nothing":        "exit 0",
		"prints nonsense":       "echo oops",
		"prints half a table":   `printf 'level\tpage_num\tblock_num\tpar_num\tline_num\tword_num\tleft\ttop\twidth\theight\tconf\ttext\n5\t1\n'`,
		"box outside the page":  `printf 'level\tpage_num\tblock_num\tpar_num\tline_num\tword_num\tleft\ttop\twidth\theight\tconf\ttext\n5\t1\t1\t1\t1\t1\t-9\t0\t9999999\t1\t90\tTotal\n'`,
		"word on a second page": `printf 'level\tpage_num\tblock_num\tpar_num\tline_num\tword_num\tleft\ttop\twidth\theight\tconf\ttext\n5\t2\t1\t1\t1\t1\t0\t0\t9\t9\t90\tTotal\n'`,
		"prints without end":    "yes",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newTestReader()
			r.engine = local{engine: newTesseract(Config{Tesseract: program(t, script), Timeout: time.Second}), now: time.Now}
			_, err := r.read(t.Context(), file)
			require.ErrorIs(t, err, errResponse)
		})
	}
	r := newTestReader()
	r.engine = local{engine: newTesseract(Config{Tesseract: "no-such-engine", Timeout: time.Second}), now: time.Now}
	_, err := r.read(t.Context(), file)
	require.ErrorIs(t, err, errResponse)
}

func TestReadCanceledRequestStopsEngine(t *testing.T) {
	t.Parallel()
	r := newTestReader()
	r.engine = local{engine: newTesseract(Config{Tesseract: program(t, "sleep 30"), Timeout: 20 * time.Second}), now: time.Now}
	file := asJPEG(t, printed(t, "Total 1.00", 24))
	ctx, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
	defer cancel()
	start := time.Now()
	_, err := r.read(ctx, file)
	require.ErrorIs(t, err, ctx.Err())
	require.Less(t, time.Since(start), 5*time.Second)
}

func goldenText(t *testing.T, name string) (string, golden) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("receipt", "testdata", name+".txt"))
	require.NoError(t, err)
	raw, err := os.ReadFile(filepath.Join("receipt", "testdata", name+".json"))
	require.NoError(t, err)
	var want golden
	require.NoError(t, json.Unmarshal(raw, &want))
	return string(text), want
}

func shown(r receipt.Receipt) golden {
	g := golden{
		Merchant: r.Merchant, Date: r.Date, Currency: r.Currency, Subtotal: r.Subtotal,
		Tax: r.Tax, Tip: r.Tip, Discount: r.Discount, Rounding: r.Rounding, Total: r.Total,
	}
	for _, it := range r.Items {
		g.Amounts = append(g.Amounts, it.Amount)
	}
	return g
}
