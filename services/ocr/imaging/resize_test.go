package imaging

import (
	"image"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/image/draw"
)

// TestResizeEqualsLibrary compares the fast implementation with the library's.
func TestResizeEqualsLibrary(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	img := image.NewGray(image.Rect(0, 0, 61, 47))
	for i := range img.Pix {
		img.Pix[i] = uint8(random.IntN(256))
	}
	for _, to := range []image.Point{
		{97, 80}, {61, 90}, {122, 47}, {50, 40}, {31, 24}, {30, 23}, {7, 5}, {1, 1}, {0, 0},
	} {
		resized := resize(img, to.X, to.Y)
		long := image.NewGray(resized.Bounds())
		kernel := draw.CatmullRom
		if to.X*2 < 61 {
			kernel = draw.BiLinear
		}
		kernel.Scale(long, long.Bounds(), img, img.Bounds(), draw.Src, nil)
		require.Equal(t, long.Pix, resized.Pix, "%v", to)
	}
	require.Same(t, img, resize(img, 61, 47))
}
