package ocr

import (
	"bytes"
	"encoding/binary"
	"image"
	"image/color"
	"image/gif"
	"image/jpeg"
	"image/png"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/image/bmp"
	"golang.org/x/image/tiff"
)

func TestOpenImageFormats(t *testing.T) {
	t.Parallel()
	for name, file := range sampleImages(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d, err := newTestReader().opener.open(t.Context(), file)
			require.NoError(t, err)
			require.Len(t, d.images, 1)
			require.Equal(t, image.Pt(60, 40), d.images[0].Bounds().Size())
			require.Less(t, d.images[0].GrayAt(5, 5).Y, uint8(60), "the dark corner is where it was drawn")
			require.Greater(t, d.images[0].GrayAt(50, 30).Y, uint8(200))
		})
	}
}

func TestOpenAppliesEXIFOrientation(t *testing.T) {
	t.Parallel()
	// The dark corner is at the top left of the stored image. Each orientation moves it.
	corners := map[int]image.Point{
		1: {5, 5}, 2: {55, 5}, 3: {55, 35}, 4: {5, 35}, 5: {5, 5}, 6: {35, 5}, 7: {35, 55}, 8: {5, 55},
	}
	for orientation, corner := range corners {
		file := withOrientation(sampleImages(t)["JPEG"], orientation)
		d, err := newTestReader().opener.open(t.Context(), file)
		require.NoError(t, err)
		require.Less(t, d.images[0].GrayAt(corner.X, corner.Y).Y, uint8(60), "orientation %d", orientation)
		want := image.Pt(60, 40)
		if orientation >= 5 {
			want = image.Pt(40, 60)
		}
		require.Equal(t, want, d.images[0].Bounds().Size(), "orientation %d", orientation)
	}
}

func TestOpenIgnoresDamagedEXIF(t *testing.T) {
	t.Parallel()
	file := withOrientation(sampleImages(t)["JPEG"], 6)
	for n := 24; n < 40; n++ {
		broken := bytes.Clone(file)
		broken[n] = 0xff
		require.NotPanics(t, func() { orientation(broken) })
		require.NotPanics(t, func() { orientation(broken[:n]) })
	}
}

func TestOpenText(t *testing.T) {
	t.Parallel()
	d, err := newTestReader().opener.open(t.Context(), []byte("\xef\xbb\xbfKäse 1,00\nSumme 1,00\n"))
	require.NoError(t, err)
	require.Len(t, d.text, 1)
	require.Equal(t, "Käse", d.text[0].Words[0].Text)
}

func TestOpenDecodesFirstFrameOnly(t *testing.T) {
	t.Parallel()
	frame := image.NewPaletted(image.Rect(0, 0, 60, 40), color.Palette{color.White, color.Black})
	endless := &gif.GIF{}
	for range 300 {
		endless.Image = append(endless.Image, frame)
		endless.Delay = append(endless.Delay, 1)
	}
	var b bytes.Buffer
	require.NoError(t, gif.EncodeAll(&b, endless))
	d, err := newTestReader().opener.open(t.Context(), b.Bytes())
	require.NoError(t, err)
	require.Len(t, d.images, 1)
}

func FuzzOpen(f *testing.F) {
	for _, file := range sampleImages(f) {
		f.Add(file)
	}
	f.Add([]byte("Summe 1,00"))
	f.Fuzz(func(t *testing.T, file []byte) {
		if bytes.HasPrefix(file, []byte(pdfMagic)) || isHEIF(file) {
			t.Skip("poppler and libheif have fuzzers of their own")
		}
		d, err := opener{}.open(t.Context(), file)
		if err == nil && d.text == nil && len(d.images) == 0 {
			t.Fatal("opened, but empty")
		}
	})
}

// sampleImages returns the same white card with a dark corner in every format.
func sampleImages(t testing.TB) map[string][]byte {
	t.Helper()
	card := image.NewGray(image.Rect(0, 0, 60, 40))
	for i := range card.Pix {
		card.Pix[i] = 255
	}
	for y := range 12 {
		for x := range 12 {
			card.SetGray(x, y, color.Gray{Y: 10})
		}
	}
	paletted := image.NewPaletted(card.Bounds(), color.Palette{color.White, color.Black})
	for y := range 12 {
		for x := range 12 {
			paletted.SetColorIndex(x, y, 1)
		}
	}
	out := map[string][]byte{}
	for name, encode := range map[string]func(b *bytes.Buffer) error{
		"JPEG": func(b *bytes.Buffer) error { return jpeg.Encode(b, card, &jpeg.Options{Quality: 95}) },
		"PNG":  func(b *bytes.Buffer) error { return png.Encode(b, card) },
		"GIF":  func(b *bytes.Buffer) error { return gif.Encode(b, paletted, nil) },
		"BMP":  func(b *bytes.Buffer) error { return bmp.Encode(b, card) },
		"TIFF": func(b *bytes.Buffer) error { return tiff.Encode(b, card, nil) },
	} {
		var b bytes.Buffer
		require.NoError(t, encode(&b), name)
		out[name] = b.Bytes()
	}
	webp, err := os.ReadFile("testdata/card.webp")
	require.NoError(t, err)
	out["WebP"] = webp
	out["HEIC"] = asHEIC(t, out["PNG"])
	return out
}

// asHEIC encodes a PNG with libheif, as cameras do.
func asHEIC(t testing.TB, png []byte) []byte {
	t.Helper()
	dir := t.TempDir()
	in, out := filepath.Join(dir, "in.png"), filepath.Join(dir, "out.heic")
	require.NoError(t, os.WriteFile(in, png, 0o600))
	said, err := exec.Command("heif-enc", "-q", "90", in, "-o", out).CombinedOutput()
	require.NoError(t, err, "%s", said)
	heic, err := os.ReadFile(out)
	require.NoError(t, err)
	return heic
}

func withOrientation(jpeg []byte, orientation int) []byte {
	exif := append([]byte("Exif\x00\x00MM\x00*\x00\x00\x00\x08\x00\x01\x01\x12\x00\x03\x00\x00\x00\x01"), 0, byte(orientation), 0, 0, 0, 0, 0, 0)
	segment := binary.BigEndian.AppendUint16([]byte{0xff, 0xe1}, uint16(len(exif)+2))
	return append(append(append(bytes.Clone(jpeg[:2]), segment...), exif...), jpeg[2:]...)
}
