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
	maxFile = 10 << 20
	// maxPixels lets 600 dpi scans of A4 and 48 megapixel photographs in; decoded to RGBA that is 200 MB.
	maxPixels = 50_000_000
	// maxEdge keeps strips of 1 x 50 000 000 out, on which every step would be at its worst.
	maxEdge = 20_000
	maxText = 256 << 10
	// workPixels is what more is shrunk to before anything else is done with it.
	workPixels = 12_000_000
)

// errUnreadable: the bytes are no picture, PDF or text of the kinds that are read.
var errUnreadable = errors.New("unreadable file")

// opener takes files apart. What Go has no decoder for is a matter for programs of their own.
type opener struct {
	limits limits
}

func newOpener(c Config) opener {
	return opener{limits: limits{time: c.Timeout, memory: 1 << 30, output: maxPages*maxPixels/8 + 1<<20}}
}

// document is a file taken apart: pages that are text already, or pictures of pages.
type document struct {
	text     []receipt.Page
	pictures []*image.Gray
	// skipped: there were more pages than are read.
	skipped bool
}

// format of pictures, told by their first bytes.
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
	// gif.Decode stops after the first frame: an endless animation costs nothing.
	{[]string{"GIF87a", "GIF89a"}, header(gif.DecodeConfig), body(gif.Decode)},
	{[]string{"BM"}, header(bmp.DecodeConfig), body(bmp.Decode)},
	{[]string{"II*\x00", "MM\x00*"}, header(tiff.DecodeConfig), body(tiff.Decode)},
	{[]string{"RIFF????WEBPVP8"}, header(webp.DecodeConfig), body(webp.Decode)},
}

func header(f func(r io.Reader) (image.Config, error)) func(b []byte) (image.Config, error) {
	return func(b []byte) (image.Config, error) { return f(bytes.NewReader(b)) }
}

func body(f func(r io.Reader) (image.Image, error)) func(b []byte) (image.Image, error) {
	return func(b []byte) (image.Image, error) { return f(bytes.NewReader(b)) }
}

// open takes a file apart by its content. Its error is errUnreadable, the context's, or that of a missing program.
func (o opener) open(ctx context.Context, file []byte) (document, error) {
	if bytes.HasPrefix(file, []byte(pdfMagic)) {
		return o.pdf(ctx, file)
	}
	if img, orientation, err := o.picture(ctx, file); img != nil || err != nil {
		if err != nil {
			return document{}, err
		}
		return document{pictures: []*image.Gray{upright(shrinkTo(toGray(img), workPixels), orientation)}}, nil
	}
	if text, ok := plainText(file); ok {
		return document{text: receipt.FromText(text)}, nil
	}
	return document{}, fmt.Errorf("%w: of no known kind", errUnreadable)
}

// picture decodes a file that is one, and says how it lies, as EXIF numbers it; nil for other files.
func (o opener) picture(ctx context.Context, file []byte) (img image.Image, orientation int, err error) {
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

// run tells a file that a program refuses from a program that is missing.
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

// formatOf is nil for what is no picture.
func formatOf(file []byte) *format {
	for i := range formats {
		if formats[i].matches(file) {
			return &formats[i]
		}
	}
	return nil
}

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

// orientation is how a picture lies, as EXIF numbers it.
func (f format) orientation(file []byte) int {
	if f.magic[0] != jpegMagic {
		return 1
	}
	return orientation(file)
}

// open decodes a picture after its header has told that it is not too large.
func (f format) open(file []byte) (img image.Image, err error) {
	// Decoders are fed by anyone; one that panics on nonsense says no more than "unreadable".
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

// shrinkTo halves a picture, by averaging, until it has no more than so many pixels.
func shrinkTo(img *image.Gray, pixels int) *image.Gray {
	for img.Bounds().Dx()*img.Bounds().Dy() > pixels {
		img = halve(img)
	}
	return img
}

// plainText accepts UTF-8 that somebody could have written: no control characters but those of layout.
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
