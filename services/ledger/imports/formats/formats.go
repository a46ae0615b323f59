// Package formats reads the files of banks and other finance applications into records.
//
// Open recognizes the compression, the encoding and the format of a file. File.Records then yields its records in file
// order, and File.Facts returns what only the end of the file decides: accounts, balances, warnings and the mapping.
//
//	file, err := formats.Open(r, formats.Options{Locale: "de-DE"})
//	for record, err := range file.Records() { ... stage the record ... }
//	facts := file.Facts()
//
// There are two kinds of formats. OFX, CAMT, MT940, Firefly III and Coffer define what each value means, so their records are
// complete. CSV, QIF and YNAB do not: whether 03/04 is in March or April, and whether 1.234 has a decimal mark, needs all
// rows. Their records only have N, Line and Cells, and Facts.Mapping proposes how to read them. The importer stages the
// cells and then converts each of them with Mapping.Compile and Reader.Record, again after each change of the mapping.
//
// An amount is canonical decimal text: "-12.30", never a float. Record.Minor converts it to minor units. No value is ever
// taken from outside the file. A record that cannot be read has a Problem. A record with Skip set is not a transaction,
// such as a heading or a total; it is only reported for files with a mapping, because another mapping may need its cells.
//
// IDs assigns the external ids of all records of one import, in file order. Similarity compares texts for duplicates.
//
// All functions are pure. A parser holds one record and the accounts of the file, and IDs 24 bytes per record. Every input
// has limits (MaxRows, and those of package scan), so that the cost of a file is linear in its bytes (ADR 80). The files:
//
//   - formats.go: the types. Start reading here and at Open in open.go, which recognizes the format
//   - package scan: gzip and zip, the conversion to UTF-8, and the lines, rows and tags of limited length
//   - ofx.go, camt.go and camt_records.go, mt940.go and mt940_details.go, firefly.go, coffer.go and coffer_csv.go: the formats with
//     complete records
//   - csv.go, qif.go, ynab.go: the formats with a mapping. sniff_csv.go: the delimiter. mapping.go: Mapping and its Reader
//   - profile.go counts the kinds of cells per column. propose.go, propose_amount.go and chain.go propose a mapping from the counts
//   - package written: amounts, dates and words as written, in many languages, and exact sums. headings.go: what headings mean
//   - ids.go, similarity.go: external ids, and the comparison of texts
package formats

import (
	"errors"
	"fmt"
	"time"

	"github.com/coffer-budget/coffer/internal/money"
)

// The formats that Open recognizes.
const (
	CSV     = "csv"
	OFX     = "ofx"
	QIF     = "qif"
	CAMT    = "camt"
	MT940   = "mt940"
	Firefly = "firefly"
	YNAB    = "ynab"
	Coffer  = "coffer"
)

// The warnings in Facts.Warnings. They name a guess that the user should check, or contents that the import leaves out.
const (
	// CurrencyAssumed means that at least one record has no currency in the file.
	CurrencyAssumed = "CURRENCY_ASSUMED"
	// DateOrderAssumed means that no date shows whether the day or the month is first.
	DateOrderAssumed = "DATE_ORDER_ASSUMED"
	// DecimalsAssumed means that no amount shows which character is the decimal mark.
	DecimalsAssumed = "DECIMALS_ASSUMED"
	// BalanceMismatch means that the records do not add up to the balances in the file. A commit then requires force.
	BalanceMismatch = "BALANCE_MISMATCH"
	// EncodingAssumed means that the file is not UTF-8 and names no encoding.
	EncodingAssumed = "ENCODING_ASSUMED"
	// TruncatedDescription means that a description was longer than Coffer accepts.
	TruncatedDescription = "TRUNCATED_DESCRIPTION"
	// InvestmentsSkipped means that the file also has transactions of securities.
	InvestmentsSkipped = "INVESTMENTS_SKIPPED"
	// BudgetsSkipped means that the file also has budgets or bills.
	BudgetsSkipped = "BUDGETS_SKIPPED"
)

// Limits of a file. Open and File.Records return an error beyond them: a file that was cut silently would import wrong balances.
const (
	MaxRows  = 200_000
	MaxDepth = 64 // Nested XML elements.
)

// Limits of a record's texts, in characters. Longer texts are cut, because a text does not change a balance. They are the limits of
// transactions.
const (
	maxText  = 1000
	maxNotes = 4000
	maxPayee = 200
	maxName  = 100
	maxTags  = 20
)

// ErrTooManyRows is returned by File.Records, besides the errors of package scan and of the reader.
var ErrTooManyRows = errors.New("the file has more than 200000 rows")

// Options holds the caller's knowledge about a file. All fields are optional.
type Options struct {
	Format    string // Accept only this format.
	Locale    string // BCP 47. Decides the order of day and month if the file does not.
	Encoding  string // IANA name. Replaces the detection.
	Delimiter string // Of CSV. Replaces the detection.
}

// Record is a transaction of a file, or the cells of one.
type Record struct {
	N     int      // From 1.
	Line  int      // First line in the file, or 0.
	Cells []string // Only in formats with a mapping.

	Date        time.Time // 00:00:00 UTC of the civil date. Only Coffer's own export has times of day.
	Amount      string    // Signed; negative is money out.
	Currency    string    // ISO 4217, or "" if the file does not say.
	Payee       string
	Description string
	Notes       string
	Tags        []string
	ExternalID  string // Of the source, such as "ofx:123". IDs.Assign replaces repeated and missing ids.
	Account     string // Key of one of Facts.Accounts, or "".
	Category    string // Name in the file, or "".
	Splits      []Split
	Transfer    *Transfer
	Opening     bool   // The opening balance of the account instead of a transaction.
	Skip        bool   // Not a transaction.
	Problem     string // Why the record cannot be read.
}

// Split is a part of a record. The parts add up to the record's amount.
type Split struct {
	Amount      string // Signed like the record's.
	Category    string
	Description string
	Account     string // The other account if the part is a transfer.
}

// Transfer is the other side of a record that moves money between two accounts of the user.
type Transfer struct {
	Account  string // Key of the other account.
	Amount   string // Signed amount of the other side if its currency differs, or "".
	Currency string
	Paired   bool   // The file has a separate record for the other side.
	ID       string // Equal in both records of a pair, or "". Without it, account, date and amount identify the other one.
}

// Account is an account named in a file.
type Account struct {
	Key         string
	Name        string
	Last4       string
	Currency    string
	Opening     string // Balances are signed decimals, or "".
	Closing     string
	ClosingDate time.Time
	Count       int

	// Only Coffer's own export has these.
	Color, Icon string
	Archived    bool
	Position    *int32
}

// Category is a category that a file describes. Only Coffer's own export has them.
type Category struct {
	Name, Color, Icon, Kind string
}

// Facts holds the properties of a file that are only known after its last record.
type Facts struct {
	Format     string
	Accounts   []Account // In formats with a mapping: see Mapping.Compile.
	Categories []Category
	Warnings   []string // Sorted, each once.
	Mapping    *Mapping // The proposal for formats with a mapping, otherwise nil.
}

// Minor returns the amount in minor units of the currency, or of fallback if the record has no currency. It never rounds: an amount with
// more decimals than the currency is an error.
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
