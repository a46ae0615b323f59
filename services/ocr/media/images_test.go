package media

import (
	"bytes"
	"image"
	"image/color"
	"image/jpeg"
	"image/png"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/coffer-budget/coffer/services/ocr/fixture"
)

func TestImagesContainOnlyPixels(t *testing.T) {
	t.Parallel()
	file := fixture.WithOrientation(fixture.Images(t)["JPEG"], 6)
	comment := append([]byte{0xff, 0xfe, 0, 14}, "51.5N 0.12W!"...)
	file = append(append(bytes.Clone(file[:2]), comment...), file[2:]...)
	got := onlyImage(t, file)
	require.NotContains(t, string(got), "51.5N")
	require.NotContains(t, string(got), "Exif")
}

func TestImagesHaveOrientationOfEvidence(t *testing.T) {
	t.Parallel()
	for orientation := 1; orientation <= 8; orientation++ {
		file := fixture.WithOrientation(fixture.Images(t)["JPEG"], orientation)
		document, err := newTestOpener().Open(t.Context(), file)
		require.NoError(t, err)
		got, err := jpeg.Decode(bytes.NewReader(onlyImage(t, file)))
		require.NoError(t, err)
		require.Equal(t, document.Images[0].Bounds().Size(), got.Bounds().Size(), "orientation %d",
			orientation)
		for _, at := range []image.Point{{5, 5}, {35, 5}, {5, 35}, {35, 35}} {
			require.InDelta(
				t, document.Images[0].GrayAt(at.X, at.Y).Y,
				color.GrayModel.Convert(got.At(at.X, at.Y)).(color.Gray).Y, 12,
				"orientation %d at %s", orientation, at,
			)
		}
	}
}

func TestImagesKeepColorsAndFillTransparency(t *testing.T) {
	t.Parallel()
	img := image.NewNRGBA(image.Rect(0, 0, 40, 20))
	for y := range 20 {
		for x := range 20 {
			img.SetNRGBA(x, y, color.NRGBA{R: 200, G: 30, B: 30, A: 255})
		}
	}
	var b bytes.Buffer
	require.NoError(t, png.Encode(&b, img))
	got, err := jpeg.Decode(bytes.NewReader(onlyImage(t, b.Bytes())))
	require.NoError(t, err)
	red := color.RGBAModel.Convert(got.At(5, 10)).(color.RGBA)
	require.InDelta(t, 200, red.R, 8)
	require.InDelta(t, 30, red.G, 8)
	require.InDelta(t, 255, color.RGBAModel.Convert(got.At(35, 10)).(color.RGBA).B, 3)
}

func TestImagesLimitPixelsAndBytes(t *testing.T) {
	t.Parallel()
	got := onlyImage(t, fixture.JPEG(t, fixture.Static(3000, 2600)))
	require.LessOrEqual(t, len(got), maxImage)
	shrunk, err := jpeg.DecodeConfig(bytes.NewReader(got))
	require.NoError(t, err)
	require.LessOrEqual(t, shrunk.Width*shrunk.Height, imagePixels)
	require.InDelta(t, 3000.0/2600, float64(shrunk.Width)/float64(shrunk.Height), 0.01)
}

func TestImagesPerPage(t *testing.T) {
	t.Parallel()
	text, _ := fixture.GoldenText(t, "en_us")
	got, err := newTestOpener().Images(t.Context(), fixture.TextPDF(7, text))
	require.NoError(t, err)
	require.Len(t, got, maxPages)
	page, err := jpeg.Decode(bytes.NewReader(got[4]))
	require.NoError(t, err)
	require.InDelta(t, 850.0/600, float64(page.Bounds().Dy())/float64(page.Bounds().Dx()), 0.01)
	got, err = newTestOpener().Images(t.Context(), []byte(text))
	require.NoError(t, err)
	require.Empty(t, got)
}

func onlyImage(t *testing.T, file []byte) []byte {
	t.Helper()
	got, err := newTestOpener().Images(t.Context(), file)
	require.NoError(t, err)
	require.Len(t, got, 1)
	return got[0]
}
