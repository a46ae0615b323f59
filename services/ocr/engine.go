package ocr

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"image"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/coffer-budget/coffer/services/ocr/receipt"
)

// mainLanguage is tried first: its model knows digits and Latin letters, which is most of any receipt.
const mainLanguage = "eng"

// languages are the models that must be installed.
var languages = []string{mainLanguage, "deu", "fra", "spa", "ita"}

// segmentation is how the engine is told to look at the page, as Tesseract numbers it.
type segmentation int

const (
	// columns: one column of text of different sizes, which keeps most of a receipt's rows together.
	columns segmentation = 4
	// block: one even block of text; it finds rows that the layout analysis throws away as noise.
	block segmentation = 6
	// singleRow: nothing but one row of text.
	singleRow segmentation = 7
)

// tesseract runs the engine's command line, once for each picture: a crash costs one request.
type tesseract struct {
	program string
	limits  limits
}

// errEngine marks failures of the engine, as against pictures on which there is nothing.
var errEngine = errors.New("the engine failed")

func newTesseract(c Config) tesseract {
	return tesseract{program: c.Tesseract, limits: limits{time: c.Timeout, memory: 2 << 30, output: 8 << 20}}
}

func (t tesseract) words(ctx context.Context, img *image.Gray, how pass) ([]receipt.Word, error) {
	out, err := run(ctx, t.limits, graymap(img), t.program, "stdin", "stdout", "--dpi", "300", "--oem", "1",
		"--psm", strconv.Itoa(int(how.mode)), "-l", how.language, "-c", "tessedit_do_invert=0", "tsv")
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errEngine, err)
	}
	words, err := parseTSV(out, img.Bounds())
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errEngine, err)
	}
	return words, nil
}

// check tells at start whether the engine is there, and has its languages.
func (t tesseract) check(ctx context.Context) error {
	l := t.limits
	l.time = 5 * time.Second
	out, err := run(ctx, l, nil, t.program, "--list-langs")
	if err != nil {
		return err
	}
	for language := range slices.Values(languages) {
		if !strings.Contains(string(out), "\n"+language+"\n") {
			return fmt.Errorf("%s lacks the language %s", t.program, language)
		}
	}
	return nil
}

// graymap is the picture as a binary PGM, the plainest form that the engine takes.
func graymap(img *image.Gray) []byte {
	b := img.Bounds()
	out := fmt.Appendf(nil, "P5\n%d %d\n255\n", b.Dx(), b.Dy())
	for y := b.Min.Y; y < b.Max.Y; y++ {
		at := img.PixOffset(b.Min.X, y)
		out = append(out, img.Pix[at:at+b.Dx()]...)
	}
	return out
}

const (
	tsvHeader  = "level\tpage_num\tblock_num\tpar_num\tline_num\tword_num\tleft\ttop\twidth\theight\tconf\ttext"
	tsvColumns = 12
	wordLevel  = "5"
)

// parseTSV reads Tesseract's table of words; anything else is nonsense, and the engine's failure.
func parseTSV(out []byte, page image.Rectangle) ([]receipt.Word, error) {
	scanner := bufio.NewScanner(bytes.NewReader(out))
	scanner.Buffer(nil, 1<<20)
	if !scanner.Scan() || strings.TrimSpace(scanner.Text()) != tsvHeader {
		return nil, errors.New("no table of words in the output")
	}
	var words []receipt.Word
	for scanner.Scan() {
		f := strings.SplitN(scanner.Text(), "\t", tsvColumns)
		if len(f) != tsvColumns {
			return nil, fmt.Errorf("row of %d columns in the output", len(f))
		}
		if f[0] != wordLevel {
			continue
		}
		w, err := tsvWord(f)
		if err != nil {
			return nil, err
		}
		inside := image.Rect(w.Box.X, w.Box.Y, w.Box.X+w.Box.W, w.Box.Y+w.Box.H).In(image.Rect(0, 0, page.Dx(), page.Dy()))
		if !inside {
			return nil, errors.New("word outside the page in the output")
		}
		if strings.TrimSpace(w.Text) != "" {
			words = append(words, w)
		}
	}
	return words, scanner.Err()
}

func tsvWord(f []string) (receipt.Word, error) {
	var n [4]int
	for i := range n {
		v, err := strconv.Atoi(f[6+i])
		if err != nil {
			return receipt.Word{}, fmt.Errorf("box in the output: %w", err)
		}
		n[i] = v
	}
	confidence, err := strconv.ParseFloat(f[10], 64)
	if err != nil {
		return receipt.Word{}, fmt.Errorf("confidence in the output: %w", err)
	}
	return receipt.Word{Text: strings.ToValidUTF8(f[11], ""), Confidence: confidence / 100, Box: receipt.Box{X: n[0], Y: n[1], W: n[2], H: n[3]}}, nil
}
