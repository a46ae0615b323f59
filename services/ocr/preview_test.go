package ocr

import (
	"bytes"
	"encoding/base64"
	"image"
	"image/color"
	"image/gif"
	"image/jpeg"
	"image/png"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/image/bmp"
	"golang.org/x/image/tiff"

	"github.com/coffer-budget/coffer/internal/rpc"
	ocrv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ocr/v1"
	"github.com/coffer-budget/coffer/services/ocr/fixture"
	"github.com/coffer-budget/coffer/services/ocr/imaging"
	"github.com/coffer-budget/coffer/services/ocr/recognition"
)

// TestRecognizePreview reads the same receipt in every format. The box of its total must fit the
// page that is shown.
func TestRecognizePreview(t *testing.T) {
	t.Parallel()
	text, want := fixture.GoldenText(t, "en_us")
	img := fixture.Printed(t, text, 26)
	encoded := func(encode func(b *bytes.Buffer) error) []byte {
		var b bytes.Buffer
		require.NoError(t, encode(&b))
		return b.Bytes()
	}
	asPNG := encoded(func(b *bytes.Buffer) error { return png.Encode(b, img) })
	for name, file := range map[string][]byte{
		"JPEG":            fixture.JPEG(t, img),
		"JPEG, EXIF 6":    fixture.JPEGAs(t, img, 6),
		"a skewed JPEG":   fixture.JPEG(t, fixture.Photograph(imaging.Rotate(img, 0.03))),
		"PNG":             asPNG,
		"HEIC":            fixture.HEIC(t, asPNG),
		"TIFF":            encoded(func(b *bytes.Buffer) error { return tiff.Encode(b, img, nil) }),
		"BMP":             encoded(func(b *bytes.Buffer) error { return bmp.Encode(b, img) }),
		"GIF":             encoded(func(b *bytes.Buffer) error { return gif.Encode(b, img, nil) }),
		"PDF":             fixture.TextPDF(1, text),
		"PDF of 3 pages":  fixture.TextPDF(3, text),
		"PDF with a scan": fixture.Scan(t, img, 1),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newTestServer(t, recognition.Config{})
			req := request(file)
			req.Preview = true
			resp, err := s.Recognize(t.Context(), req)
			require.NoError(t, err)
			require.Equal(t, want.Total, resp.GetReceipt().GetTotal())
			require.Empty(t, resp.GetPictures())
			requireShown(t, resp.GetReceipt(), "total")
		})
	}
}

// requireShown requires that the box of a field covers dark and light pixels of the page that is
// shown: text on paper.
func requireShown(t *testing.T, recognized *ocrv1.Receipt, field string) {
	t.Helper()
	for _, e := range recognized.GetEvidence() {
		if e.GetField() != field {
			continue
		}
		page, box := recognized.GetPages()[e.GetPage()-1], e.GetBox()
		require.Equal(t, box.GetPageWidth(), page.GetWidth())
		require.Equal(t, box.GetPageHeight(), page.GetHeight())
		img := pageImage(t, page)
		scale := float64(img.Bounds().Dx()) / float64(page.GetWidth())
		require.InDelta(t, scale, float64(img.Bounds().Dy())/float64(page.GetHeight()), 0.01)
		at := func(v int32) int { return int(float64(v) * scale) }
		darkest, lightest := uint8(255), uint8(0)
		for y := at(box.GetY()); y < at(box.GetY()+box.GetHeight()); y++ {
			for x := at(box.GetX()); x < at(box.GetX()+box.GetWidth()); x++ {
				v := color.GrayModel.Convert(img.At(x, y)).(color.Gray).Y
				darkest, lightest = min(darkest, v), max(lightest, v)
			}
		}
		require.Less(t, darkest, uint8(100))
		require.Greater(t, lightest, uint8(140))
		return
	}
	require.Fail(t, "no evidence of "+field)
}

func pageImage(t *testing.T, page *ocrv1.ReceiptPage) image.Image {
	t.Helper()
	content, ok := strings.CutPrefix(page.GetImage(), "data:image/jpeg;base64,")
	require.True(t, ok)
	raw, err := base64.StdEncoding.DecodeString(content)
	require.NoError(t, err)
	img, err := jpeg.Decode(bytes.NewReader(raw))
	require.NoError(t, err)
	return img
}

func TestRecognizeStoresNoPreview(t *testing.T) {
	t.Parallel()
	srv := newTestServer(t, recognition.Config{})
	req := request(fixture.Small(t))
	req.Preview = true
	resp, err := srv.Recognize(t.Context(), req)
	require.NoError(t, err)
	require.Len(t, resp.GetReceipt().GetPages(), 1)
	req.Preview = false
	resp, err = srv.Recognize(t.Context(), req)
	require.NoError(t, err)
	require.Empty(t, resp.GetReceipt().GetPages())

	req.Preview = true
	srv.gate = rpc.NewGate(1, 0, errBusy)
	leave, err := srv.gate.Enter(t.Context())
	require.NoError(t, err)
	defer leave()
	_, err = srv.Recognize(t.Context(), req)
	require.ErrorIs(t, err, errBusy, "the number of workers limits previews, too")
}

func TestRecognizeReturnsImagesOnRequest(t *testing.T) {
	t.Parallel()
	s := newTestServer(t, recognition.Config{})
	req := request(fixture.Small(t))
	for _, asked := range []bool{false, true, true} {
		req.Pictures = asked
		resp, err := s.Recognize(t.Context(), req)
		require.NoError(t, err)
		require.Equal(t, asked, len(resp.GetPictures()) == 1)
	}
}
