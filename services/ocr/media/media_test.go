package media

import (
	"bytes"
	"image"
	"image/color"
	"image/gif"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	types "github.com/coffer-budget/coffer/internal/media"
	"github.com/coffer-budget/coffer/services/ocr/fixture"
)

func newTestOpener() Opener { return New(time.Minute) }

func TestOpenImageFormats(t *testing.T) {
	t.Parallel()
	for name, file := range fixture.Images(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d, err := newTestOpener().Open(t.Context(), file)
			require.NoError(t, err)
			require.Len(t, d.Images, 1)
			require.Equal(t, image.Pt(60, 40), d.Images[0].Bounds().Size())
			require.Less(t, d.Images[0].GrayAt(5, 5).Y, uint8(60),
				"the dark corner is where it was drawn")
			require.Greater(t, d.Images[0].GrayAt(50, 30).Y, uint8(200))
		})
	}
}

func TestOpenAppliesEXIFOrientation(t *testing.T) {
	t.Parallel()
	// The dark corner is at the top left of the stored image. Each orientation moves it.
	corners := map[int]image.Point{
		1: {5, 5}, 2: {55, 5}, 3: {55, 35}, 4: {5, 35}, 5: {5, 5}, 6: {35, 5}, 7: {35, 55},
		8: {5, 55},
	}
	for orientation, corner := range corners {
		file := fixture.WithOrientation(fixture.Images(t)["JPEG"], orientation)
		d, err := newTestOpener().Open(t.Context(), file)
		require.NoError(t, err)
		require.Less(t, d.Images[0].GrayAt(corner.X, corner.Y).Y, uint8(60),
			"orientation %d", orientation)
		want := image.Pt(60, 40)
		if orientation >= 5 {
			want = image.Pt(40, 60)
		}
		require.Equal(t, want, d.Images[0].Bounds().Size(), "orientation %d", orientation)
	}
}

func TestOpenIgnoresDamagedEXIF(t *testing.T) {
	t.Parallel()
	file := fixture.WithOrientation(fixture.Images(t)["JPEG"], 6)
	for n := 24; n < 40; n++ {
		broken := bytes.Clone(file)
		broken[n] = 0xff
		require.NotPanics(t, func() { orientation(broken) })
		require.NotPanics(t, func() { orientation(broken[:n]) })
	}
}

func TestOpenText(t *testing.T) {
	t.Parallel()
	d, err := newTestOpener().Open(t.Context(), []byte("\xef\xbb\xbfKäse 1,00\nSumme 1,00\n"))
	require.NoError(t, err)
	require.Len(t, d.Text, 1)
	require.Equal(t, "Käse", d.Text[0].Words[0].Text)
	d, err = newTestOpener().Open(t.Context(), []byte("Ka\u0308se 1,00\nSumme 1,00\n"))
	require.NoError(t, err)
	require.Equal(t, "K\u00e4se", d.Text[0].Words[0].Text, "a decomposed letter is a letter")
}

func TestLayerPages(t *testing.T) {
	t.Parallel()
	pages := layerPages([]byte(`<html><body><doc><page width="100" height="100">` +
		`<word xMin="1" yMin="1" xMax="9" yMax="9">Ka&#776;se</word></page></doc></body></html>`))
	require.Len(t, pages, 1)
	require.Equal(t, "K\u00e4se", pages[0].Words[0].Text)
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
	d, err := newTestOpener().Open(t.Context(), b.Bytes())
	require.NoError(t, err)
	require.Len(t, d.Images, 1)
}

func FuzzOpen(f *testing.F) {
	for _, file := range fixture.Images(f) {
		f.Add(file)
	}
	f.Add([]byte("Summe 1,00"))
	f.Add([]byte(" "))
	f.Fuzz(func(t *testing.T, file []byte) {
		if kind := types.TypeOf(file); kind == types.PDF || kind == types.HEIC {
			t.Skip("poppler and libheif have fuzzers of their own")
		}
		d, err := Opener{}.Open(t.Context(), file)
		if err == nil && d.Text == nil && len(d.Images) == 0 {
			t.Fatal("opened, but empty")
		}
	})
}

func TestRenderScannedPages(t *testing.T) {
	t.Parallel()
	text, _ := fixture.GoldenText(t, "en_us")
	img := fixture.Printed(t, text, 22)
	scan := fixture.ScanPDF(fixture.JPEG(t, img), img.Bounds().Dx(),
		img.Bounds().Dy(), maxPages, "[0 0 595 842]")
	d, err := newTestOpener().pdf(t.Context(), scan)
	require.NoError(t, err)
	require.Len(t, d.Images, maxPages)
	require.Greater(t, d.Images[0].Rect.Dx()*d.Images[0].Rect.Dy(), workPixels*7/10,
		"A4 at the full resolution")
}

// TestOpenPDFWithDamagedSecondPage requires that the first page is decoded at its full resolution.
func TestOpenPDFWithDamagedSecondPage(t *testing.T) {
	t.Parallel()
	scan := fixture.JPEG(t, fixture.Printed(t, "CORNER SHOP\nTotal 12.50", 30))
	whole := fixture.ScanPDF(scan, 600, 200, 2, "[0 0 300 400]")
	for name, box := range map[string]string{
		"enormous": "[0 0 9000000 9000000]", "without a size": "[0 0 0 0]",
		"a poster": "[0 0 5000 8000]",
	} {
		at := bytes.LastIndex(whole, []byte("[0 0 300 400]"))
		file := slices.Concat(whole[:at], []byte(box), whole[at+len("[0 0 300 400]"):])
		d, err := newTestOpener().Open(t.Context(), file)
		require.NoError(t, err, name)
		require.Equal(t, image.Pt(300*pdfDPI/72, 1667), d.Images[0].Bounds().Size(), name)
		if name != "without a size" {
			require.Len(t, d.Images, 1, name)
			require.Less(t, d.Read, d.Pages, name)
		}
	}
}

// TestOpenPDFWithPageThatCannotBeRendered has a program in place of pdftoppm that fails unless it
// renders one page.
func TestOpenPDFWithPageThatCannotBeRendered(t *testing.T) {
	real, err := exec.LookPath("pdftoppm")
	require.NoError(t, err)
	fails := fixture.Program(t, `case "$*" in *"-l 1 "*) exec `+real+` "$@";; esac; kill -SEGV $$`)
	require.NoError(t, os.Rename(fails, filepath.Join(filepath.Dir(fails), "pdftoppm")))
	t.Setenv("PATH", filepath.Dir(fails)+":"+os.Getenv("PATH"))
	scan := fixture.JPEG(t, fixture.Printed(t, "CORNER SHOP\nTotal 12.50", 30))
	d, err := newTestOpener().Open(t.Context(), fixture.ScanPDF(scan, 600, 200, 3, "[0 0 300 400]"))
	require.NoError(t, err)
	require.Len(t, d.Images, 1)
	require.Equal(t, [2]int{1, 3}, [2]int{d.Read, d.Pages})
}
