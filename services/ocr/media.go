package ocr

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
	"unicode"
	"unicode/utf8"

	"golang.org/x/image/bmp"
	"golang.org/x/image/tiff"
	"golang.org/x/image/webp"

	"github.com/coffer-budget/coffer/services/ocr/receipt"
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

// errUnreadable marks files that are no image, PDF or text of a supported kind.
var errUnreadable = errors.New("unreadable file")

// opener decodes files. Formats without a decoder in Go are decoded by external programs.
type opener struct {
	limits limits
}

func newOpener(c Config) opener {
	return opener{limits: limits{time: c.Timeout, memory: 1 << 30, output: maxPages*pagePixels + 1<<20}}
}

// document is a decoded file: either pages of text or images of pages.
type document struct {
	text   []receipt.Page
	images []*image.Gray
	// skipped is set if the file has more than maxPages pages. Only the first ones are decoded.
	skipped bool
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

// open decodes a file by its content, independent of its name. It returns errUnreadable, errEngine (a program is missing) or the
// context's error.
func (o opener) open(ctx context.Context, file []byte) (document, error) {
	if bytes.HasPrefix(file, []byte(pdfMagic)) {
		return o.pdf(ctx, file)
	}
	if img, orientation, err := o.image(ctx, file); img != nil || err != nil {
		if err != nil {
			return document{}, err
		}
		return document{images: []*image.Gray{upright(shrinkTo(toGray(img), workPixels), orientation)}}, nil
	}
	if text, ok := plainText(file); ok {
		return document{text: receipt.FromText(text)}, nil
	}
	return document{}, fmt.Errorf("%w: of no known kind", errUnreadable)
}

// image decodes an image file and returns its EXIF orientation. It returns a nil image for files of another kind.
func (o opener) image(ctx context.Context, file []byte) (img image.Image, orientation int, err error) {
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

// run executes a program on a file. It returns errUnreadable if the program rejects the file or needs too long, and errEngine if the
// program is missing.
func (o opener) run(ctx context.Context, file []byte, program string, args ...string) ([]byte, error) {
	out, err := run(ctx, o.limits, file, program, args...)
	if _, refused := errors.AsType[*exec.ExitError](err); refused || errors.Is(err, errOutput) {
		return nil, fmt.Errorf("%w: %w", errUnreadable, err)
	}
	if errors.Is(err, errNotStarted) {
		return nil, fmt.Errorf("%w: %w", errEngine, err)
	}
	if errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil {
		return nil, fmt.Errorf("%w: takes too long: %w", errUnreadable, err)
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

// open decodes an image after checking the size in its header.
func (f format) open(file []byte) (img image.Image, err error) {
	// The input is untrusted. A panic of a decoder means the same as its error.
	defer func() {
		if p := recover(); p != nil {
			img, err = nil, fmt.Errorf("%w: decoder panic: %v", errUnreadable, p)
		}
	}()
	config, err := f.config(file)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errUnreadable, err)
	}
	if config.Width <= 0 || config.Height <= 0 || config.Width > maxEdge || config.Height > maxEdge || config.Width*config.Height > maxPixels {
		return nil, fmt.Errorf("%w: %d x %d pixels", errUnreadable, config.Width, config.Height)
	}
	if img, err = f.decode(file); err != nil {
		return nil, fmt.Errorf("%w: %w", errUnreadable, err)
	}
	return img, nil
}

// shrinkTo halves an image, by averaging, until it has at most the given number of pixels.
func shrinkTo(img *image.Gray, pixels int) *image.Gray {
	for img.Bounds().Dx()*img.Bounds().Dy() > pixels {
		img = halve(img)
	}
	return img
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
