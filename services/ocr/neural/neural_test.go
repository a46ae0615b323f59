package neural

import (
	"image"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/coffer-budget/coffer/services/ocr/imaging/gray"
)

// fakeEngine returns an engine whose detector marks dark pixels and whose recognizer reads the same
// text in every row, with its characters at equal distances.
func fakeEngine(t *testing.T, text string) *Engine {
	t.Helper()
	letters := "0123456789.:/ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	list := ""
	for _, r := range letters {
		list += string(r) + "\n"
	}
	classes := len(letters) + 2
	class := func(r rune) int {
		for i, l := range letters {
			if l == r {
				return i + 1
			}
		}
		return classes - 1
	}
	detector := func(input []float32, shape []int64, use func([]float32, []int64) error) error {
		out := make([]float32, shape[2]*shape[3])
		for i := range out {
			if input[i] < 0 {
				out[i] = 0.9
			}
		}
		return use(out, []int64{1, 1, shape[2], shape[3]})
	}
	recognizer := func(_ []float32, shape []int64, use func([]float32, []int64) error) error {
		positions := 2*len(text) + 2
		out := make([]float32, int(shape[0])*positions*classes)
		for row := range int(shape[0]) {
			for i, r := range text {
				out[(row*positions+2*i+1)*classes+class(r)] = 0.9
			}
		}
		return use(out, []int64{shape[0], int64(positions), int64(classes)})
	}
	e, err := New(detector, recognizer, list)
	require.NoError(t, err)
	return e
}

// printedRow returns a page with a dark bar.
func printedRow(w, h int) *image.Gray {
	img := image.NewGray(image.Rect(0, 0, w, h))
	for i := range img.Pix {
		img.Pix[i] = 255
	}
	for y := h / 3; y < h/2; y++ {
		for x := w / 10; x < w*9/10; x++ {
			img.Pix[y*img.Stride+x] = 0
		}
	}
	return img
}

func textsOf(words []Word) []string {
	var out []string
	for _, w := range words {
		out = append(out, w.Text)
	}
	return out
}

func TestReadSplitsWords(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][]string{
		"TOTAL 1.00":      {"TOTAL", "1.00"},
		"01/02/202613:45": {"01/02/2026", "13:45"},
		" ":               nil,
		"":                nil,
	} {
		page, err := fakeEngine(t, text).Read(printedRow(400, 200))
		require.NoError(t, err)
		require.Equal(t, want, textsOf(page.Words), text)
		for _, w := range page.Words {
			require.True(t, w.Box.In(image.Rect(0, 0, 400, 200)))
		}
	}
}

func TestReadImagesOfAnySize(t *testing.T) {
	t.Parallel()
	for _, size := range []image.Point{{1, 1}, {1, 4000}, {4000, 1}, {3, 3}, {5000, 1200}} {
		_, err := fakeEngine(t, "1.00").Read(printedRow(size.X, size.Y))
		require.NoError(t, err, size)
	}
}

func TestReadRejectsOutputOfUnexpectedShape(t *testing.T) {
	t.Parallel()
	engine := fakeEngine(t, "1.00")
	short := func(_ []float32, _ []int64, use func([]float32, []int64) error) error {
		return use([]float32{1}, []int64{1})
	}
	recognizer := engine.recognizer
	engine.recognizer = short
	_, err := engine.Read(printedRow(200, 100))
	require.Error(t, err)
	engine.recognizer, engine.detector = recognizer, short
	_, err = engine.Read(printedRow(200, 100))
	require.Error(t, err)
}

func TestDetectFindsTiltedAreas(t *testing.T) {
	t.Parallel()
	for _, angle := range []float64{0, 0.1, -0.2, math.Pi/2 - 0.05} {
		const w, h = 320, 320
		probability := make([]float32, w*h)
		want := quad{point{100, 150}, point{120, 0}, point{0, 20}}.turned(angle, point{160, 160})
		for y := range h {
			for x := range w {
				if want.contains(point{float64(x) + 0.5, float64(y) + 0.5}) {
					probability[y*w+x] = 0.9
				}
			}
		}
		got := textAreas(probability, w, h)
		require.Len(t, got, 1)
		// The area is grown by the distance that the detector's training took off.
		const grown = 120 * 20 * unclip / (2 * (120 + 20))
		require.InDelta(t, 120+2*grown, got[0].width(), 3)
		require.InDelta(t, 20+2*grown, got[0].height(), 3)
		require.InDelta(t, angle, got[0].angle(), 0.02)
		require.InDelta(t, want.at(0.5, 0.5).x, got[0].at(0.5, 0.5).x, 2)
		require.InDelta(t, want.at(0.5, 0.5).y, got[0].at(0.5, 0.5).y, 2)
	}
}

// turned returns the quad after a rotation around a point.
func (q quad) turned(angle float64, around point) quad {
	sin, cos := math.Sincos(angle)
	turn := func(p point) point { return point{p.x*cos - p.y*sin, p.x*sin + p.y*cos} }
	origin := turn(q.origin.plus(around.times(-1))).plus(around)
	return quad{origin, turn(q.along), turn(q.down)}
}

func (q quad) contains(p point) bool {
	d := p.plus(q.origin.times(-1))
	along := (d.x*q.along.x + d.y*q.along.y) / (q.width() * q.width())
	down := (d.x*q.down.x + d.y*q.down.y) / (q.height() * q.height())
	return along >= 0 && along <= 1 && down >= 0 && down <= 1
}

// TestDetectSearchesLongPagesInBands finds more rows than fit one search, each once and whole.
func TestDetectSearchesLongPagesInBands(t *testing.T) {
	t.Parallel()
	const rows, leading, height = 700, 16, 8
	for name, turns := range map[string]int{"upright": 0, "on its side": 1} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			page := image.NewGray(image.Rect(0, 0, 300, rows*leading))
			for i := range page.Pix {
				page.Pix[i] = 255
				x, y := i%page.Stride, i/page.Stride
				if x > 20 && x < 280 && y%leading >= 4 && y%leading < 4+height {
					page.Pix[i] = 0
				}
			}
			quads, err := fakeEngine(t, "1").detect(&pyramid{gray.Turn(page, turns)})
			require.NoError(t, err)
			found := len(quads) // The output of Len would have all areas.
			require.Equal(t, rows, found)
			for _, q := range quads {
				// The areas extend beyond the ink.
				require.InDelta(t, 272, q.width(), 8)
				require.InDelta(t, 20, q.height(), 4)
			}
		})
	}
}

func TestDecodeJoinsRepetitionsAndSkipsBlanks(t *testing.T) {
	t.Parallel()
	letters, err := parseAlphabet("A\n中\n：\n")
	require.NoError(t, err)
	require.Equal(t, 5, letters.classes)
	var out []float32
	// Blank, A, A, blank, A, a Chinese character that hides A, a colon, space.
	for _, class := range []int{0, 1, 1, 0, 1, 2, 3, 4} {
		values := make([]float32, letters.classes)
		values[class] = 0.9
		values[1] += 0.05
		out = append(out, values...)
	}
	text := ""
	for _, c := range letters.decode(out, 8) {
		text += string(c.r)
	}
	require.Equal(t, "AA: ", text)
}
