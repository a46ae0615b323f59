package recognition

import (
	"archive/zip"
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"image"
	"image/color"
	"image/gif"
	"io"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/coffer-budget/coffer/services/ocr/fixture"
	"github.com/coffer-budget/coffer/services/ocr/neural/process"
)

// TestReadBadFiles requires that each file is rejected as unreadable, within limits of time and memory, and leaves no file or
// process. It reads the files sequentially to measure the cost of each.
func TestReadBadFiles(t *testing.T) { //nolint:paralleltest // It sets an environment variable, and measures the process.
	t.Run("tesseract", func(t *testing.T) { testReadBadFiles(t, newTestReader()) })
	t.Run("neural", func(t *testing.T) { testReadBadFiles(t, neuralReader(t)) })
}

func testReadBadFiles(t *testing.T, reader Reader) {
	t.Helper()
	const (
		// longest limits the processor time in seconds, including programs. Wall time would include other tests.
		longest = 20
		// most limits the sum of all allocated bytes, also of those that are freed again.
		most = 400 << 20
	)
	dir := t.TempDir()
	t.Setenv("TMPDIR", dir)
	files := badFiles(t)
	for _, name := range slices.Sorted(maps.Keys(files)) {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		start := fixture.ProcessorTime()
		_, err := reader.Read(t.Context(), files[name])
		took := fixture.ProcessorTime() - start
		runtime.ReadMemStats(&after)
		require.ErrorIs(t, err, ErrParse, name)
		require.Less(t, took, float64(longest), name)
		require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(most), name)
		left, err := os.ReadDir(dir)
		require.NoError(t, err)
		require.Empty(t, left, name)
		require.Empty(t, children(t), name)
	}
}

// badFiles returns files that must be rejected, whatever format they claim to have.
func badFiles(t *testing.T) map[string][]byte {
	t.Helper()
	frames, data := endlessGIFs(t)
	bad := map[string][]byte{
		"empty file":                  {},
		"one byte":                    {0xff},
		"binary":                      fixture.Noise(4000),
		"text with a NUL":             []byte("Total 1.00\x00"),
		"letter":                      []byte("Dear Sir or Madam,\nthank you for your letter of the 3rd.\n"),
		"zip":                         zipped(t),
		"PNG of 30000 x 30000":        wholePNG(t, 30_000, 30_000),
		"PNG of 1 x 2000000000":       hugePNG(1, 2_000_000_000),
		"PNG of the maximum size":     wholePNG(t, 7000, 7000),
		"truncated PNG":               hugePNG(5000, 5000),
		"WebP without data":           []byte("RIFF\x10\x00\x00\x00WEBPVP8 \x04\x00\x00\x00abcd"),
		"GIF without end":             frames,
		"GIF frame without end":       data,
		"HTML that is also a GIF":     append([]byte("GIF89a"), []byte("<script>alert(1)</script>")...),
		"zip that is also a JPEG":     append(bytes.Clone(fixture.Images(t)["JPEG"]), zipped(t)...),
		"PDF that is also a GIF":      append(bytes.Clone(fixture.Images(t)["GIF"]), fixture.TextPDF(1, "Total 1.00")...),
		"PDF with header only":        []byte("%PDF-1.7\n"),
		"PDF with noise":              append([]byte("%PDF-1.4\n"), fixture.Noise(3000)...),
		"PDF of 10000 empty pages":    fixture.TextPDF(10_000, ""),
		"PDF with a password":         fixture.LockedPDF("Total 1.00"),
		"PDF with JavaScript":         bytes.Replace(fixture.TextPDF(1, ""), []byte("/Type /Catalog"), []byte("/Type /Catalog /OpenAction << /S /JavaScript /JS (this.getField\\('t'\\).value = 'Total 1.00'; while \\(true\\) {}) >>"), 1),
		"PDF with launch action":      bytes.Replace(fixture.TextPDF(1, ""), []byte("/Type /Catalog"), []byte("/Type /Catalog /OpenAction << /S /Launch /F (/bin/sleep) /P (60) >>"), 1),
		"PDF with a cycle of pages":   bytes.Replace(fixture.TextPDF(1, ""), []byte("/Kids [10 0 R ]"), []byte("/Kids [2 0 R 2 0 R]"), 1),
		"PDF with a compression bomb": bombPDF(t),
		"white noise":                 fixture.JPEG(t, fixture.Static(400, 500)),
		"cat":                         fixture.JPEG(t, cat(450, 600)),
	}
	for name, file := range fixture.Images(t) {
		bad["truncated "+name] = file[:min(len(file)/3, 40)]
		broken := bytes.Clone(file)
		copy(broken[min(12, len(broken)):], fixture.Noise(len(broken)/2))
		bad["corrupt "+name] = broken
	}
	return bad
}

// children returns the child processes that were not waited for.
func children(t *testing.T) []string {
	t.Helper()
	stats, err := os.ReadDir("/proc")
	if err != nil {
		return nil
	}
	var out []string
	for _, p := range stats {
		// pid (name) state parent
		stat, err := os.ReadFile("/proc/" + p.Name() + "/stat")
		if err != nil {
			continue
		}
		_, rest, _ := strings.Cut(string(stat), ") ")
		// The neural engine stays for the next image.
		if fields := strings.Fields(rest); !strings.Contains(string(stat), "("+process.Program+")") && len(fields) > 1 && fields[1] == strconv.Itoa(os.Getpid()) {
			out = append(out, string(stat))
		}
	}
	return out
}

func zipped(t *testing.T) []byte {
	t.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	f, err := w.Create("receipt.txt")
	require.NoError(t, err)
	_, err = io.WriteString(f, "Total 1.00")
	require.NoError(t, err)
	require.NoError(t, w.Close())
	return b.Bytes()
}

// bombPDF returns a PDF whose page decompresses to a thousand times its size.
func bombPDF(t *testing.T) []byte {
	t.Helper()
	packed := deflated(t, bytes.Repeat([]byte(" "), 1<<20), 100)
	return fixture.PDF(1, "[0 0 600 850]", "/XObject << /I 4 0 R >>", "/I Do", slices.Concat(
		fmt.Appendf(nil, "<< /Type /XObject /Subtype /Form /BBox [0 0 600 850] /Filter /FlateDecode /Length %d >>\nstream\n", len(packed)), packed, []byte("\nendstream")))
}

// hugePNG returns a PNG whose header declares a large image that the data does not contain.
func hugePNG(w, h uint32) []byte { return append(pngOf(w, h, 8), fixture.Noise(1000)...) }

// wholePNG returns a complete PNG of the declared size, in two colors.
func wholePNG(t *testing.T, w, h uint32) []byte {
	t.Helper()
	row := make([]byte, 1+(w+7)/8)
	return append(chunk(pngOf(w, h, 1), "IDAT", deflated(t, row, int(h))), chunk(nil, "IEND", nil)...)
}

func pngOf(w, h uint32, depth byte) []byte {
	head := binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32(nil, w), h)
	return chunk([]byte("\x89PNG\r\n\x1a\n"), "IHDR", append(head, depth, 0, 0, 0, 0))
}

func chunk(b []byte, kind string, data []byte) []byte {
	b = binary.BigEndian.AppendUint32(b, uint32(len(data)))
	data = append([]byte(kind), data...)
	return binary.BigEndian.AppendUint32(append(b, data...), crc32.ChecksumIEEE(data))
}

func deflated(t *testing.T, part []byte, times int) []byte {
	t.Helper()
	var b bytes.Buffer
	w := zlib.NewWriter(&b)
	for range times {
		_, err := w.Write(part)
		require.NoError(t, err)
	}
	require.NoError(t, w.Close())
	return b.Bytes()
}

// endlessGIFs returns GIFs without the byte that ends a file: one with frame after frame, and one with a frame that does not
// end.
func endlessGIFs(t *testing.T) (frames, data []byte) {
	t.Helper()
	var b bytes.Buffer
	require.NoError(t, gif.Encode(&b, image.NewPaletted(image.Rect(0, 0, 60, 40), color.Palette{color.White, color.Black}), nil))
	whole := b.Bytes()
	whole = whole[:len(whole)-1]
	at := bytes.IndexByte(whole, ',')
	// The header of the frame has ten bytes, and the width of its codes one. The rest are codes that clear the table.
	const header = 10 + 1
	clear := append([]byte{255}, bytes.Repeat([]byte{0x24, 0x49, 0x92}, 85)...)
	return append(bytes.Clone(whole), bytes.Repeat(whole[at:], 100_000)...),
		append(bytes.Clone(whole[:at+header]), bytes.Repeat(clear, 40_000)...)
}

// cat returns an image without a word: soft shapes, stripes and grain.
func cat(w, h int) *image.Gray {
	r := rand.New(rand.NewPCG(3, 4))
	img := image.NewGray(image.Rect(0, 0, w, h))
	for i := range img.Pix {
		x, y := float64(i%w)/float64(w)-0.5, float64(i/w)/float64(h)-0.5
		fur := 60*math.Sin(9*x+28*y*y*y)*math.Cos(11*y) + 40*math.Sin(60*math.Hypot(x, y))
		img.Pix[i] = uint8(max(0, min(255, 128+fur+r.NormFloat64()*12)))
	}
	return img
}
