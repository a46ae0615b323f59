package imaging

import (
	"image"
	"image/draw"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/coffer-budget/coffer/services/ocr/fixture"
)

func TestPaperFindsPrintOnFullPage(t *testing.T) {
	t.Parallel()
	text, _ := fixture.GoldenText(t, "de")
	receipt := fixture.Printed(t, text, 20)
	at := receipt.Bounds().Add(fixture.PageOffset)
	got := paperOf(fixture.OnPage(receipt))
	// Dust beside the print joins its group.
	require.True(t, got.In(at.Inset(-120)), "%v is more than %v", got, at)
	// The printed paper has a margin of twice the size of the letters.
	require.True(t, at.Inset(60).In(got), "%v is less than %v", got, at)
}

func TestPaperKeepsPages(t *testing.T) {
	t.Parallel()
	text, _ := fixture.GoldenText(t, "de")
	receipt := fixture.Printed(t, text, 20)
	require.Equal(t, receipt.Bounds(), paperOf(receipt), "a crop would save little")
	blank := fixture.OnPage(image.NewGray(image.Rect(0, 0, 0, 0)))
	require.Equal(t, blank.Bounds(), paperOf(blank), "no print")
}

func TestPaperKeepsDistantAmounts(t *testing.T) {
	t.Parallel()
	img := fixture.OnPage(fixture.Printed(t, "SHOP IN THE LANE\nBread and butter\n"+
		"Milk and honey\nCheese and ham\nTea and coffee\nTOTAL TO PAY", 20))
	draw.Draw(img, image.Rect(1100, fixture.PageOffset.Y, 1400, fixture.PageOffset.Y+600),
		fixture.Printed(t, "\n 2.50\n 1.20\n10.00\n 2.50\n16.20", 20), image.Point{}, draw.Src)
	require.Greater(t, paperOf(img).Max.X, 1200)
}

// TestPaperKeepsTotalOfSeparateWords has a total below an empty row, with so much space between its
// words that each is a group.
func TestPaperKeepsTotalOfSeparateWords(t *testing.T) {
	t.Parallel()
	img := fixture.Printed(t,
		"GREEN MARKET LTD\n7 Main Street\n\n2026-11-14 18:22\n\nDark bread       3.89\n"+
			"Milk             1.49\nTomatoes         2.75\n\n\nSUM        EUR        8.13", 20)
	page := fixture.OnPage(img)
	got := paperOf(page)
	require.NotEqual(t, page.Bounds(), got)
	require.Greater(t, got.Max.Y, fixture.PageOffset.Y+img.Bounds().Dy()-60)
}

// paperOf returns the printed area of a page with dark ink on white.
func paperOf(ink *image.Gray) image.Rectangle {
	return paper(inkComponents(ink).letters(), ink.Bounds())
}
