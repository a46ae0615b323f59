package recognition

import (
	"github.com/coffer-budget/coffer/internal/apierr"
	restv1 "github.com/coffer-budget/coffer/proto/gen/coffer/rest/v1"
)

var (
	// ErrParse means that no receipt can be read from the file.
	ErrParse = apierr.New(restv1.Reason_OCR_PARSE_FAILED)
	// ErrComplex means that the file takes more processor time than a receipt may.
	ErrComplex = apierr.New(restv1.Reason_RECEIPT_TOO_COMPLEX)
	// ErrResponse means that the engine failed. Another attempt may succeed.
	ErrResponse = apierr.New(restv1.Reason_OCR_RESPONSE_FAILED)
)
