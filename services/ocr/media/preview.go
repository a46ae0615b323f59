package media

import (
	"context"
	"encoding/base64"
	"image"

	ocrv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ocr/v1"
)

const (
	// maxPreview limits the data URLs of all pages together, in bytes.
	maxPreview = 1_000_000
	// previewPixels shows small print sharply on a large screen.
	previewPixels = 2_000_000
	dataURL       = "data:image/jpeg;base64,"
)

// Preview returns the first pages of a file as data URLs, for display beside the fields. The size
// of a page is the one that the boxes of its evidence refer to, so that a client can draw the
// boxes. A page without boxes has the size of its image. A text file has no pages.
func (o Opener) Preview(
	ctx context.Context, file []byte, evidence []*ocrv1.Evidence,
) ([]*ocrv1.ReceiptPage, error) {
	images, err := o.pages(ctx, file, previewPixels)
	if err != nil {
		return nil, err
	}
	out := make([]*ocrv1.ReceiptPage, 0, len(images))
	left := maxPreview
	for index, img := range images {
		// A page that needs less than its share leaves the rest to the following pages.
		share := left / (len(images) - index)
		encoded, err := compressed(img, base64.StdEncoding.DecodedLen(share-len(dataURL)))
		if err != nil {
			return nil, err
		}
		page := &ocrv1.ReceiptPage{
			Image: dataURL + base64.StdEncoding.EncodeToString(encoded),
			Width: int32(img.Bounds().Dx()), Height: int32(img.Bounds().Dy()),
		}
		if w, h := boxedSize(evidence, index+1); w > 0 {
			page.Width, page.Height = w, h
		}
		left -= len(page.GetImage())
		out = append(out, page)
	}
	return out, nil
}

func boxedSize(evidence []*ocrv1.Evidence, page int) (width, height int32) {
	for _, e := range evidence {
		if b := e.GetBox(); b != nil && int(e.GetPage()) == page {
			return b.GetPageWidth(), b.GetPageHeight()
		}
	}
	return 0, 0
}

// compressed returns an image as a JPEG of at most the given number of bytes.
func compressed(img image.Image, limit int) ([]byte, error) {
	for {
		out, err := jpegOf(img)
		if err != nil || len(out) <= limit {
			return out, err
		}
		size := img.Bounds().Size()
		// The size of a JPEG falls more slowly than its number of pixels, so the target is a tenth
		// lower.
		share := min(0.75, 0.9*float64(limit)/float64(len(out)))
		img = fitted(img, share*float64(size.X*size.Y))
	}
}
