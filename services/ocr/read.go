package ocr

import (
	"context"
	"errors"
	"fmt"
	"image"
	"math"
	"time"

	"github.com/coffer-budget/coffer/services/ocr/receipt"
)

// engine reads the images of a receipt's pages. Its failures are errEngine. Implementations are local and vision.
type engine interface {
	read(ctx context.Context, images []*image.Gray) (reading, error)
}

// reader converts a file to a receipt.
type reader struct {
	opener opener
	engine engine
	// fallback reads receipts on which engine fails; nil if there is none.
	fallback engine
	// neural is the process of the neural engine, which may not be installed.
	neural *neuralProcess
	now    func() time.Time
}

// warnPagesSkipped is the warning for a file with more than maxPages pages.
const warnPagesSkipped receipt.Warning = "PAGES_SKIPPED"

// reading is a receipt with the pages that its evidence refers to.
type reading struct {
	receipt.Receipt
	pages []frame
	// fromFallback is set if the engine failed and the fallback read the receipt.
	fromFallback bool
	// failure is the engine's error after the first reading, or nil. Another attempt may then find more.
	failure error
}

// final reports whether the result may be stored. Otherwise the engine may read more from the file the next time.
func (r reading) final() bool { return !r.fromFallback && r.failure == nil }

// read returns errParse, errResponse or the context's error.
func (r reader) read(ctx context.Context, file []byte) (reading, error) {
	out, err := r.recognize(ctx, file)
	if err != nil {
		return reading{}, publicError(ctx, err)
	}
	if out.Total == "" {
		return reading{}, fmt.Errorf("%w: no total found", errParse)
	}
	return out, nil
}

// publicError maps an error to errParse (the file is unreadable), errResponse (the engine failed) or the context's error.
func publicError(ctx context.Context, err error) error {
	switch {
	case err == nil:
		return nil
	// The context comes first, because a canceled run also looks like a failure of the engine.
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.Is(err, errUnreadable):
		return fmt.Errorf("%w: %w", errParse, err)
	}
	return fmt.Errorf("%w: %w", errResponse, err)
}

// recognize decodes a file and reads its text, or its images with the engine.
func (r reader) recognize(ctx context.Context, file []byte) (reading, error) {
	d, err := r.opener.open(ctx, file)
	if err != nil {
		return reading{}, err
	}
	var out reading
	if d.text != nil {
		for _, p := range d.text {
			out.pages = append(out.pages, frame{size: image.Pt(p.Width, p.Height)})
		}
		out.Receipt = receipt.Join(r.now(), receipt.Read(d.text))
	} else if out, err = r.readImages(ctx, d.images); err != nil {
		return reading{}, err
	}
	if d.skipped {
		out.Warnings = append(out.Warnings, warnPagesSkipped)
	}
	return out, nil
}

// readImages reads images with the engine, or with the fallback if the engine fails.
func (r reader) readImages(ctx context.Context, images []*image.Gray) (reading, error) {
	out, err := r.engine.read(ctx, images)
	// The fallback must not start for a canceled request, which fails with errEngine, too.
	if r.fallback != nil && errors.Is(err, errEngine) && ctx.Err() == nil {
		out, err = r.fallback.read(ctx, images)
		out.fromFallback = true
	}
	return out, err
}

// frame is the size of a page as the file shows it, and the steps that were applied before it was read.
type frame struct {
	size image.Point
	// area is the part of the page that was read. It was cut out first. An empty area is the whole page.
	area image.Rectangle
	// quarters is the number of clockwise quarter turns. angle, in radians, is the skew that was corrected afterwards.
	quarters int
	angle    float64
}

// read returns the size of the area that was read, as the file shows it.
func (f frame) read() image.Point {
	if f.area.Empty() {
		return f.size
	}
	return f.area.Size()
}

// turned returns the size of the area after it was turned by quarters.
func (f frame) turned() image.Point {
	size := f.read()
	if f.quarters%2 == 1 {
		size.X, size.Y = size.Y, size.X
	}
	return size
}

// place maps a box on the area as it was read to the page as the file shows it.
func (f frame) place(b receipt.Box) receipt.Box {
	read, turned := f.read(), f.turned()
	// The area was turned first and straightened second, so the skew is undone first.
	b = skewed(b, turned, f.angle)
	switch f.quarters {
	case 1:
		b = receipt.Box{X: b.Y, Y: read.Y - b.X - b.W, W: b.H, H: b.W}
	case 2:
		b = receipt.Box{X: read.X - b.X - b.W, Y: read.Y - b.Y - b.H, W: b.W, H: b.H}
	case 3:
		b = receipt.Box{X: read.X - b.Y - b.H, Y: b.X, W: b.H, H: b.W}
	}
	b.X, b.Y = b.X+f.area.Min.X, b.Y+f.area.Min.Y
	return b
}

// skewed returns the bounding box of a box after the page was rotated around its center.
func skewed(b receipt.Box, page image.Point, angle float64) receipt.Box {
	if angle == 0 {
		return b
	}
	sin, cos := math.Sincos(angle)
	cx, cy := float64(page.X)/2, float64(page.Y)/2
	dx, dy := float64(b.X)+float64(b.W)/2-cx, float64(b.Y)+float64(b.H)/2-cy
	// Only the sine can be negative, because angles are near maxSkew at most.
	w := float64(b.W)*cos + float64(b.H)*math.Abs(sin)
	h := float64(b.W)*math.Abs(sin) + float64(b.H)*cos
	return receipt.Box{
		X: int(cx + dx*cos - dy*sin - w/2), Y: int(cy + dx*sin + dy*cos - h/2),
		W: int(math.Ceil(w)), H: int(math.Ceil(h)),
	}
}
