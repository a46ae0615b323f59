package ocr

import (
	"bytes"
	"image"
	"image/color"
	"image/jpeg"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/image/font"
	"golang.org/x/image/font/gofont/gomono"
	"golang.org/x/image/font/opentype"
	"golang.org/x/image/math/fixed"
)

// printed renders a receipt's text like a till: black on white, in a monospaced font.
func printed(t testing.TB, text string, size float64) *image.Gray {
	t.Helper()
	f, err := opentype.Parse(gomono.TTF)
	require.NoError(t, err)
	face, err := opentype.NewFace(f, &opentype.FaceOptions{Size: size, DPI: 72, Hinting: font.HintingFull})
	require.NoError(t, err)
	lines := strings.Split(strings.TrimRight(text, "\n"), "\n")
	widest := 0
	for _, l := range lines {
		widest = max(widest, len([]rune(l)))
	}
	leading, margin := int(size*1.35), int(size*2)
	advance, _ := face.GlyphAdvance('0')
	img := image.NewGray(image.Rect(0, 0, widest*advance.Ceil()+2*margin, len(lines)*leading+2*margin))
	for i := range img.Pix {
		img.Pix[i] = 255
	}
	d := font.Drawer{Dst: img, Src: image.NewUniform(color.Gray{Y: 25}), Face: face}
	for i, l := range lines {
		d.Dot = fixed.P(margin, margin+(i+1)*leading)
		d.DrawString(l)
	}
	return img
}

// photograph degrades a clean image like a phone's camera: skewed, with a shadow on one side, blurred and grainy.
func photograph(img *image.Gray, angle float64) *image.Gray {
	r := rand.New(rand.NewPCG(7, 11))
	out := blur(rotate(img, angle))
	w := out.Bounds().Dx()
	for i := range out.Pix {
		light := 0.55 + 0.4*float64(i%out.Stride)/float64(w)
		out.Pix[i] = uint8(max(0, min(255, float64(out.Pix[i])*light+r.NormFloat64()*6)))
	}
	return out
}

func blur(img *image.Gray) *image.Gray {
	out := image.NewGray(img.Bounds())
	copy(out.Pix, img.Pix)
	for y := 1; y < img.Bounds().Dy()-1; y++ {
		for x := 1; x < img.Bounds().Dx()-1; x++ {
			at, sum := y*img.Stride+x, 0
			for _, d := range []int{-img.Stride - 1, -img.Stride, -img.Stride + 1, -1, 0, 1, img.Stride - 1, img.Stride, img.Stride + 1} {
				sum += int(img.Pix[at+d])
			}
			out.Pix[at] = uint8(sum / 9)
		}
	}
	return out
}

func asJPEG(t testing.TB, img image.Image) []byte {
	t.Helper()
	var b bytes.Buffer
	require.NoError(t, jpeg.Encode(&b, img, &jpeg.Options{Quality: 80}))
	return b.Bytes()
}
