package reports

import (
	"github.com/coffer-budget/coffer/internal/apierr"
)

// The public errors for a summary that exceeds a limit which depends on the user's transactions.
var (
	errSummaryOverflow = apierr.Invalid("to",
		"must be earlier: the totals of the window exceed the maximum")
	errTooManyTransactions = apierr.Invalid("to",
		"must be earlier: with include=daily or tags a window has at most 100000 transactions")
	errTooManyCurrencies = apierr.Invalid("currency",
		"is required: with include=daily a summary has at most 10000 rows by day")
)
