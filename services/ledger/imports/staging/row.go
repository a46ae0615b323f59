package staging

import (
	"cmp"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/coffer-budget/coffer/internal/money"
	"github.com/coffer-budget/coffer/internal/text"
	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
	"github.com/coffer-budget/coffer/services/ledger/imports/formats/statement"
	"github.com/coffer-budget/coffer/services/ledger/imports/formats/written"
)

// The values of a row's status.
const (
	Hidden    = "hidden"
	Ready     = "ready"
	Duplicate = "duplicate"
	Matched   = "matched"
	// Pending means that the bank has not booked the payment. Only the action book books the row.
	Pending = "pending"
	Invalid = "invalid"
	Skipped = "skipped"
	Booked  = "booked"
)

// Row is a row of import_rows. Its fields have three origins: the file, the user, and package
// resolving, which derives the third from the other two and may run any number of times.
type Row struct {
	// N is the number of the record in the file, from 1, and Line its first line, or 0.
	N, Line int32
	Status  string
	// Cells holds the cells of a format with a mapping. They are deleted when the row is booked.
	Cells []string

	// The following fields are the contents of the file. Amount is a signed decimal as in
	// statement.Record.
	Date                      *time.Time
	Amount, Currency          string
	Payee, Description, Notes string
	Tags                      []string
	ExternalID                string `db:"external_id"`
	Account, Category         string
	Splits                    []statement.Split
	Transfer                  *statement.Transfer
	Opening                   bool
	Adjustment                bool
	Uncleared                 bool
	FileProblem               string `db:"file_problem"`
	// FileStatus is the status of the record in the file, or empty for a booked payment.
	FileStatus string `db:"file_status"`
	// DateAssumed is set if the file has no day of the pending payment. Date is that of the upload.
	DateAssumed bool `db:"date_assumed"`

	// The following fields are the choices of the user. A nil choice leaves the value to the file,
	// to rules or to the history. With the action match, the user has also chosen DuplicateOf.
	Action            string
	ChosenCategoryID  *uuid.UUID `db:"chosen_category_id"`
	ChosenDescription *string    `db:"chosen_description"`
	ChosenPayee       *string    `db:"chosen_payee"`
	ChosenWalletID    *uuid.UUID `db:"chosen_wallet_id"`

	// The following fields are the consequences for the transaction. Problem is the reason of an
	// invalid or skipped row.
	Problem        string
	WalletID       *uuid.UUID `db:"wallet_id"`
	BookedCurrency string     `db:"booked_currency"`
	AmountMinor    *int64     `db:"amount_minor"`
	// CategoryID is nil in a row that becomes a transfer. If the commit has matched the row with
	// the other leg, it is the former category of that leg, which the API does not show.
	CategoryID       *uuid.UUID `db:"category_id"`
	CategoryFrom     string     `db:"category_from"`
	TransferWalletID *uuid.UUID `db:"transfer_wallet_id"`
	// PairN is the row of the same file that is the other side of the transfer.
	PairN *int32 `db:"pair_n"`
	// DuplicateOf is the existing transaction of a duplicate or matched row, and a possible one of
	// a ready row. TransactionID is the transaction that the commit created for the row, or linked
	// to it; a row that has one is finished.
	DuplicateOf   *uuid.UUID `db:"duplicate_of"`
	TransactionID *uuid.UUID `db:"transaction_id"`
	// FilledPayee and FilledNotes are the texts that the commit gave to the matched transaction, or
	// nil if it has its own.
	FilledPayee *string `db:"filled_payee"`
	FilledNotes *string `db:"filled_notes"`
	// FilledCleared is set if the commit has cleared the matched transaction.
	FilledCleared bool `db:"filled_cleared"`
	// Replaced is set if the matched transaction is pending: the commit gives it the amount, the
	// day and the external id of the row. It holds the former ones.
	Replaced *Replaced
	// Ruled is nil if no rule matches the row.
	Ruled *Ruled
}

// The values of a row's category_from. Users see where a category comes from, so that they can
// judge it.
const (
	FromUser = "user"
	FromFile = "file"
	// FromRule precedes the id of the rule.
	FromRule    = "rule:"
	FromHistory = "history"
	FromDefault = "default"
)

// The values of a row's action. With the empty action, package duplicates decides whether the row
// is booked.
const (
	ActionBook  = "book"
	ActionSkip  = "skip"
	ActionMatch = "match"
)

const maxTags = 20

// Replaced holds what the transaction of a pending payment had before the booked one replaced it.
type Replaced struct {
	AmountMinor int64     `json:"amountMinor"`
	Date        time.Time `json:"date"`
	ExternalID  string    `json:"externalId"`
}

// Ruled is what rules change in a row, besides its category and its transfer.
type Ruled struct {
	Payee       *string     `json:"payee,omitempty"`
	Description *string     `json:"description,omitempty"`
	Notes       *string     `json:"notes,omitempty"`
	Tags        []string    `json:"tags,omitempty"`
	Rules       []uuid.UUID `json:"rules"`
}

// Set copies the contents of a record. A row whose record is no transaction is hidden. A pending
// payment without a day gets the day of the upload.
func (r *Row) Set(record statement.Record, uploaded time.Time) {
	r.N, r.Line, r.Cells = int32(record.N), int32(record.Line), record.Cells
	r.Date = nil
	r.DateAssumed = record.Date.IsZero() && record.Status == written.Pending && record.Problem == ""
	switch {
	case r.DateAssumed:
		r.Date = new(uploaded.UTC().Truncate(24 * time.Hour))
	case !record.Date.IsZero():
		r.Date = &record.Date
	}
	r.Amount = record.Amount
	r.Currency = record.Currency
	r.Payee = record.Payee
	r.Description = record.Description
	r.Notes = record.Notes
	r.Tags = record.Tags
	r.ExternalID = record.ExternalID
	r.Account = record.Account
	r.Category = record.Category
	r.Splits = record.Splits
	if r.Transfer = record.Transfer; r.Transfer != nil {
		r.Splits = nil // A transfer has no parts.
	}
	r.Opening = record.Opening
	r.Adjustment, r.Uncleared = record.Adjustment, record.Uncleared
	r.FileProblem = record.Problem
	r.FileStatus = record.Status
	r.Status = Ready
	if record.Skip {
		r.Status = Hidden
	}
}

// Adjusts reports whether the row becomes an adjustment. With a category or a wallet that the user
// has chosen, it becomes another transaction.
func (r *Row) Adjusts() bool {
	return r.Adjustment && r.ChosenCategoryID == nil && r.ChosenWalletID == nil
}

// Clears reports whether the row states that the bank has booked the payment.
func (r *Row) Clears() bool { return r.FileStatus != written.Pending && !r.Uncleared }

// BookedPayee returns the text that the user chose, the one of a rule, or the one in the file.
func (r *Row) BookedPayee() string { return *cmp.Or(r.ChosenPayee, r.RuledTexts().Payee, &r.Payee) }

// BookedDescription returns the text that the user chose, the one of a rule, or the one in the
// file.
func (r *Row) BookedDescription() string {
	return *cmp.Or(r.ChosenDescription, r.RuledTexts().Description, &r.Description)
}

// BookedNotes returns the text of a rule, or the one in the file.
func (r *Row) BookedNotes() string { return *cmp.Or(r.RuledTexts().Notes, &r.Notes) }

// BookedTags returns the names in the file and those of rules.
func (r *Row) BookedTags() []string {
	return tagNames(append(append([]string{}, r.Tags...), r.RuledTexts().Tags...))
}

// RuledTexts returns the changes of rules. Without rules it is the zero value.
func (r *Row) RuledTexts() Ruled {
	if r.Ruled == nil {
		return Ruled{}
	}
	return *r.Ruled
}

// Proto returns r as the API shows it.
func (r *Row) Proto() *ledgerv1.ImportRow {
	message := &ledgerv1.ImportRow{
		N: r.N, Line: r.Line, Status: r.Status, Date: Day(r.Date), Currency: r.BookedCurrency,
		Payee: r.BookedPayee(), Description: r.BookedDescription(), Notes: r.BookedNotes(),
		Tags: r.BookedTags(), ExternalId: r.ExternalID, Account: r.Account,
		CategoryFrom: r.CategoryFrom, Category: r.Category, Problem: r.Problem, Cells: r.Cells,
		Pending: r.FileStatus == written.Pending, DateAssumed: r.DateAssumed,
		Adjustment: r.Adjusts(),
	}
	switch {
	case r.AmountMinor != nil:
		message.Amount = new(money.CurrencyOf(r.BookedCurrency).Format(*r.AmountMinor))
	case r.Amount != "" && (r.FileProblem == "" || r.FileStatus == written.Void):
		message.Amount = &r.Amount
	}
	if r.CategoryID != nil && r.TransferWalletID == nil {
		message.CategoryId = r.CategoryID.String()
	}
	for _, s := range r.Splits {
		message.Splits = append(message.Splits, &ledgerv1.ImportSplit{
			Amount: s.Amount, Category: s.Category, Description: s.Description,
		})
	}
	if r.TransferWalletID != nil {
		message.TransferWalletId = r.TransferWalletID.String()
	}
	switch {
	case r.DuplicateOf == nil:
	case r.Status == Ready:
		message.PossibleDuplicateOf = r.DuplicateOf.String()
	default:
		message.DuplicateOf = r.DuplicateOf.String()
	}
	if r.Replaced != nil {
		currency := money.CurrencyOf(r.BookedCurrency)
		message.FormerAmount = new(currency.Format(r.Replaced.AmountMinor))
	}
	if r.TransactionID != nil {
		message.TransactionId = r.TransactionID.String()
	}
	return message
}

// Bytes returns the approximate size of r in a response.
func (r Row) Bytes() int {
	size := 1000 + len(r.BookedPayee()) + len(r.BookedDescription()) + len(r.BookedNotes()) +
		len(r.Account) + len(r.Category)
	for _, cell := range r.Cells {
		size += len(cell) + 4
	}
	for _, tag := range r.BookedTags() {
		size += len(tag)
	}
	for _, s := range r.Splits {
		size += 50 + len(s.Category) + len(s.Description)
	}
	return size
}

// RowProtos returns rows as the API shows them.
func RowProtos(rows []Row) []*ledgerv1.ImportRow {
	out := make([]*ledgerv1.ImportRow, len(rows))
	for i := range rows {
		out[i] = rows[i].Proto()
	}
	return out
}

// tagNames returns the names in a file that tags may have, each once, up to maxTags. It drops the
// others, because an unusual tag must not prevent the import of a payment.
func tagNames(names []string) []string {
	var valid []string
	for _, name := range names {
		name, problem := text.Tag("", name)
		if problem == nil && len(valid) < maxTags && !slices.Contains(valid, name) {
			valid = append(valid, name)
		}
	}
	return valid
}
