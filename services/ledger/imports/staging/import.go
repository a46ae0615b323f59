// Package staging stores imports and their staged rows: the file's contents, the choices of the
// user and the consequences for the transaction, in separate columns. It decides nothing. The
// upload, the derivation of rows and the jobs all read and write through it.
//
//   - import.go: an import with its details, its status and the counts of its rows. row.go: a row
//   - mapping.go: conversion of mappings between requests and package formats. assumptions.go: the
//     warnings of an import and their evidence
//   - change.go: an update that a job applies
//   - store_imports.go and store_rows.go: the statements on both tables. store_ends.go: the undo,
//     the deletion and the expiry of imports. store_profiles.go and store_accounts.go: the mappings
//     and wallets that later imports reuse. store_creations.go and store_reconciliations.go: the
//     wallets, categories and reconciliations that a commit creates
package staging

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"
	"google.golang.org/protobuf/encoding/protojson"

	"github.com/coffer-budget/coffer/internal/calendar"
	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
	restv1 "github.com/coffer-budget/coffer/proto/gen/coffer/rest/v1"
)

// The values of an import's status:
//
//	Uploading -> Preview -> Queued -> Running -> Done -> Undoing -> Undone
//
// A commit that cannot continue, or that the user cancels, ends as Failed; another commit continues
// it, or an undo removes what it has booked. A change of a large import in Preview or Failed makes
// it Updating until a job has derived its rows (see Change). Each status without a job can change
// to Deleting. Uploading and Deleting are invisible to users.
const (
	// Uploading means that the file still arrives.
	Uploading = "uploading"
	// Preview means that the user can change rows. No balance has changed.
	Preview = "preview"
	// Updating means that a job derives the rows again after a change. Users cannot change the
	// import, except while a canceled change is taken back.
	Updating = "updating"
	// Queued means that a commit waits for a replica, and Running that a replica has begun it.
	Queued  = "queued"
	Running = "running"
	// Done means that all rows have their outcome.
	Done   = "done"
	Failed = "failed"
	// Undoing means that an undo is queued or running.
	Undoing = "undoing"
	Undone  = "undone"
	// Deleting means that a job deletes the import with its rows. Its transactions stay.
	Deleting = "deleting"
)

// Import is a row of imports. The file itself is not stored: its contents are in the staged rows.
type Import struct {
	OwnerID  uuid.UUID `db:"owner_id"`
	ID       uuid.UUID
	Status   string
	FileName string `db:"file_name"`
	// Size and SHA256 describe the file as it was sent. The hash finds an earlier import of the
	// same file.
	Size   int64
	SHA256 []byte `db:"sha256"`
	// Format is a format of package formats.
	Format string
	// Details is a coffer.ledger.v1.Import in JSON with the mapping, the accounts, the categories,
	// the defaults, the warnings and the assumptions.
	Details json.RawMessage
	// Stale holds the ids in the details whose wallet or category does not exist any more: the
	// target of a merged category, or an empty text.
	Stale map[string]string
	Counts
	// FirstDate and LastDate are the first and last day of the rows, or nil without a row that has
	// a date.
	FirstDate *time.Time `db:"first_date"`
	LastDate  *time.Time `db:"last_date"`
	// JobDone and JobTotal are the finished and all rows of the current or last job.
	JobDone  int64 `db:"job_done"`
	JobTotal int64 `db:"job_total"`
	// Problem is the code of the error that ended the last job, or empty.
	Problem string
	// UndoForce is set if the undo also deletes transactions that were changed since.
	UndoForce bool `db:"undo_force"`
	// Underived is set if the rows have not been derived with the details: a commit has created
	// wallets or categories, or an update could neither be finished nor taken back. The next commit
	// or update derives them.
	Underived bool
	// Change is nil unless the import is Updating, or its cells must be read again.
	Change *Change
	// Derivation identifies the derivation of the rows by a job. It is nil without one. Derived is
	// the number of the last row that the job has derived.
	Derivation *uuid.UUID
	Derived    int32
	// Amended is the number of steps after the last row that the derivation AmendedBy has done. It
	// counts only if that is Derivation: the previous release begins other ones without it.
	Amended   int32
	AmendedBy *uuid.UUID `db:"amended_by"`
	// Version increases with each update of the row: a trigger sets it. The ETag contains it.
	Version   int64
	CreatedAt time.Time `db:"created_at"`
	UpdatedAt time.Time `db:"updated_at"`
}

// Counts holds the numbers of rows by status. Hidden rows are not counted.
type Counts struct{ Ready, Duplicate, Matched, Pending, Invalid, Skipped, Booked, Undone int32 }

// Total returns the number of rows.
func (c Counts) Total() int32 {
	return c.Ready + c.Duplicate + c.Matched + c.Pending + c.Invalid + c.Skipped + c.Booked +
		c.Undone
}

// ReadDetails returns the details of an import. A merged category is the target of its merge, and a
// deleted wallet or category is absent.
func (e Import) ReadDetails() (*ledgerv1.Import, error) {
	details := &ledgerv1.Import{}
	// A replica of the next release may have added fields.
	known := protojson.UnmarshalOptions{DiscardUnknown: true}
	if err := known.Unmarshal(e.Details, details); err != nil {
		return nil, fmt.Errorf("decoding the details of import %s: %w", e.ID, err)
	}
	details.Format = e.Format
	if details.Defaults == nil {
		details.Defaults = &ledgerv1.ImportDefaults{}
	}
	e.follow(details)
	return details, nil
}

// follow replaces the ids of wallets and categories that were merged or deleted since the details
// were stored.
func (e Import) follow(details *ledgerv1.Import) {
	replace := func(id *string) (replaced bool) {
		target, ok := e.Stale[*id]
		if ok {
			*id = target
		}
		return ok
	}
	for _, a := range details.GetAccounts() {
		replace(&a.WalletId)
	}
	for _, c := range details.GetCategories() {
		if replace(&c.CategoryId) && c.GetCategoryId() != "" {
			// The target of the merge is a category of the user.
			c.Create = false
		}
	}
	d := details.GetDefaults()
	for _, id := range []*string{&d.WalletId, &d.ExpenseCategoryId, &d.IncomeCategoryId} {
		replace(id)
	}
}

// SetDetails stores the details.
func (e *Import) SetDetails(details *ledgerv1.Import) error {
	encoded, err := protojson.Marshal(&ledgerv1.Import{
		Mapping: details.GetMapping(), Accounts: details.GetAccounts(),
		Categories: details.GetCategories(), Defaults: details.GetDefaults(),
		Warnings: details.GetWarnings(), Heading: details.GetHeading(),
		Assumptions: details.GetAssumptions(),
	})
	if err != nil {
		return fmt.Errorf("encoding the details of import %s: %w", e.ID, err)
	}
	e.Details = encoded
	return nil
}

// Bytes returns the approximate size of e in a response.
func (e Import) Bytes() int { return 1000 + len(e.Details) }

// Working reports whether a job of the import is queued or running.
func (e Import) Working() bool {
	return e.Status == Updating || e.Status == Queued || e.Status == Running || e.Status == Undoing
}

// Proto returns e as the API shows it.
func (e Import) Proto() (*ledgerv1.Import, error) {
	message, err := e.ReadDetails()
	if err != nil {
		return nil, err
	}
	blocks := Blocks(message)
	for _, a := range message.GetAssumptions() {
		a.Blocks = slices.Contains(blocks, a.GetCode())
	}
	message.Id = e.ID.String()
	message.FileName = e.FileName
	message.Size = e.Size
	message.Sha256 = hex.EncodeToString(e.SHA256)
	message.Status = e.Status
	message.Counts = &ledgerv1.ImportCounts{
		Total: e.Total(), Ready: e.Ready, Duplicate: e.Duplicate, Matched: e.Matched,
		Pending: e.Pending, Invalid: e.Invalid, Skipped: e.Skipped, Booked: e.Booked,
		Undone: e.Undone,
	}
	if e.Status != Preview || e.Problem != "" {
		message.Progress = &restv1.Job{
			Status: e.Status, Done: e.JobDone, Total: e.JobTotal, Problem: e.Problem,
		}
	}
	if e.Restoring() {
		message.Progress.Problem = e.Change.Problem
	}
	message.FirstDate, message.LastDate = Day(e.FirstDate), Day(e.LastDate)
	message.CreatedAt = calendar.FormatTime(e.CreatedAt)
	message.UpdatedAt = calendar.FormatTime(e.UpdatedAt)
	return message, nil
}

// Tally counts rows by status.
func Tally(rows []Row) Counts {
	var counts Counts
	for _, r := range rows {
		switch r.Status {
		case Ready:
			counts.Ready++
		case Duplicate:
			counts.Duplicate++
		case Matched:
			counts.Matched++
		case Pending:
			counts.Pending++
		case Invalid:
			counts.Invalid++
		case Skipped:
			counts.Skipped++
		case Booked:
			counts.Booked++
		}
	}
	return counts
}

// Plus returns the sum of two counts.
func (c Counts) Plus(o Counts) Counts { return c.Minus(Counts{}.Minus(o)) }

// Minus returns the difference of two counts.
func (c Counts) Minus(o Counts) Counts {
	return Counts{
		Ready: c.Ready - o.Ready, Duplicate: c.Duplicate - o.Duplicate,
		Matched: c.Matched - o.Matched, Pending: c.Pending - o.Pending,
		Invalid: c.Invalid - o.Invalid,
		Skipped: c.Skipped - o.Skipped, Booked: c.Booked - o.Booked, Undone: c.Undone - o.Undone,
	}
}

// ParseID returns the id in a text that Coffer wrote, or nil for an empty text.
func ParseID(s string) *uuid.UUID {
	id, err := uuid.Parse(s)
	if err != nil {
		return nil
	}
	return &id
}

// Day returns the text of a civil date, or an empty text for nil.
func Day(t *time.Time) string {
	if t == nil {
		return ""
	}
	return t.UTC().Format(calendar.DateLayout)
}
