package ocr

import (
	"image"
	"image/draw"
	"os"
	"runtime/debug"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/coffer-budget/coffer/services/ocr/fixture"
	"github.com/coffer-budget/coffer/services/ocr/recognition"
)

// BenchmarkRecognizeMemory measures the peak memory of this process, without its workers and
// engines, while it reads receipts and makes their images. The receipts are drawn on pages as large
// as scans and photos of these kinds.
func BenchmarkRecognizeMemory(b *testing.B) {
	for _, tc := range []struct {
		name   string
		size   image.Point
		atOnce int
	}{
		{"scan of A4 at 200 dpi", image.Pt(1654, 2339), 1},
		{"photo of 12 megapixels", image.Pt(3024, 4032), 1},
		{"scan of A4 at 600 dpi", image.Pt(4961, 7016), 1},
		{"2 scans of A4 at 600 dpi", image.Pt(4961, 7016), 2},
	} {
		b.Run(tc.name, func(b *testing.B) {
			srv := newTestServer(b, recognition.Config{Neural: os.Getenv("OCR_NEURAL")})
			defer srv.reader.Neural().Stop()
			file := scan(b, tc.size)
			// This memory of drawing the page does not count. 5 resets the peak to the present
			// memory.
			debug.FreeOSMemory()
			require.NoError(b, os.WriteFile("/proc/self/clear_refs", []byte("5"), 0))
			for b.Loop() {
				var all sync.WaitGroup
				for range tc.atOnce {
					all.Go(func() {
						req := request(file)
						req.Pictures, req.Preview = true, true
						_, err := srv.Recognize(b.Context(), req)
						require.NoError(b, err)
					})
				}
				all.Wait()
			}
			b.ReportMetric(float64(fixture.PeakMemory(b, os.Getpid())), "peak-MiB")
		})
	}
}

// scan returns a JPEG of a page of noisy paper with a receipt on it.
func scan(b *testing.B, size image.Point) []byte {
	b.Helper()
	page := image.NewGray(image.Rectangle{Max: size})
	// The noise makes the file as large as that of a real scan.
	for i, v := range fixture.Noise(len(page.Pix)) {
		page.Pix[i] = 240 + v&0x0f
	}
	text, _ := fixture.GoldenText(b, "de")
	// 26 points are the height of print on a page of 1654 pixels.
	receipt := fixture.Printed(b, text, 26*float64(size.X)/1654)
	draw.Draw(page, receipt.Rect.Add(size.Div(8)), receipt, image.Point{}, draw.Src)
	return fixture.JPEG(b, page)
}
