// Package tesseract runs the Tesseract program on prepared images and returns the words that it
// reads, with their places.
//
// One run of the program reads any number of images, because a start costs as much as reading a few
// rows. A crash or an endless run fails one call. The output is checked: a word outside its image
// is a failure. ErrFailed marks all failures of the program; an image without text is not one.
package tesseract

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"image"
	"strconv"
	"strings"
	"time"

	"github.com/coffer-budget/coffer/services/ocr/receipt/printed"
	"github.com/coffer-budget/coffer/services/ocr/sandbox"
)

// MainLanguage is tried first, because its model knows digits and Latin letters.
const MainLanguage = "eng"

// languages lists the models that must be installed.
var languages = []string{MainLanguage, "deu", "fra", "spa", "ita"}

// Mode is a page segmentation mode, as Tesseract numbers them (--psm).
type Mode int

const (
	// Columns expects one column of text of different sizes.
	Columns Mode = 4
	// Block expects one uniform block of text. It finds rows that the layout analysis of Columns
	// discards as noise.
	Block     Mode = 6
	SingleRow Mode = 7
)

// Tesseract runs the engine's command line.
type Tesseract struct {
	program string
	limits  sandbox.Limits
}

// ErrFailed marks failures of the engine. An image without text is not a failure.
var ErrFailed = errors.New("the engine failed")

// New returns an engine that runs a program, by name or path.
func New(program string, limit time.Duration) Tesseract {
	limits := sandbox.Limits{Time: limit, Memory: 2 << 30, Output: 8 << 20}
	return Tesseract{program: program, limits: limits}
}

// Words reads several images in one run. It returns the words of each image.
func (t Tesseract) Words(
	ctx context.Context, mode Mode, language string, images ...*image.Gray,
) ([][]printed.Word, error) {
	// --oem 1 selects the neural models. The TIFF states no resolution, so --dpi does. Prepared
	// pages are dark on light, so the second attempt with inverted colors is disabled.
	out, err := sandbox.Run(ctx, t.limits, tiffPages(images), t.program,
		"/dev/stdin", "stdout", "--dpi", "300", "--oem", "1", "--psm", strconv.Itoa(int(mode)),
		"-l", language, "-c", "tessedit_do_invert=0", "tsv")
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrFailed, err)
	}
	words, err := parseTSV(out, images)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrFailed, err)
	}
	return words, nil
}

// Check reports an error if the engine or one of its languages is missing. It runs once, at start.
func (t Tesseract) Check(ctx context.Context) error {
	l := t.limits
	l.Time = 5 * time.Second
	out, err := sandbox.Run(ctx, l, nil, t.program, "--list-langs")
	if err != nil {
		return err
	}
	for _, language := range languages {
		if !strings.Contains(string(out), "\n"+language+"\n") {
			return fmt.Errorf("%s lacks the language %s", t.program, language)
		}
	}
	return nil
}

const (
	tsvHeader = "level\tpage_num\tblock_num\tpar_num\tline_num\tword_num\t" +
		"left\ttop\twidth\theight\tconf\ttext"
	tsvColumns = 12
	wordLevel  = "5"
)

// parseTSV parses Tesseract's table of words, page by page. Any other output is a failure of the
// engine.
func parseTSV(out []byte, pages []*image.Gray) ([][]printed.Word, error) {
	scanner := bufio.NewScanner(bytes.NewReader(out))
	scanner.Buffer(nil, 1<<20)
	if !scanner.Scan() || strings.TrimSpace(scanner.Text()) != tsvHeader {
		return nil, errors.New("no table of words in the output")
	}
	words := make([][]printed.Word, len(pages))
	for scanner.Scan() {
		fields := strings.SplitN(scanner.Text(), "\t", tsvColumns)
		if len(fields) != tsvColumns {
			return nil, fmt.Errorf("row of %d columns in the output", len(fields))
		}
		if fields[0] != wordLevel {
			continue
		}
		page, err := strconv.Atoi(fields[1])
		if err != nil || page < 1 || page > len(pages) {
			return nil, errors.New("word on no page in the output")
		}
		text, err := tsvWord(fields)
		if err != nil {
			return nil, err
		}
		b := text.Box
		if !image.Rect(b.X, b.Y, b.X+b.W, b.Y+b.H).In(pages[page-1].Bounds()) {
			return nil, errors.New("word outside the page in the output")
		}
		if strings.TrimSpace(text.Text) != "" {
			words[page-1] = append(words[page-1], text)
		}
	}
	return words, scanner.Err()
}

// tsvWord parses the row of a word: its box in pixels (columns 6 to 9), its confidence in percent
// (10) and its text (11).
func tsvWord(fields []string) (printed.Word, error) {
	var box [4]int
	for i := range box {
		v, err := strconv.Atoi(fields[6+i])
		if err != nil {
			return printed.Word{}, fmt.Errorf("box in the output: %w", err)
		}
		box[i] = v
	}
	confidence, err := strconv.ParseFloat(fields[10], 64)
	if err != nil {
		return printed.Word{}, fmt.Errorf("confidence in the output: %w", err)
	}
	return printed.Word{
		Text: strings.ToValidUTF8(fields[11], ""), Confidence: confidence / 100,
		Box: printed.Box{X: box[0], Y: box[1], W: box[2], H: box[3]},
	}, nil
}
