// Package ocrtest generates photographs of receipts for the tests and benchmarks of other modules:
// the system tests, the benchmarks and the demo upload them.
//
// Photograph prints a text and photographs it: skewed, shaded and grainy, but easier to read than
// real photographs. The image depends only on the arguments. The tests of this module use package
// fixture instead, which depends on package testing.
package ocrtest

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	"image/jpeg"
	"math"
	"math/rand/v2"
	"strings"

	"golang.org/x/image/draw"
	"golang.org/x/image/font"
	"golang.org/x/image/font/gofont/gomonobold"
	"golang.org/x/image/font/opentype"
	"golang.org/x/image/math/f64"
	"golang.org/x/image/math/fixed"
)

// The size of a letter and the margins of paper and table, relative to the font size.
const (
	letterWidth = 0.6
	lineHeight  = 1.4
	margin      = 1.5
)

// Photograph returns a receipt's text as a JPEG of about that many pixels, like a phone's
// photograph: skewed on a table, with a shadow on one side, and grainy. Images of different grain
// are different files.
func Photograph(text string, pixels int, grain uint64) ([]byte, error) {
	lines := strings.Split(strings.TrimRight(text, "\n"), "\n")
	columns := 0
	for _, line := range lines {
		columns = max(columns, len([]rune(line)))
	}
	wide, high := letterWidth*float64(columns)+4*margin, lineHeight*float64(len(lines))+4*margin
	size := math.Sqrt(float64(pixels) / (wide * high))
	area := image.Pt(int((wide-2*margin)*size), int((high-2*margin)*size))
	paper, err := printed(lines, area, size)
	if err != nil {
		return nil, err
	}
	table := image.NewGray(image.Rect(0, 0, int(wide*size), int(high*size)))
	draw.Draw(table, table.Bounds(), image.NewUniform(color.Gray{Y: 90}), image.Point{}, draw.Src)
	sin, cos := math.Sincos(0.02)
	skewed := f64.Aff3{cos, -sin, margin * size, sin, cos, margin * size}
	draw.BiLinear.Transform(table, skewed, paper, paper.Bounds(), draw.Over, nil)
	r := rand.New(rand.NewPCG(grain, 0)) //nolint:gosec // It is to be repeatable.
	for i := range table.Pix {
		light := 0.7 + 0.3*float64(i%table.Stride)/float64(table.Stride)
		table.Pix[i] = uint8(max(0, min(255, float64(table.Pix[i])*light+r.NormFloat64()*5)))
	}
	var b bytes.Buffer
	if err := jpeg.Encode(&b, table, &jpeg.Options{Quality: 85}); err != nil {
		return nil, fmt.Errorf("encoding a photograph: %w", err)
	}
	return b.Bytes(), nil
}

func printed(lines []string, paper image.Point, size float64) (*image.Gray, error) {
	f, err := opentype.Parse(gomonobold.TTF)
	if err != nil {
		return nil, fmt.Errorf("reading the font: %w", err)
	}
	face, err := opentype.NewFace(f, &opentype.FaceOptions{Size: size, DPI: 72})
	if err != nil {
		return nil, fmt.Errorf("setting the font: %w", err)
	}
	img := image.NewGray(image.Rectangle{Max: paper})
	draw.Draw(img, img.Bounds(), image.NewUniform(color.Gray{Y: 245}), image.Point{}, draw.Src)
	pen := font.Drawer{Dst: img, Src: image.NewUniform(color.Gray{Y: 40}), Face: face}
	for i, line := range lines {
		pen.Dot = fixed.P(int(margin*size), int((margin+lineHeight*(float64(i)+0.7))*size))
		pen.DrawString(line)
	}
	return img, nil
}
