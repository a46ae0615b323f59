// Package media decodes the files that users send: images of seven formats, PDFs and plain text, detected by their content. It also
// makes the images of the pages that are stored and shown.
//
//	media.go    formats, limits, images that Go decodes; exif.go turns them upright
//	pdf.go      PDF: the text layer, or rendered pages, by programs of poppler-utils
//	heif.go     HEIF, by a program of libheif
//	images.go   pages as JPEGs, for storage
//	preview.go  pages as data URLs, for display beside the fields
//
// A file is untrusted. The size in its header is checked before it is decoded, and programs run in package sandbox. ErrUnreadable marks
// files that have no receipt in a known format; any other error is a failure of the service.
package media

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"image"
	"image/gif"
	"image/jpeg"
	"image/png"
	"io"
	"os/exec"
	"time"
	"unicode"
	"unicode/utf8"

	"golang.org/x/image/bmp"
	"golang.org/x/image/tiff"
	"golang.org/x/image/webp"

	"github.com/coffer-budget/coffer/services/ocr/imaging"
	"github.com/coffer-budget/coffer/services/ocr/receipt"
	"github.com/coffer-budget/coffer/services/ocr/sandbox"
)

const (
	// maxPixels allows 600 dpi scans of A4 and 48 megapixel photographs. Decoded to RGBA they need 200 MB.
	maxPixels = 50_000_000
	// maxEdge rejects strips of 1 x 50 000 000 pixels, the worst case of every step.
	maxEdge = 20_000
	maxText = 256 << 10
	// workPixels is the size to which larger images are scaled down before any other step.
	workPixels = 12_000_000
	// pagePixels is the largest size of a rendered page of a PDF: A4 at 300 dpi.
	pagePixels = 9_000_000
)

// ErrUnreadable marks files that are no image, PDF or text of a supported kind.
var ErrUnreadable = errors.New("unreadable file")

// Opener decodes files. Formats without a decoder in Go are decoded by external programs.
type Opener struct {
	limits sandbox.Limits
}

// New returns an opener whose programs may run for the given time.
func New(limit time.Duration) Opener {
	return Opener{limits: sandbox.Limits{Time: limit, Memory: 1 << 30, Output: maxPages*pagePixels + 1<<20}}
}

// Document is a decoded file: either pages of text or images of pages.
type Document struct {
	Text   []receipt.Page
	Images []*image.Gray
	// Skipped is set if only the first pages are decoded: the file has more than maxPages, or a page cannot be rendered.
	Skipped bool
}

// format is an image format, detected by the first bytes of a file. A ? in magic matches any byte.
type format struct {
	magic  []string
	config func(b []byte) (image.Config, error)
	decode func(b []byte) (image.Image, error)
}

const (
	jpegMagic = "\xff\xd8\xff"
	pdfMagic  = "%PDF-"
)

var formats = []format{
	{[]string{jpegMagic}, header(jpeg.DecodeConfig), body(jpeg.Decode)},
	{[]string{"\x89PNG\r\n\x1a\n"}, header(png.DecodeConfig), body(png.Decode)},
	// gif.Decode stops after the first frame, so an endless animation costs nothing.
	{[]string{"GIF87a", "GIF89a"}, header(gif.DecodeConfig), body(gif.Decode)},
	{[]string{"BM"}, header(bmp.DecodeConfig), body(bmp.Decode)},
	{[]string{"II*\x00", "MM\x00*"}, header(tiff.DecodeConfig), body(tiff.Decode)},
	{[]string{"RIFF????WEBPVP8"}, header(webp.DecodeConfig), body(webp.Decode)},
}

// header and body adapt decoders of streams to files in memory.
func header(f func(r io.Reader) (image.Config, error)) func(b []byte) (image.Config, error) {
	return func(b []byte) (image.Config, error) { return f(bytes.NewReader(b)) }
}

func body(f func(r io.Reader) (image.Image, error)) func(b []byte) (image.Image, error) {
	return func(b []byte) (image.Image, error) { return f(bytes.NewReader(b)) }
}

// Open decodes a file by its content, independent of its name. It returns ErrUnreadable, the
// context's error, or another error if a program is missing.
func (o Opener) Open(ctx context.Context, file []byte) (Document, error) {
	if bytes.HasPrefix(file, []byte(pdfMagic)) {
		return o.pdf(ctx, file)
	}
	if img, orientation, err := o.image(ctx, file); img != nil || err != nil {
		if err != nil {
			return Document{}, err
		}
		return Document{Images: []*image.Gray{upright(imaging.ShrinkTo(imaging.ToGray(img), workPixels), orientation)}}, nil
	}
	if text, ok := plainText(file); ok {
		return Document{Text: receipt.FromText(text)}, nil
	}
	return Document{}, fmt.Errorf("%w: of no known kind", ErrUnreadable)
}

// image decodes an image file and returns its EXIF orientation. It returns a nil image for files of another kind.
func (o Opener) image(ctx context.Context, file []byte) (img image.Image, orientation int, err error) {
	if isHEIF(file) {
		img, err = o.heif(ctx, file)
		return img, 1, err
	}
	f := formatOf(file)
	if f == nil {
		return nil, 0, nil
	}
	img, err = f.open(file)
	return img, f.orientation(file), err
}

// run executes a program on a file. It returns ErrUnreadable if the program rejects the file or needs too long, and
// sandbox.ErrNotStarted if the program is missing.
func (o Opener) run(ctx context.Context, file []byte, program string, args ...string) ([]byte, error) {
	out, err := sandbox.Run(ctx, o.limits, file, program, args...)
	if _, refused := errors.AsType[*exec.ExitError](err); refused || errors.Is(err, sandbox.ErrOutput) {
		return nil, fmt.Errorf("%w: %w", ErrUnreadable, err)
	}
	if errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil {
		return nil, fmt.Errorf("%w: takes too long: %w", ErrUnreadable, err)
	}
	return out, err
}

// formatOf returns the image format of a file, or nil.
func formatOf(file []byte) *format {
	for i := range formats {
		if formats[i].matches(file) {
			return &formats[i]
		}
	}
	return nil
}

// matches reports whether a file starts with one of the magic numbers.
func (f format) matches(file []byte) bool {
	for _, m := range f.magic {
		if len(file) < len(m) {
			continue
		}
		same := true
		for i := range len(m) {
			same = same && (m[i] == '?' || m[i] == file[i])
		}
		if same {
			return true
		}
	}
	return false
}

// orientation returns the EXIF orientation of a file in this format.
func (f format) orientation(file []byte) int {
	if f.magic[0] != jpegMagic {
		return 1
	}
	return orientation(file)
}

// Open decodes an image after checking the size in its header.
func (f format) open(file []byte) (img image.Image, err error) {
	// The input is untrusted. A panic of a decoder means the same as its error.
	defer func() {
		if p := recover(); p != nil {
			img, err = nil, fmt.Errorf("%w: decoder panic: %v", ErrUnreadable, p)
		}
	}()
	config, err := f.config(file)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrUnreadable, err)
	}
	if config.Width <= 0 || config.Height <= 0 || config.Width > maxEdge || config.Height > maxEdge || config.Width*config.Height > maxPixels {
		return nil, fmt.Errorf("%w: %d x %d pixels", ErrUnreadable, config.Width, config.Height)
	}
	if img, err = f.decode(file); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrUnreadable, err)
	}
	return img, nil
}

// plainText accepts UTF-8 without control characters, except for tabs, line breaks and form feeds. It removes a byte order mark.
func plainText(file []byte) (string, bool) {
	file = bytes.TrimPrefix(file, []byte("\xef\xbb\xbf"))
	if len(file) == 0 || len(file) > maxText || !utf8.Valid(file) {
		return "", false
	}
	for _, r := range string(file) {
		if unicode.IsControl(r) && r != '\n' && r != '\r' && r != '\t' && r != '\f' {
			return "", false
		}
	}
	return string(file), true
}
