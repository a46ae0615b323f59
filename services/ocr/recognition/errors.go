package recognition

import (
	"fmt"
	"time"

	"github.com/coffer-budget/coffer/internal/apierr"
	restv1 "github.com/coffer-budget/coffer/proto/gen/coffer/rest/v1"
	"github.com/coffer-budget/coffer/services/ocr/media"
)

var (
	// ErrParse means that no receipt can be read from the file.
	ErrParse = apierr.New(restv1.Reason_OCR_PARSE_FAILED)
	// ErrComplex means that the file takes more processor time than a receipt may, or is ErrPixels.
	ErrComplex = apierr.New(restv1.Reason_RECEIPT_TOO_COMPLEX)
	// ErrPixels is the ErrComplex of an image that is too large.
	ErrPixels = ErrComplex.With("receipt", fmt.Sprintf(
		"an image must have at most %d pixels, and at most %d pixels on each edge",
		media.MaxPixels, media.MaxEdge))
	// ErrResponse means that the engine failed. Another attempt may succeed.
	ErrResponse = apierr.New(restv1.Reason_OCR_RESPONSE_FAILED)
)

// TooComplex returns the ErrComplex of a file that takes more than a limit of processor time.
func TooComplex(limit time.Duration) error {
	return ErrComplex.With("receipt",
		fmt.Sprintf("must take at most %g s of processor time", limit.Seconds()))
}
