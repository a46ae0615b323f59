package ocr

import (
	"image"
	"image/draw"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestPaperFindsPrintOnFullPage(t *testing.T) {
	t.Parallel()
	text, _ := goldenText(t, "de")
	receipt := printed(t, text, 20)
	at := receipt.Bounds().Add(pageOffset)
	got := paperOf(onPage(receipt))
	// Dust beside the print joins its group.
	require.True(t, got.In(at.Inset(-120)), "%v is more than %v", got, at)
	// The printed paper has a margin of twice the size of the letters.
	require.True(t, at.Inset(60).In(got), "%v is less than %v", got, at)
}

func TestPaperKeepsPages(t *testing.T) {
	t.Parallel()
	text, _ := goldenText(t, "de")
	receipt := printed(t, text, 20)
	require.Equal(t, receipt.Bounds(), paperOf(receipt), "a crop would save little")
	blank := onPage(image.NewGray(image.Rect(0, 0, 0, 0)))
	require.Equal(t, blank.Bounds(), paperOf(blank), "no print")
}

func TestPaperKeepsDistantAmounts(t *testing.T) {
	t.Parallel()
	img := onPage(printed(t, "SHOP IN THE LANE\nBread and butter\nMilk and honey\nCheese and ham\nTea and coffee\nTOTAL TO PAY", 20))
	draw.Draw(img, image.Rect(1100, pageOffset.Y, 1400, pageOffset.Y+600), printed(t, "\n 2.50\n 1.20\n10.00\n 2.50\n16.20", 20), image.Point{}, draw.Src)
	require.Greater(t, paperOf(img).Max.X, 1200)
}

// TestPaperKeepsTotalOfSeparateWords has a total below an empty row, with so much space between its words that each is a group.
func TestPaperKeepsTotalOfSeparateWords(t *testing.T) {
	t.Parallel()
	img := printed(t, "GREEN MARKET LTD\n7 Main Street\n\n2026-11-14 18:22\n\nDark bread       3.89\nMilk             1.49\nTomatoes         2.75\n\n\nSUM        EUR        8.13", 20)
	page := onPage(img)
	got := paperOf(page)
	require.NotEqual(t, page.Bounds(), got)
	require.Greater(t, got.Max.Y, pageOffset.Y+img.Bounds().Dy()-60)
}

// pageOffset is the position of a receipt on a page.
var pageOffset = image.Pt(500, 400)

// onPage returns a white page of A4 at 200 dpi with the receipt and some dust on it.
func onPage(receipt *image.Gray) *image.Gray {
	page := image.NewGray(image.Rect(0, 0, 1654, 2339))
	draw.Draw(page, page.Bounds(), image.White, image.Point{}, draw.Src)
	r := rand.New(rand.NewPCG(5, 6))
	for range 60 {
		x, y := r.IntN(1640), r.IntN(2320)
		draw.Draw(page, image.Rect(x, y, x+2+r.IntN(12), y+2+r.IntN(12)), image.Black, image.Point{}, draw.Src)
	}
	draw.Draw(page, receipt.Bounds().Add(pageOffset), receipt, image.Point{}, draw.Src)
	return page
}

// paperOf returns the printed area of a page with dark ink on white.
func paperOf(ink *image.Gray) image.Rectangle {
	return paper(inkComponents(ink).letters(), ink.Bounds())
}
