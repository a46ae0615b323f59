package ocr

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestReadPDFTextLayer(t *testing.T) {
	t.Parallel()
	text, want := goldenText(t, "en_us")
	r, err := newTestReader().read(t.Context(), textPDF(1, text))
	require.NoError(t, err)
	require.Equal(t, want, shown(r.Receipt))
	require.Empty(t, r.Warnings)
}

func TestReadScannedPDF(t *testing.T) {
	t.Parallel()
	text, want := goldenText(t, "en_us")
	img := printed(t, text, 22)
	r, err := newTestReader().read(t.Context(), scanPDF(asJPEG(t, img), img.Bounds().Dx(), img.Bounds().Dy(), 1, fmt.Sprintf("[0 0 %d %d]", img.Bounds().Dx()/4, img.Bounds().Dy()/4)))
	require.NoError(t, err)
	require.Equal(t, want.Total, r.Total)
	require.Equal(t, want.Date, r.Date)
}

func TestRenderScannedPages(t *testing.T) {
	t.Parallel()
	text, _ := goldenText(t, "en_us")
	img := printed(t, text, 22)
	scan := scanPDF(asJPEG(t, img), img.Bounds().Dx(), img.Bounds().Dy(), maxPages, "[0 0 595 842]")
	d, err := newTestReader().opener.pdf(t.Context(), scan)
	require.NoError(t, err)
	require.Len(t, d.images, maxPages)
	require.Greater(t, d.images[0].Rect.Dx()*d.images[0].Rect.Dy(), workPixels*7/10, "A4 at the full resolution")
}

func TestReadPDFLimitsPages(t *testing.T) {
	t.Parallel()
	text, want := goldenText(t, "en_us")
	r, err := newTestReader().read(t.Context(), textPDF(10_000, text))
	require.NoError(t, err)
	require.Equal(t, want.Total, r.Total)
	require.Contains(t, r.Warnings, warnPagesSkipped)
}

func TestReadUnreadablePDF(t *testing.T) {
	t.Parallel()
	text, _ := goldenText(t, "en_us")
	whole := textPDF(1, text)
	for name, file := range map[string][]byte{
		"locked":    lockedPDF(text),
		"enormous":  scanPDF(nil, 10, 10, 1, "[0 0 9000000 9000000]"),
		"pageless":  textPDF(0, ""),
		"truncated": whole[:60],
	} {
		_, err := newTestReader().read(t.Context(), file)
		require.ErrorIs(t, err, errParse, name)
	}
}

func TestReadPDFWithoutProgram(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	_, err := newTestReader().read(t.Context(), textPDF(1, "Total 1.00"))
	require.ErrorIs(t, err, errResponse)
}

// textPDF returns a PDF with the text in Courier on every page.
func textPDF(pages int, text string) []byte {
	var content strings.Builder
	content.WriteString("BT /F 10 Tf 12 TL 40 800 Td\n")
	for line := range strings.Lines(text) {
		escaped := strings.NewReplacer(`\`, `\\`, "(", `\(`, ")", `\)`).Replace(strings.TrimRight(line, "\n"))
		fmt.Fprintf(&content, "(%s) '\n", escaped)
	}
	content.WriteString("ET")
	return pdfOf(pages, "[0 0 600 850]", "/Font << /F << /Type /Font /Subtype /Type1 /BaseFont /Courier >> >>", content.String(), nil)
}

// scanPDF returns a PDF whose pages show an image of w x h pixels. The box of a page is in points.
func scanPDF(jpeg []byte, w, h, pages int, box string) []byte {
	image := fmt.Appendf(nil, "<< /Type /XObject /Subtype /Image /Width %d /Height %d /ColorSpace /DeviceGray /BitsPerComponent 8 /Filter /DCTDecode /Length %d >>\nstream\n", w, h, len(jpeg))
	image = append(append(image, jpeg...), "\nendstream"...)
	return pdfOf(pages, box, "/XObject << /I 4 0 R >>", fmt.Sprintf("%d 0 0 %d 0 0 cm /I Do", w/4, h/4), image)
}

// pdfOf returns a PDF without a cross-reference table, which readers rebuild.
func pdfOf(pages int, box, resources, content string, extra []byte) []byte {
	var b bytes.Buffer
	b.WriteString("%PDF-1.4\n1 0 obj << /Type /Catalog /Pages 2 0 R >> endobj\n")
	kids := strings.Builder{}
	for i := range pages {
		fmt.Fprintf(&kids, "%d 0 R ", 10+i)
	}
	fmt.Fprintf(&b, "2 0 obj << /Type /Pages /Count %d /Kids [%s] >> endobj\n", pages, kids.String())
	fmt.Fprintf(&b, "3 0 obj << /Length %d >>\nstream\n%s\nendstream endobj\n", len(content), content)
	if extra != nil {
		fmt.Fprintf(&b, "4 0 obj %s endobj\n", extra)
	}
	for i := range pages {
		fmt.Fprintf(&b, "%d 0 obj << /Type /Page /Parent 2 0 R /MediaBox %s /Contents 3 0 R /Resources << %s >> >> endobj\n", 10+i, box, resources)
	}
	b.WriteString("trailer << /Root 1 0 R /Size 20000 >>\n%%EOF\n")
	return b.Bytes()
}
