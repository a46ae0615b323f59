package recognition

import (
	"github.com/coffer-budget/coffer/internal/apierr"
	restv1 "github.com/coffer-budget/coffer/proto/gen/coffer/rest/v1"
)

var (
	// ErrParse means that no receipt can be read from the file.
	ErrParse = apierr.New(restv1.Reason_OCR_PARSE_FAILED)
	// ErrResponse means that the engine failed. Another attempt may succeed.
	ErrResponse = apierr.New(restv1.Reason_OCR_RESPONSE_FAILED)
)
