package staging

import (
	"encoding/json"

	"github.com/google/uuid"
)

// Change is an update of an import whose rows a job derives. The details have changed already. The
// rows follow in chunks, so some of them have values of before. After an update that could neither
// be finished nor taken back, a Change with Mapped alone stays until the rows are derived.
type Change struct {
	// Status is the status to which the import returns, and Problem its problem there.
	Status  string `json:"status"`
	Problem string `json:"problem"`
	// Before holds the details before the update. If it is canceled or fails, the import gets them
	// back, and all rows are derived again.
	Before json.RawMessage `json:"before"`
	// Mapped is set if the cells must be read again, because the mappings differ.
	Mapped bool `json:"mapped"`
	// Restoring is set while the rows are derived with Before.
	Restoring bool `json:"restoring"`
}

// Begin starts an update of e, whose details have changed from before. id identifies the
// derivation, and last is the number of the last row. The caller writes e.
func (e *Import) Begin(before json.RawMessage, mapped bool, id uuid.UUID, last int32) {
	e.Change = &Change{Status: e.Status, Before: before, Mapped: mapped}
	if e.Status == Failed {
		e.Change.Problem = e.Problem
	}
	e.Status, e.Problem = Updating, ""
	e.derive(id)
	e.JobDone, e.JobTotal = 0, int64(last)
}

// Restore makes an update return to the details before it, and gives the import a problem. The
// caller writes e and ends the lease of the job, because the derivation starts again.
func (e *Import) Restore(problem string, id uuid.UUID) {
	e.Details = e.Change.Before
	e.Change.Problem, e.Change.Restoring = problem, true
	e.derive(id)
	e.JobDone = 0
}

// Settle ends an update. problem replaces the one of the change if it is not empty. The caller
// writes e.
func (e *Import) Settle(problem string) {
	e.Status, e.Problem = e.Change.Status, e.Change.Problem
	if problem != "" {
		e.Problem = problem
	}
	e.Change, e.Derivation, e.Derived = nil, nil, 0
}

// Abandon ends an update whose return to the details before it has failed. The rows are not derived
// with them. The caller writes e.
func (e *Import) Abandon(problem string, id uuid.UUID) {
	mapped := e.Mapped()
	e.Settle(problem)
	if mapped {
		e.Change = &Change{Mapped: true}
	}
	e.Underived = true
	e.derive(id)
}

// Restoring reports whether an update of e is being taken back. The details are those before it.
func (e Import) Restoring() bool {
	return e.Status == Updating && e.Change != nil && e.Change.Restoring
}

// Mapped reports whether a derivation of the rows must read their cells again. Then no row is
// finished, so all have their cells.
func (e Import) Mapped() bool { return e.Change != nil && e.Change.Mapped }

func (e *Import) derive(id uuid.UUID) { e.Derivation, e.Derived = &id, 0 }
