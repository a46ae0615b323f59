package recognition

import (
	"image"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	ocrv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ocr/v1"
	"github.com/coffer-budget/coffer/services/ocr/fixture"
	"github.com/coffer-budget/coffer/services/ocr/imaging"
	"github.com/coffer-budget/coffer/services/ocr/imaging/gray"
)

// TestRecognizeEvidenceCoversTotal reads the same receipt in several orientations. It compares each
// image with one without the figures of the total: the box must cover the difference.
func TestRecognizeEvidenceCoversTotal(t *testing.T) {
	t.Parallel()
	t.Run("tesseract",
		func(t *testing.T) { t.Parallel(); testEvidenceCoversTotal(t, newTestReader()) })
	t.Run("neural",
		func(t *testing.T) { t.Parallel(); testEvidenceCoversTotal(t, neuralReader(t)) })
}

func testEvidenceCoversTotal(t *testing.T, reader Reader) {
	t.Helper()
	text, want := fixture.GoldenText(t, "de")
	const figures = "9,13"
	whole := fixture.Printed(t, text, 20)
	without := fixture.Printed(t, strings.Replace(text, figures, "    ", 1), 20)
	for name, tc := range map[string]struct {
		// put places the paper, and exif is the orientation in the file.
		put  func(*image.Gray) *image.Gray
		exif int
	}{
		"straight":                {lean(0), 1},
		"EXIF 3":                  {lean(0), 3},
		"EXIF 8 and skewed":       {lean(-0.04), 8},
		"EXIF 6 and turned right": {quarters(1), 6},
		"turned left":             {quarters(3), 1},
		"upside down":             {quarters(2), 1},
		"on a full page":          {fixture.OnPage, 1},
		"on a full page, turned": {
			func(img *image.Gray) *image.Gray { return gray.Turn(fixture.OnPage(img), 1) }, 1,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			shown := tc.put(whole)
			r, err := reader.Read(t.Context(), fixture.JPEGAs(t, shown, tc.exif))
			require.NoError(t, err)
			require.Equal(t, want.Total, r.Total)
			requireCovers(t, evidenceOf(t, r, "total"), shown, tc.put(without))
		})
	}
}

func lean(angle float64) func(*image.Gray) *image.Gray {
	return func(img *image.Gray) *image.Gray { return imaging.Rotate(img, angle) }
}

func quarters(n int) func(*image.Gray) *image.Gray {
	return func(img *image.Gray) *image.Gray { return gray.Turn(img, n) }
}

func evidenceOf(t *testing.T, r Reading, field string) *ocrv1.Box {
	t.Helper()
	for _, e := range r.Response().GetReceipt().GetEvidence() {
		if e.GetField() == field {
			return e.GetBox()
		}
	}
	require.Fail(t, "no evidence of "+field)
	return nil
}

// requireCovers requires that a box contains nearly all pixels in which two images differ, and has
// less than twice their area.
func requireCovers(t *testing.T, box *ocrv1.Box, with, without *image.Gray) {
	t.Helper()
	scale := float64(with.Rect.Dx()) / float64(box.GetPageWidth())
	require.InDelta(t, scale, float64(with.Rect.Dy())/float64(box.GetPageHeight()), 0.02)
	in := func(v int32) int { return int(float64(v) * scale) }
	covered := image.Rect(in(box.GetX()), in(box.GetY()),
		in(box.GetX()+box.GetWidth()), in(box.GetY()+box.GetHeight()))
	all, inside, extent := 0, 0, image.Rectangle{}
	for y := range with.Rect.Dy() {
		for x := range with.Rect.Dx() {
			if int(without.GrayAt(x, y).Y)-int(with.GrayAt(x, y).Y) < 100 {
				continue
			}
			all++
			extent = extent.Union(image.Rect(x, y, x+1, y+1))
			if image.Pt(x, y).In(covered) {
				inside++
			}
		}
	}
	require.Positive(t, all)
	require.Greater(t, float64(inside)/float64(all), 0.93, "%v does not cover %v", covered, extent)
	area := func(r image.Rectangle) int { return r.Dx() * r.Dy() }
	require.Less(t, area(covered), 2*area(extent), "%v is more than %v", covered, extent)
}
