package gray

import (
	"image"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestTurnAndMirror(t *testing.T) {
	t.Parallel()
	const w, h = 5, 3
	r := rand.New(rand.NewPCG(1, 2))
	img := image.NewGray(image.Rect(0, 0, w, h))
	for i := range img.Pix {
		img.Pix[i] = uint8(r.Uint32())
	}
	require.Same(t, img, Turn(img, 4))
	mirrored := Mirror(img)
	one, two, three := Turn(img, 1), Turn(img, 2), Turn(img, 3)
	require.Equal(t, image.Rect(0, 0, h, w), one.Rect)
	require.Equal(t, image.Rect(0, 0, h, w), three.Rect)
	for y := range h {
		for x := range w {
			v := img.GrayAt(x, y)
			require.Equal(t, v, mirrored.GrayAt(w-1-x, y))
			require.Equal(t, v, one.GrayAt(h-1-y, x))
			require.Equal(t, v, two.GrayAt(w-1-x, h-1-y))
			require.Equal(t, v, three.GrayAt(y, w-1-x))
		}
	}
}
