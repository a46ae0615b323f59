package media

import (
	"bytes"
	"encoding/base64"
	"image"
	"image/jpeg"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	ocrv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ocr/v1"
	"github.com/coffer-budget/coffer/services/ocr/fixture"
)

func TestPreviewOfImageWithoutEvidence(t *testing.T) {
	t.Parallel()
	for name, file := range fixture.Images(t) {
		pages, err := newTestOpener().Preview(t.Context(), file, nil)
		require.NoError(t, err, name)
		require.Len(t, pages, 1, name)
		require.Equal(t, image.Pt(60, 40), pageImage(t, pages[0]).Bounds().Size(), name)
		require.EqualValues(t, 60, pages[0].GetWidth(), name)
	}
	pages, err := newTestOpener().Preview(t.Context(), []byte("Total 1.00"), nil)
	require.NoError(t, err)
	require.Empty(t, pages)
}

// TestPreviewLimit uses noise, which JPEG compresses least.
func TestPreviewLimit(t *testing.T) {
	t.Parallel()
	img := fixture.Static(3000, 2600)
	grain := fixture.JPEG(t, img)
	for name, tc := range map[string]struct {
		file  []byte
		pages int
	}{
		"image": {grain, 1},
		"PDF of 5 pages": {
			fixture.ScanPDF(grain, 3000, 2600, maxPages, "[0 0 750 650]"), maxPages,
		},
		"PDF of 99 pages": {fixture.ScanPDF(grain, 3000, 2600, 99, "[0 0 750 650]"), maxPages},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			pages, err := newTestOpener().Preview(t.Context(), tc.file, nil)
			require.NoError(t, err)
			require.Len(t, pages, tc.pages)
			total := 0
			for _, p := range pages {
				total += len(p.GetImage())
				require.InDelta(t, 3000.0/2600, float64(p.GetWidth())/float64(p.GetHeight()), 0.01)
				require.InDelta(
					t, 3000.0/2600,
					float64(pageImage(t, p).Bounds().Dx())/float64(pageImage(t, p).Bounds().Dy()),
					0.01,
				)
			}
			require.LessOrEqual(t, total, maxPreview)
			require.Greater(t, total, maxPreview/2, "the limit is used")
		})
	}
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
