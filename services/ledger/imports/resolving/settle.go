package resolving

import (
	"github.com/coffer-budget/coffer/services/ledger/imports/formats/written"
	"github.com/coffer-budget/coffer/services/ledger/imports/staging"
)

// settle changes the status of a row that the bank has not booked. A void row is skipped, whatever
// its action. A pending row waits unless it has an action, also if it cannot be read.
func settle(row *staging.Row) {
	switch {
	case row.FileStatus == written.Void:
		row.Status, row.Problem, row.BookedCurrency = staging.Skipped, row.FileProblem, row.Currency
	case row.FileStatus != written.Pending || row.Action != "":
	case row.Status == staging.Ready:
		row.Status, row.Problem = staging.Pending, "the bank has not booked the payment yet"
		if row.DateAssumed {
			row.Problem += "; its day is missing, and that of the upload is assumed"
		}
	case row.FileProblem != "":
		row.Status = staging.Pending
	}
}
