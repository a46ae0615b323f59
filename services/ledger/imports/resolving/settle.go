package resolving

import (
	"github.com/coffer-budget/coffer/services/ledger/imports/formats/written"
	"github.com/coffer-budget/coffer/services/ledger/imports/staging"
)

// settle changes the status of a row that the bank has not booked. A void row is skipped, whatever
// its action. A pending row waits unless it has an action, also if it cannot be read.
func settle(r *staging.Row) {
	switch {
	case r.FileStatus == written.Void:
		r.Status, r.Problem, r.BookedCurrency = staging.Skipped, r.FileProblem, r.Currency
	case r.FileStatus != written.Pending || r.Action != "":
	case r.Status == staging.Ready:
		r.Status, r.Problem = staging.Pending, "the bank has not booked the payment yet"
		if r.DateAssumed {
			r.Problem += "; its day is missing, and that of the upload is assumed"
		}
	case r.FileProblem != "":
		r.Status = staging.Pending
	}
}
