// Package statement defines the common form of the files that can be imported: statements of banks,
// and exports of applications.
//
// A Record is a transaction of a file, and Facts are the properties that only the end of the file
// decides. An amount is canonical decimal text: "-12.30", never a float. Record.Minor converts it
// to minor units. A record that cannot be read has a Problem. A record with Skip set is not a
// transaction, such as a heading or a total. It is only reported for files with a mapping, because
// another mapping may need its cells.
//
// All functions are pure. A parser reads an Input and holds one record and the accounts of the
// file. IDs holds 24 bytes per record.
//
//   - statement.go: the types, the names of the formats, the warnings and the limits. Start reading
//     here
//   - input.go: Input, which a parser reads, and to which it adds accounts and warnings
//   - evidence.go: the evidence of warnings
//   - text.go: texts of limited length. ids.go: the external ids of the records of one import
package statement

import (
	"fmt"
	"time"

	"github.com/coffer-budget/coffer/internal/money"
)

// The formats of files.
const (
	CSV     = "csv"
	OFX     = "ofx"
	QIF     = "qif"
	CAMT    = "camt"
	MT940   = "mt940"
	Firefly = "firefly"
	YNAB    = "ynab"
	Coffer  = "coffer"
	XLSX    = "xlsx"
)

// The warnings in Facts.Warnings. They name a guess that the user should check, or contents that
// the import leaves out.
const (
	// CurrencyAssumed means that at least one record has no currency in the file.
	CurrencyAssumed = "CURRENCY_ASSUMED"
	// DateOrderAssumed means that no date shows whether the day or the month is first, or that no
	// heading shows which column has the days of the payments.
	DateOrderAssumed = "DATE_ORDER_ASSUMED"
	// DateOrderInferred means that no date shows whether the day or the month is first, but that
	// other evidence in the file does.
	DateOrderInferred = "DATE_ORDER_INFERRED"
	// DecimalsAssumed means that no amount shows which character is the decimal mark.
	DecimalsAssumed = "DECIMALS_ASSUMED"
	// SignAssumed means that nothing shows which amounts are money out.
	SignAssumed = "SIGN_ASSUMED"
	// AmountAssumed means that several columns have amounts or fees, and nothing shows which of
	// them changes the balance.
	AmountAssumed = "AMOUNT_ASSUMED"
	// StatusAssumed means that a column seems to have statuses, but most of them are not known. All
	// payments count as booked.
	StatusAssumed = "STATUS_ASSUMED"
	// BalanceMismatch means that the records do not add up to the balances in the file, or that a
	// record seems to be a balance.
	BalanceMismatch = "BALANCE_MISMATCH"
	// ColumnsUnread means that a saved mapping does not read columns that a new one would read.
	ColumnsUnread = "COLUMNS_UNREAD"
	// WalletAssumed means that rows without an account are assigned to the wallet of the last file
	// with the same heading.
	WalletAssumed = "WALLET_ASSUMED"
	// EncodingAssumed means that the file is not UTF-8 and names no encoding.
	EncodingAssumed = "ENCODING_ASSUMED"
	// TruncatedDescription means that a description was longer than Coffer accepts.
	TruncatedDescription = "TRUNCATED_DESCRIPTION"
	// InvestmentsSkipped means that the file also has transactions of securities.
	InvestmentsSkipped = "INVESTMENTS_SKIPPED"
	// SheetsSkipped means that other sheets of the workbook have cells, too. Only one is read.
	SheetsSkipped = "SHEETS_SKIPPED"
	// BudgetsSkipped means that the file also has budgets or bills.
	BudgetsSkipped = "BUDGETS_SKIPPED"
	// SplitsDivided means that parts of a split are transfers. A split in Coffer has no such parts,
	// so each transfer is a record of its own, and the other parts are another one.
	SplitsDivided = "SPLITS_DIVIDED"
	// TransfersUnpaired means that the file has one record of a transfer although it has records of
	// both accounts. Package resolving decides whether the transfer is created from that record.
	TransfersUnpaired = "TRANSFERS_UNPAIRED"
	// TransfersAssumed means that two records of different days were taken for one transfer.
	TransfersAssumed = "TRANSFERS_ASSUMED"
)

// Blocking maps the warnings that block a commit to what the user must do first. A commit with
// force ignores them. They are the guesses and contradictions that change amounts, days or totals.
// The other warnings do not block: texts do not change a balance, a wallet that was used before and
// its currency are choices of the user, and the file states the parts of its splits.
var Blocking = map[string]string{
	SignAssumed:      "the sign of the amounts was assumed: confirm or invert the mapping",
	AmountAssumed:    "the column of the amounts was assumed: confirm or change the mapping",
	StatusAssumed:    "all payments were assumed to be booked: confirm or change the mapping",
	DateOrderAssumed: "the order of day and month was assumed: confirm or change the mapping",
	DecimalsAssumed:  "the decimal mark was assumed: confirm or change the mapping",
	BalanceMismatch: "the rows do not add up to the balances in the file: confirm them or change " +
		"the mapping",
	TransfersAssumed: "rows of different days were assumed to be transfers: confirm them or " +
		"change the rows",
	TransfersUnpaired: "it was assumed whether transfers with one row change the other account: " +
		"confirm it or change the rows",
}

// Kept are the blocking warnings that stay after their confirmation, because the mapping does not
// decide about them.
var Kept = []string{BalanceMismatch, TransfersAssumed, TransfersUnpaired}

// Confirmed are the warnings about guesses of a mapping. A change of the mapping confirms them, and
// so does a saved mapping.
var Confirmed = []string{
	SignAssumed, AmountAssumed, StatusAssumed, ColumnsUnread, DateOrderAssumed, DateOrderInferred,
	DecimalsAssumed,
}

// Assumption is the evidence of a warning: a guess that the file does not prove, or a
// contradiction in the file.
type Assumption struct {
	Code     string // One of the warnings.
	Evidence Evidence
	// Rows holds the numbers of up to three records that show it, or of the records of up to three
	// pairs.
	Rows []int
}

// MaxRows is the maximum number of transactions of a file. A file with more is rejected: a file
// that was cut silently would import wrong balances. MaxRecords is the maximum number of records,
// which may also be headings or totals: only the mapping shows which they are.
const (
	MaxRows    = 200_000
	MaxRecords = MaxRows + 1000
)

// Limits of a record's texts, in characters. Longer texts are cut, because a text does not change a
// balance. They are the limits of transactions.
const (
	MaxText  = 1000
	MaxNotes = 4000
	MaxPayee = 200
	MaxName  = 100
	MaxTags  = 20
)

// MaxParts is the maximum number of parts of a split.
const MaxParts = 50

// Options holds the caller's knowledge about a file. All fields are optional.
type Options struct {
	Format string // Accept only this format.
	Locale string // BCP 47. Decides the order of day and month if the file does not.
	// Today is the day of the upload. Few dates of a file are later.
	Today     time.Time
	FileName  string // Its dates may show the year of dates without one.
	Encoding  string // IANA name. Replaces the detection.
	Delimiter string // Of CSV. Replaces the detection.
}

// Record is a transaction of a file, or the cells of one.
type Record struct {
	N     int      // From 1.
	Line  int      // First line in the file, or 0.
	Cells []string // Only in formats with a mapping.

	// Date is 00:00:00 UTC of the civil date. Only Coffer's own export has times of day.
	Date        time.Time
	Amount      string // Signed; negative is money out.
	Balance     string // Of the account after or before the record, or "". Only of CSV.
	Currency    string // ISO 4217, or "" if the file does not say.
	Payee       string
	Description string
	Notes       string
	Tags        []string
	// ExternalID is the id in the source, such as "ofx:123". IDs.Assign replaces repeated and
	// missing ids.
	ExternalID string
	Account    string // Key of one of Facts.Accounts, or "".
	Category   string // Name in the file, or "".
	Splits     []Split
	Transfer   *Transfer
	// Status is "", written.Pending or written.Void. An empty status means a booked payment. The
	// Problem of a void record says why no money has moved.
	Status  string
	Opening bool // The opening balance of the account instead of a transaction.

	// Only Coffer's own export has these.
	Adjustment bool // The record sets a balance, and has no category.
	Uncleared  bool // The bank has not booked the transaction.

	Skip    bool   // Not a transaction.
	Problem string // Why the record cannot be read.
}

// Split is a part of a record. The parts add up to the record's amount.
type Split struct {
	Amount      string // Signed like the record's.
	Category    string
	Description string
	Account     string // The other account if the part is a transfer, only while a file is read.
}

// Transfer is the other side of a record that moves money between two accounts of the user.
type Transfer struct {
	Account  string // Key of the other account.
	Amount   string // Signed amount of the other side if its currency differs, or "".
	Currency string
	Paired   bool // The file may have a separate record for the other side.
	// ID is equal in both records of a pair, or "". Without it, the account, the date and the
	// amount identify the other record.
	ID string
}

// Account is an account named in a file.
type Account struct {
	Key         string
	Name        string
	Last4       string
	Currency    string
	Opening     string // Balances are signed decimals, or "".
	OpeningDate time.Time
	Closing     string
	ClosingDate time.Time
	Count       int

	// Only Coffer's own export has these.
	Color, Icon string
	Archived    bool
	Position    *int32
	Kind        string
}

// Category is a category that a file describes. Only Coffer's own export has them.
type Category struct {
	Name, Color, Icon, Kind string
}

// Reconciliation is a reconciliation of an account. Only Coffer's own export has them.
type Reconciliation struct {
	Account  string // Key of one of Facts.Accounts.
	Currency string
	Date     time.Time
	// BalanceMinor is the balance of the statement, in minor units.
	BalanceMinor int64
	// Locked is the number of transactions that it has locked, of which some may be unlocked since.
	Locked  int32
	Differs bool
	Rows    []int32 // Numbers of the records that it locks.
}

// Facts holds the properties of a file that are only known after its last record.
type Facts struct {
	Format     string
	Accounts   []Account // None in formats with a mapping, whose records name their accounts.
	Categories []Category
	// Reconciliations are in the order of their creation.
	Reconciliations []Reconciliation
	Warnings        []string // Sorted, each once.
	// Assumptions has at most one entry for each of the warnings.
	Assumptions []Assumption
}

// Minor returns the amount in minor units of the currency, or of fallback if the record has no
// currency. It never rounds: an amount with more decimals than the currency is an error.
func (r *Record) Minor(fallback money.Currency) (int64, money.Currency, error) {
	currency := fallback
	if r.Currency != "" {
		var ok bool
		if currency, ok = money.ParseCurrency(r.Currency); !ok {
			return 0, currency, fmt.Errorf("the currency %q is not supported", r.Currency)
		}
	}
	n, err := currency.Parse(r.Amount)
	return n, currency, err
}
