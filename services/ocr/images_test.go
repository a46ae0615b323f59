package ocr

import (
	"bytes"
	"image"
	"image/color"
	"image/jpeg"
	"image/png"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	ocrv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ocr/v1"
)

func TestImagesContainOnlyPixels(t *testing.T) {
	t.Parallel()
	file := withOrientation(sampleImages(t)["JPEG"], 6)
	comment := append([]byte{0xff, 0xfe, 0, 14}, "51.5N 0.12W!"...)
	file = append(append(bytes.Clone(file[:2]), comment...), file[2:]...)
	got := onlyImage(t, file)
	require.NotContains(t, string(got), "51.5N")
	require.NotContains(t, string(got), "Exif")
}

func TestImagesHaveOrientationOfEvidence(t *testing.T) {
	t.Parallel()
	for o := 1; o <= 8; o++ {
		file := withOrientation(sampleImages(t)["JPEG"], o)
		d, err := newTestReader().opener.open(t.Context(), file)
		require.NoError(t, err)
		got, err := jpeg.Decode(bytes.NewReader(onlyImage(t, file)))
		require.NoError(t, err)
		require.Equal(t, d.images[0].Bounds().Size(), got.Bounds().Size(), "orientation %d", o)
		for _, at := range []image.Point{{5, 5}, {35, 5}, {5, 35}, {35, 35}} {
			require.InDelta(t, d.images[0].GrayAt(at.X, at.Y).Y, color.GrayModel.Convert(got.At(at.X, at.Y)).(color.Gray).Y, 12, "orientation %d at %s", o, at)
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
	got := onlyImage(t, asJPEG(t, static(3000, 2600)))
	require.LessOrEqual(t, len(got), maxImage)
	shrunk, err := jpeg.DecodeConfig(bytes.NewReader(got))
	require.NoError(t, err)
	require.LessOrEqual(t, shrunk.Width*shrunk.Height, imagePixels)
	require.InDelta(t, 3000.0/2600, float64(shrunk.Width)/float64(shrunk.Height), 0.01)
}

func TestImagesPerPage(t *testing.T) {
	t.Parallel()
	text, _ := goldenText(t, "en_us")
	got, err := newTestReader().opener.images(t.Context(), textPDF(7, text))
	require.NoError(t, err)
	require.Len(t, got, maxPages)
	page, err := jpeg.Decode(bytes.NewReader(got[4]))
	require.NoError(t, err)
	require.InDelta(t, 850.0/600, float64(page.Bounds().Dy())/float64(page.Bounds().Dx()), 0.01)
	got, err = newTestReader().opener.images(t.Context(), []byte(text))
	require.NoError(t, err)
	require.Empty(t, got)
}

func TestRecognizeReturnsImagesOnRequest(t *testing.T) {
	t.Parallel()
	s := newTestServer(t, Config{})
	req := &ocrv1.RecognizeRequest{File: asJPEG(t, printed(t, "CORNER SHOP\nTotal 12.50", 30)), UserId: uuid.NewString()}
	for _, asked := range []bool{false, true, true} {
		req.Pictures = asked
		resp, err := s.Recognize(t.Context(), req)
		require.NoError(t, err)
		require.Equal(t, asked, len(resp.GetPictures()) == 1)
	}
}

func onlyImage(t *testing.T, file []byte) []byte {
	t.Helper()
	got, err := newTestReader().opener.images(t.Context(), file)
	require.NoError(t, err)
	require.Len(t, got, 1)
	return got[0]
}
