// Package recognition turns a file into a receipt. It chooses between the text of the file and the
// engines, combines what several engines and passes have read, and decides which failures a receipt
// survives.
//
//	neural.go  the neural engine, with Tesseract as second witness
//	signs.go   adds characters that the neural engine does not know
//	passes.go  Tesseract alone: several passes until the receipt is consistent
//	rows.go    reads single rows again
//	vision.go  the alternative engine: a model behind an HTTP endpoint
//	papers.go  reads each paper on a photo of several alone
//
// The engines are in this package, because the neural engine and the vision endpoint fall back to
// the passes of Tesseract: packages per engine would import each other. tesseract is separate,
// because its command line and its table of words need no knowledge of receipts. The packages below
// return errors of their own, and this package maps them to ErrParse, ErrComplex, ErrResponse or
// the context's error.
package recognition

import (
	"context"
	"errors"
	"fmt"
	"image"
	"slices"
	"time"

	ocrv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ocr/v1"
	"github.com/coffer-budget/coffer/services/ocr/imaging"
	"github.com/coffer-budget/coffer/services/ocr/media"
	"github.com/coffer-budget/coffer/services/ocr/neural"
	"github.com/coffer-budget/coffer/services/ocr/receipt"
	"github.com/coffer-budget/coffer/services/ocr/receipt/printed"
	"github.com/coffer-budget/coffer/services/ocr/sandbox"
	"github.com/coffer-budget/coffer/services/ocr/tesseract"
)

// Config configures the engines, read from the environment.
type Config struct {
	// Neural is the folder of the neural engine. Without one there, Tesseract reads alone.
	Neural string `env:"OCR_NEURAL" envDefault:"/usr/lib/coffer/neural"`
	// Tesseract is the program of the second engine, by name or path.
	Tesseract string `env:"OCR_TESSERACT" envDefault:"tesseract"`
	// Timeout limits a page of the neural engine by the clock, and the processor time of a run of
	// Tesseract or of a PDF program. Reading a receipt takes several runs.
	Timeout time.Duration `env:"OCR_ENGINE_TIMEOUT" envDefault:"15s"`
	// Processor limits the processor time of a receipt: of its workers, their programs and the
	// neural engine together. 0 is no limit.
	Processor time.Duration `env:"OCR_PROCESSOR_TIME" envDefault:"20s"`
	Vision    VisionConfig
}

// engine reads the images of a receipt's pages. After an error, another engine may read them.
type engine interface {
	read(ctx context.Context, images []*image.Gray) (Reading, error)
}

// Networks read the words on a page. process.Process runs them, and a worker reaches those of the
// service. All their errors are failures of the neural engine.
type Networks interface {
	Read(ctx context.Context, page neural.Request) (neural.Page, error)
}

// Reader converts files to receipts. It is safe for concurrent use.
type Reader struct {
	opener media.Opener
	engine engine
	// fallback reads receipts on which engine fails; nil if there is none.
	fallback engine
	now      func() time.Time
}

// New returns a reader with the vision endpoint as its engine if one is configured. The engine on
// this machine is then the optional fallback: the neural engine, or Tesseract if networks is nil.
func New(config Config, networks Networks, now func() time.Time) (Reader, error) {
	alone := local{engine: tesseract.New(config.Tesseract, config.Timeout), now: now}
	onboard := engine(alone)
	if networks != nil {
		onboard = neuralEngine{networks: networks, tesseract: alone}
	}
	reader := Reader{opener: media.New(config.Timeout), engine: onboard, now: now}
	if config.Vision.URL == "" {
		return reader, nil
	}
	v, err := newVision(config.Vision, now)
	if err != nil {
		return Reader{}, err
	}
	reader.engine = v
	if config.Vision.Fallback {
		reader.fallback = onboard
	}
	return reader, nil
}

// warnPagesSkipped is the warning for a file with more than maxPages pages.
const warnPagesSkipped receipt.Warning = "PAGES_SKIPPED"

// warnFallback is the warning for a receipt that only the fallback of the main engine has read.
const warnFallback receipt.Warning = "ENGINE_FALLBACK"

// Reading is a receipt with the pages that its evidence refers to.
type Reading struct {
	receipt.Receipt
	// Others has the further receipts of a file that shows several.
	Others []Reading
	// several is set if the file seems to show several receipts, which were read as one.
	several bool
	pages   []imaging.Frame
	// read and of are the numbers of pages that were read and that the file has, if they differ.
	read, of int
	// FromFallback is set if the engine failed and the fallback read the receipt.
	FromFallback bool
	// Failure is the engine's error that the reading survived, or nil. Another attempt may then
	// find more.
	Failure error
	// TesseractAlone is set if the neural engine failed, and Tesseract read the whole receipt
	// without a failure.
	TesseractAlone bool
}

// Final reports whether the result may be stored. Otherwise the engine may read more from the file
// the next time.
func (r Reading) Final() bool { return !r.FromFallback && r.Failure == nil }

// Read returns the receipt in a file, or ErrParse, ErrComplex, ErrResponse or the context's error.
// A legible receipt without a recognizable total is no error: its total is empty.
func (r Reader) Read(ctx context.Context, file []byte) (Reading, error) {
	out, err := r.recognize(ctx, file)
	if err != nil {
		return Reading{}, publicError(ctx, err)
	}
	if out.Total == "" && out.Failure != nil {
		return Reading{}, publicError(ctx, out.Failure)
	}
	if !out.Legible {
		return Reading{}, fmt.Errorf("%w: no receipt found", ErrParse)
	}
	return out, nil
}

// Images returns the pages of a file as JPEGs.
func (r Reader) Images(ctx context.Context, file []byte) ([][]byte, error) {
	images, err := r.opener.Images(ctx, file)
	return images, publicError(ctx, err)
}

// Preview returns the pages of a file for display beside the fields that have the evidence.
func (r Reader) Preview(
	ctx context.Context, file []byte, evidence []*ocrv1.Evidence,
) ([]*ocrv1.ReceiptPage, error) {
	pages, err := r.opener.Preview(ctx, file, evidence)
	return pages, publicError(ctx, err)
}

func publicError(ctx context.Context, err error) error {
	switch {
	case err == nil:
		return nil
	// The context comes first, because a canceled run also looks like a failure of the engine.
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.Is(err, media.ErrPixels):
		return fmt.Errorf("%w: %w", ErrPixels, err)
	case errors.Is(err, media.ErrUnreadable):
		return fmt.Errorf("%w: %w", ErrParse, err)
	case errors.Is(err, sandbox.ErrTime):
		return fmt.Errorf("%w: %w", ErrComplex, err)
	}
	return fmt.Errorf("%w: %w", ErrResponse, err)
}

func (r Reader) recognize(ctx context.Context, file []byte) (Reading, error) {
	document, err := r.opener.Open(ctx, file)
	if err != nil {
		return Reading{}, err
	}
	var out Reading
	if document.Text != nil {
		for _, p := range document.Text {
			out.pages = append(out.pages, imaging.Frame{Size: image.Pt(p.Width, p.Height)})
		}
		out.setReceipts(r.now(), document.Text)
	} else if out, err = r.readImages(ctx, document.Images); err != nil {
		return Reading{}, err
	}
	if document.Read < document.Pages {
		out.read, out.of = document.Read, document.Pages
	}
	return out, nil
}

// setReceipts reads each receipt in the recognitions of the pages.
func (r *Reading) setReceipts(now time.Time, recognitions ...[]printed.Page) {
	r.Others = nil
	for i, part := range receipt.Split(recognitions...) {
		var readings []receipt.Reading
		for _, pages := range part {
			readings = append(readings, receipt.Read(pages))
		}
		if found := receipt.Join(now, readings...); i == 0 {
			r.Receipt = found
		} else {
			r.Others = append(r.Others, Reading{Receipt: found, pages: r.pages})
		}
	}
}

// confident reports whether reading the pages again is unlikely to change a receipt on them.
func (r Reading) confident() bool {
	doubtful := func(other Reading) bool { return !other.Confident() }
	return r.Confident() && !slices.ContainsFunc(r.Others, doubtful)
}

// readWhole reads images with the engine, or with the fallback if the engine fails.
func (r Reader) readWhole(ctx context.Context, images []*image.Gray) (Reading, error) {
	out, err := r.engine.read(ctx, images)
	// The fallback must not start for a canceled request, which looks like a failure, too.
	if r.fallback != nil && err != nil && ctx.Err() == nil {
		out, err = r.fallback.read(ctx, images)
		out.FromFallback, out.TesseractAlone = true, false
	}
	return out, err
}
