package chaos

import (
	"bytes"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"strings"

	"golang.org/x/image/font"
	"golang.org/x/image/font/gofont/gomonobold"
	"golang.org/x/image/font/opentype"
	"golang.org/x/image/math/fixed"
)

// receiptText is the content of every receipt. The checks depend on its total of 6.00.
const receiptText = `CORNER SHOP

Date: 2026-03-14

Bread        2.50
Milk         3.50

TOTAL EUR    6.00
`

// receiptImage returns the image of a receipt over 6.00. Each mark and number gives a different
// file: the ocr service caches results by the hash of the file, and a cached receipt would not use
// the engine.
func receiptImage(mark string, n int) ([]byte, error) {
	f, err := opentype.Parse(gomonobold.TTF)
	if err != nil {
		return nil, err
	}
	face, err := opentype.NewFace(f, &opentype.FaceOptions{Size: 40, DPI: 72})
	if err != nil {
		return nil, err
	}
	// Dark gray on light gray, as on a photo, but large and straight, so that the engine reads it
	// quickly and without errors.
	lines := strings.Split(receiptText, "\n")
	paper := image.NewGray(image.Rect(0, 0, 600, 100+60*len(lines)))
	draw.Draw(paper, paper.Bounds(), image.NewUniform(color.Gray{Y: 245}), image.Point{}, draw.Src)
	pen := font.Drawer{Dst: paper, Src: image.NewUniform(color.Gray{Y: 30}), Face: face}
	for i, line := range lines {
		pen.Dot = fixed.P(60, 80+60*i)
		pen.DrawString(line)
	}
	// The mark and the number are in the first pixels, outside of the text.
	for i, c := range []byte(mark) {
		paper.Pix[i] = c
	}
	paper.Pix[len(mark)], paper.Pix[len(mark)+1] = uint8(n>>8), uint8(n)
	var b bytes.Buffer
	err = png.Encode(&b, paper)
	return b.Bytes(), err
}
