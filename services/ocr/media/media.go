// Package media decodes the files that users send: images of seven formats, PDFs and plain text,
// detected by their content. It also makes the images of the pages that are stored and shown.
// Programs of poppler-utils read PDFs, and one of libheif HEIF files.
//
// A file is untrusted. The size in its header is checked before it is decoded, and programs run in
// package sandbox. ErrUnreadable marks files that have no receipt in a known format, and ErrPixels
// images that are too large; any other error is a failure of the service.
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
	"slices"
	"time"

	"golang.org/x/image/bmp"
	"golang.org/x/image/tiff"
	"golang.org/x/image/webp"

	types "github.com/coffer-budget/coffer/internal/media"
	"github.com/coffer-budget/coffer/services/ocr/imaging"
	"github.com/coffer-budget/coffer/services/ocr/receipt/printed"
	"github.com/coffer-budget/coffer/services/ocr/sandbox"
)

const (
	// MaxPixels allows 600 dpi scans of A4 and 48 megapixel photographs. Decoded to RGBA they need
	// 200 MB.
	MaxPixels = 50_000_000
	// MaxEdge rejects strips of 1 x 50 000 000 pixels, the worst case of every step.
	MaxEdge = 20_000
	maxText = 256 << 10
	// workPixels is the size to which larger images are scaled down before any other step.
	workPixels = 12_000_000
	// pagePixels is the largest size of a rendered page of a PDF: A4 at 300 dpi.
	pagePixels = 9_000_000
)

var (
	// ErrUnreadable marks files that are no image, PDF or text of a supported kind.
	ErrUnreadable = errors.New("unreadable file")
	// ErrPixels marks images with more than MaxPixels, or with an edge longer than MaxEdge.
	ErrPixels = errors.New("too many pixels")
)

// Opener decodes files.
type Opener struct {
	limits sandbox.Limits
}

// New returns an opener whose programs may run for the given time. The limit of the output is the
// largest result: maxPages graymaps of pagePixels bytes, with their headers.
func New(limit time.Duration) Opener {
	return Opener{sandbox.Limits{Time: limit, Memory: 1 << 30, Output: maxPages*pagePixels + 1<<20}}
}

// Document is a decoded file: either pages of text or images of pages.
type Document struct {
	// Text has the pages of a text file or of the text layer of a PDF. Images has all other pages
	// in gray, turned as EXIF says. One of the two is empty.
	Text   []printed.Page
	Images []*image.Gray
	// Read of Pages pages are decoded, fewer if the file has more than maxPages, or a page cannot
	// be rendered. Both are 0 for files without pages.
	Read, Pages int
}

// format is an image format that Go decodes. config reads the size from the header without decoding
// the pixels.
type format struct {
	mediaType string
	config    func(b []byte) (image.Config, error)
	decode    func(b []byte) (image.Image, error)
}

var formats = []format{
	{types.JPEG, header(jpeg.DecodeConfig), body(jpeg.Decode)},
	{types.PNG, header(png.DecodeConfig), body(png.Decode)},
	// gif.Decode stops after the first frame, so an endless animation costs nothing.
	{types.GIF, header(gif.DecodeConfig), body(gif.Decode)},
	{types.BMP, header(bmp.DecodeConfig), body(bmp.Decode)},
	{types.TIFF, header(tiff.DecodeConfig), body(tiff.Decode)},
	{types.WebP, header(webp.DecodeConfig), body(webp.Decode)},
}

// header and body adapt decoders of streams to files in memory.
func header(f func(r io.Reader) (image.Config, error)) func(b []byte) (image.Config, error) {
	return func(b []byte) (image.Config, error) { return f(bytes.NewReader(b)) }
}

func body(f func(r io.Reader) (image.Image, error)) func(b []byte) (image.Image, error) {
	return func(b []byte) (image.Image, error) { return f(bytes.NewReader(b)) }
}

// Open decodes a file by its content, independent of its name. It returns ErrUnreadable, ErrPixels,
// the context's error, or another error if a program is missing.
func (o Opener) Open(ctx context.Context, file []byte) (Document, error) {
	if types.TypeOf(file) == types.PDF {
		return o.pdf(ctx, file)
	}
	img, orientation, err := o.image(ctx, file)
	if err != nil {
		return Document{}, err
	}
	if img != nil {
		page := upright(imaging.ToGray(img, workPixels), orientation)
		return Document{Images: []*image.Gray{page}}, nil
	}
	text, ok := plainText(file)
	if !ok {
		return Document{}, fmt.Errorf("%w: of no known kind", ErrUnreadable)
	}
	pages := printed.FromText(text)
	if len(pages) == 0 {
		return Document{}, fmt.Errorf("%w: blank text", ErrUnreadable)
	}
	return Document{Text: pages}, nil
}

// image decodes an image file and returns its EXIF orientation. It returns a nil image for files of
// another kind.
func (o Opener) image(ctx context.Context, file []byte) (image.Image, int, error) {
	if types.TypeOf(file) == types.HEIC {
		img, err := o.heif(ctx, file)
		return img, 1, err
	}
	f := formatOf(file)
	if f == nil {
		return nil, 0, nil
	}
	img, err := f.open(file)
	return img, f.orientation(file), err
}

// run executes a program on a file. It returns ErrUnreadable if the program rejects the file or
// needs too long, and sandbox.ErrNotStarted if the program is missing.
func (o Opener) run(
	ctx context.Context, file []byte, program string, args ...string,
) ([]byte, error) {
	out, err := sandbox.Run(ctx, o.limits, file, program, args...)
	_, rejected := errors.AsType[*exec.ExitError](err)
	late := errors.Is(err, context.DeadlineExceeded) && !errors.Is(err, sandbox.ErrTime)
	switch {
	case rejected || errors.Is(err, sandbox.ErrOutput):
		return nil, fmt.Errorf("%w: %w", ErrUnreadable, err)
	case late && ctx.Err() == nil:
		return nil, fmt.Errorf("%w: takes too long: %w", ErrUnreadable, err)
	}
	return out, err
}

func formatOf(file []byte) *format {
	mediaType := types.TypeOf(file)
	i := slices.IndexFunc(formats, func(f format) bool { return f.mediaType == mediaType })
	if i < 0 {
		return nil
	}
	return &formats[i]
}

func (f format) orientation(file []byte) int {
	if f.mediaType != types.JPEG {
		return 1
	}
	return orientation(file)
}

// Open decodes an image after checking the size in its header. It returns ErrUnreadable for damaged
// files, and ErrPixels for images that are too large.
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
	if config.Width <= 0 || config.Height <= 0 {
		return nil, fmt.Errorf("%w: %d x %d pixels", ErrUnreadable, config.Width, config.Height)
	}
	if max(config.Width, config.Height) > MaxEdge || config.Width*config.Height > MaxPixels {
		return nil, fmt.Errorf("%w: %d x %d", ErrPixels, config.Width, config.Height)
	}
	if img, err = f.decode(file); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrUnreadable, err)
	}
	return img, nil
}

// plainText returns the text of a file that is plain text (see types.TextChecker), without a byte
// order mark.
func plainText(file []byte) (string, bool) {
	file = bytes.TrimPrefix(file, []byte("\xef\xbb\xbf"))
	var checker types.TextChecker
	if len(file) == 0 || len(file) > maxText || !checker.Check(file) || !checker.End() {
		return "", false
	}
	return string(file), true
}
