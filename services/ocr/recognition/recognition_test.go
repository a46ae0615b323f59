package recognition

import (
	"context"
	"image"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/coffer-budget/coffer/services/ocr/fixture"
	"github.com/coffer-budget/coffer/services/ocr/imaging"
	"github.com/coffer-budget/coffer/services/ocr/media"
	"github.com/coffer-budget/coffer/services/ocr/receipt"
	"github.com/coffer-budget/coffer/services/ocr/tesseract"
)

// newTestReader returns a reader with Tesseract as its only engine.
func newTestReader() Reader {
	alone := local{engine: tesseract.New("tesseract", time.Minute), now: time.Now}
	return Reader{opener: media.New(time.Minute), engine: alone, now: time.Now}
}

// scripted returns Tesseract alone as a shell script.
func scripted(t *testing.T, script string, limit time.Duration) local {
	t.Helper()
	return local{engine: tesseract.New(fixture.Program(t, script), limit), now: time.Now}
}

func TestReadPhotographs(t *testing.T) {
	t.Parallel()
	t.Run("tesseract", func(t *testing.T) { t.Parallel(); testReadPhotographs(t, newTestReader()) })
	t.Run("neural", func(t *testing.T) { t.Parallel(); testReadPhotographs(t, neuralReader(t)) })
}

func testReadPhotographs(t *testing.T, reader Reader) {
	t.Helper()
	for _, name := range fixture.GoldenNames(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			text, want := fixture.GoldenText(t, name)
			skewed := imaging.Rotate(fixture.Printed(t, text, 26), 0.03)
			r, err := reader.Read(t.Context(), fixture.JPEG(t, fixture.Photograph(skewed)))
			require.NoError(t, err)
			require.Equal(t, want, shown(r.Receipt))
		})
	}
}

func TestReadRejectsImageWithoutReceipt(t *testing.T) {
	t.Parallel()
	blank := image.NewGray(image.Rect(0, 0, 800, 1200))
	greeting := fixture.Printed(t, "Happy birthday, dear reader", 24)
	for name, img := range map[string]*image.Gray{"black": blank, "greeting": greeting} {
		_, err := newTestReader().Read(t.Context(), fixture.JPEG(t, img))
		require.ErrorIs(t, err, ErrParse, name)
	}
}

// table returns a script that prints Tesseract's table with rows.
func table(rows string) string {
	return `printf 'level\tpage_num\tblock_num\tpar_num\tline_num\tword_num\t` +
		`left\ttop\twidth\theight\tconf\ttext\n` + rows + `'`
}

func TestReadWithBrokenEngine(t *testing.T) {
	t.Parallel()
	file := fixture.JPEG(t, fixture.Printed(t, "Total 1.00", 24))
	for name, script := range map[string]string{
		"crashes":               "kill -SEGV $$",
		"killed":                "kill -KILL $$",
		"hangs":                 "sleep 30",
		"prints nothing":        "exit 0",
		"prints nonsense":       "echo oops",
		"prints half a table":   table(`5\t1\n`),
		"box outside the page":  table(`5\t1\t1\t1\t1\t1\t-9\t0\t9999999\t1\t90\tTotal\n`),
		"word on a second page": table(`5\t2\t1\t1\t1\t1\t0\t0\t9\t9\t90\tTotal\n`),
		"prints without end":    "yes",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newTestReader()
			r.engine = scripted(t, script, time.Second)
			_, err := r.Read(t.Context(), file)
			require.ErrorIs(t, err, ErrResponse)
		})
	}
	r := newTestReader()
	r.engine = local{engine: tesseract.New("no-such-engine", time.Second), now: time.Now}
	_, err := r.Read(t.Context(), file)
	require.ErrorIs(t, err, ErrResponse)
}

func TestReadCanceledRequestStopsEngine(t *testing.T) {
	t.Parallel()
	r := newTestReader()
	r.engine = scripted(t, "sleep 30", 20*time.Second)
	file := fixture.JPEG(t, fixture.Printed(t, "Total 1.00", 24))
	ctx, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
	defer cancel()
	start := time.Now()
	_, err := r.Read(ctx, file)
	require.ErrorIs(t, err, ctx.Err())
	require.Less(t, time.Since(start), 15*time.Second)
}

func shown(r receipt.Receipt) fixture.Golden {
	g := fixture.Golden{
		Merchant: r.Merchant, Date: r.Date, Currency: r.Currency, Subtotal: r.Subtotal,
		Tax: r.Tax, Tip: r.Tip, Discount: r.Discount, Rounding: r.Rounding, Total: r.Total,
	}
	for _, it := range r.Items {
		g.Amounts = append(g.Amounts, it.Amount)
	}
	return g
}

func TestRecognizeLeavesNoFiles(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("TMPDIR", dir)
	_, err := newTestReader().Read(t.Context(), fixture.Small(t))
	require.NoError(t, err)
	_, err = newTestReader().Read(t.Context(), []byte(strings.Repeat("%PDF-1.4 ", 100)))
	require.ErrorIs(t, err, ErrParse)
	left, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Empty(t, left)
}
