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
	pdf    poppler
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
	switch {
	case err == nil && out.Total == "":
		return reading{}, fmt.Errorf("%w: no total found", errParse)
	case err == nil:
		return out, nil
	case ctx.Err() != nil:
		return reading{}, ctx.Err()
	case errors.Is(err, errUnreadable):
		return reading{}, fmt.Errorf("%w: %w", errParse, err)
	}
	return reading{}, fmt.Errorf("%w: %w", errResponse, err)
}

func (r reader) recognise(ctx context.Context, file []byte) (reading, error) {
	d, err := r.pdf.open(ctx, file)
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

// frame is a page that evidence lies on: its size, and by how much it was straightened.
type frame struct {
	size  image.Point
	angle float64
}

// place moves a box from the straightened page back to the upright one.
func (f frame) place(b receipt.Box) receipt.Box {
	sin, cos := math.Sincos(f.angle)
	cx, cy := float64(f.size.X)/2, float64(f.size.Y)/2
	dx, dy := float64(b.X)+float64(b.W)/2-cx, float64(b.Y)+float64(b.H)/2-cy
	b.X = int(cx + dx*cos - dy*sin - float64(b.W)/2)
	b.Y = int(cy + dx*sin + dy*cos - float64(b.H)/2)
	return b
}
