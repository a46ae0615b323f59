package imaging

import (
	"image"
	"math/rand/v2"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/image/draw"
)

func TestFitEqualsLibrary(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	img := image.NewNRGBA(image.Rect(0, 0, 61, 47))
	for i := range img.Pix {
		img.Pix[i] = uint8(random.IntN(256))
	}
	area := img.SubImage(image.Rect(3, 5, 58, 46))
	for _, to := range []image.Point{{55, 41}, {54, 41}, {40, 30}, {27, 20}, {7, 40}, {1, 1}} {
		fitted := Fit(area, to.X, to.Y)
		opaque, long := image.NewRGBA(area.Bounds()), image.NewRGBA(fitted.Bounds())
		draw.Draw(opaque, opaque.Rect, image.White, image.Point{}, draw.Src)
		draw.Draw(opaque, opaque.Rect, area, area.Bounds().Min, draw.Over)
		draw.BiLinear.Scale(long, long.Rect, opaque, opaque.Rect, draw.Src, nil)
		for i, v := range long.Pix {
			require.InDelta(t, v, fitted.Pix[i], 1, "%v", to)
		}
	}
}

// TestLargePagesTakeLittleMemory limits what an image of 24 megapixels allocates besides its own
// pixels. It runs alone, because the counter includes other tests.
//
//nolint:paralleltest // See above.
func TestLargePagesTakeLittleMemory(t *testing.T) {
	page := image.NewYCbCr(image.Rect(0, 0, 4000, 6000), image.YCbCrSubsampleRatio420)
	allocated := func(f func()) int {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		f()
		runtime.ReadMemStats(&after)
		return int(after.TotalAlloc-before.TotalAlloc) >> 20
	}
	require.Less(t, allocated(func() { Fit(page, 1400, 2100) }), 15, "the scaled image has 11 MiB")
	require.Less(t, allocated(func() { ToGray(page, 12_000_000) }), 8, "the gray image has 6 MiB")
}
