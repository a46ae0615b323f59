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

// engine reads the pictures of a receipt's pages. Its own failures are errEngine.
type engine interface {
	read(ctx context.Context, pictures []*image.Gray) (reading, error)
}

// reader turns a file into a receipt.
type reader struct {
	opener opener
	engine engine
	// spare reads what the engine fails on; nil when nothing should.
	spare engine
	now   func() time.Time
}

// warnPagesSkipped: the file has more pages than are read.
const warnPagesSkipped receipt.Warning = "PAGES_SKIPPED"

// reading is a receipt with the pages that its evidence lies on.
type reading struct {
	receipt.Receipt
	pages []frame
	// spared: the engine failed, and this is what the spare one read.
	spared bool
}

// read returns errParse, errResponse or the context's error.
func (r reader) read(ctx context.Context, file []byte) (reading, error) {
	out, err := r.recognise(ctx, file)
	if err != nil {
		return reading{}, refused(ctx, err)
	}
	if out.Total == "" {
		return reading{}, fmt.Errorf("%w: no total found", errParse)
	}
	return out, nil
}

// refused says whose fault an error was, the file's or the engine's.
func refused(ctx context.Context, err error) error {
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.Is(err, errUnreadable):
		return fmt.Errorf("%w: %w", errParse, err)
	}
	return fmt.Errorf("%w: %w", errResponse, err)
}

func (r reader) recognise(ctx context.Context, file []byte) (reading, error) {
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
	} else if out, err = r.pictures(ctx, d.pictures); err != nil {
		return reading{}, err
	}
	if d.skipped {
		out.Warnings = append(out.Warnings, warnPagesSkipped)
	}
	return out, nil
}

func (r reader) pictures(ctx context.Context, pictures []*image.Gray) (reading, error) {
	out, err := r.engine.read(ctx, pictures)
	if r.spare != nil && errors.Is(err, errEngine) && ctx.Err() == nil {
		out, err = r.spare.read(ctx, pictures)
		out.spared = true
	}
	return out, err
}

// frame is a page that evidence lies on, as the file shows it, and what was done to it before it was read.
type frame struct {
	size image.Point
	// quarters is how often it was turned clockwise, and angle by how much it was straightened then.
	quarters int
	angle    float64
}

// place moves a box from the page as it was read back to the page as the file shows it.
func (f frame) place(b receipt.Box) receipt.Box {
	turned := f.size
	if f.quarters%2 == 1 {
		turned.X, turned.Y = turned.Y, turned.X
	}
	b = skewed(b, turned, f.angle)
	switch f.quarters {
	case 1:
		return receipt.Box{X: b.Y, Y: f.size.Y - b.X - b.W, W: b.H, H: b.W}
	case 2:
		return receipt.Box{X: f.size.X - b.X - b.W, Y: f.size.Y - b.Y - b.H, W: b.W, H: b.H}
	case 3:
		return receipt.Box{X: f.size.X - b.Y - b.H, Y: b.X, W: b.H, H: b.W}
	}
	return b
}

// skewed is what holds a box after the page was rotated about its middle.
func skewed(b receipt.Box, page image.Point, angle float64) receipt.Box {
	if angle == 0 {
		return b
	}
	sin, cos := math.Sincos(angle)
	cx, cy := float64(page.X)/2, float64(page.Y)/2
	dx, dy := float64(b.X)+float64(b.W)/2-cx, float64(b.Y)+float64(b.H)/2-cy
	w := float64(b.W)*cos + float64(b.H)*math.Abs(sin)
	h := float64(b.W)*math.Abs(sin) + float64(b.H)*cos
	return receipt.Box{
		X: int(cx + dx*cos - dy*sin - w/2), Y: int(cy + dx*sin + dy*cos - h/2),
		W: int(math.Ceil(w)), H: int(math.Ceil(h)),
	}
}
