package reports

import (
	"github.com/coffer-budget/coffer/internal/apierr"
)

// errSummaryOverflow is the public error for a summary whose totals exceed the maximum.
var errSummaryOverflow = apierr.Validation([]apierr.Field{{Name: "to", Message: "must be earlier: the totals of the window exceed the maximum"}})
