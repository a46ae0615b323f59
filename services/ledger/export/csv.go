package export

import (
	"cmp"
	"encoding/csv"
	"fmt"
	"io"
	"strings"

	"github.com/google/uuid"

	"github.com/coffer-budget/coffer/internal/calendar"
	"github.com/coffer-budget/coffer/internal/money"
	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
	"github.com/coffer-budget/coffer/services/ledger/imports/formats/written"
)

// csvEncoder writes a table as RFC 4180 defines it, with a row per transaction, or per part of a
// split transaction. The rows of a split have the id of the transaction with a number, and the
// column split_of with the id alone. The format coffer of imports reads the table (package
// formats), so both must change together.
type csvEncoder struct {
	out  io.Writer
	rows *csv.Writer
	// bom is set if the request wants a byte order mark. Without it, Excel reads UTF-8 as the
	// encoding of the system.
	bom bool
	// wallets and categories hold the names by id. The names of wallets are unique.
	wallets, categories map[uuid.UUID]string
}

func newCSV(w io.Writer, req *ledgerv1.ExportTransactionsRequest) encoder {
	rows := csv.NewWriter(w)
	rows.UseCRLF = true
	return &csvEncoder{
		out: w, rows: rows, bom: req.GetBom(), wallets: map[uuid.UUID]string{},
		categories: map[uuid.UUID]string{},
	}
}

// columns is the heading. Imports recognize the file by these exact names (ADR 91).
var columns = []string{
	"id", "date", "type", "amount", "currency", "wallet", "category", "payee", "description",
	"notes", "tags", "transfer_id", "external_id", "split_of",
}

func (e *csvEncoder) begin(books books) error {
	taken := map[string]bool{}
	for _, w := range books.wallets {
		// Wallets with the same name remain distinct.
		name := w.Name
		for n := 2; taken[name]; n++ {
			name = fmt.Sprintf("%s (%d)", w.Name, n)
		}
		e.wallets[w.ID], taken[name] = name, true
	}
	for _, c := range books.categories {
		e.categories[c.ID] = c.Name
	}
	if e.bom {
		if _, err := io.WriteString(e.out, "\ufeff"); err != nil {
			return err
		}
	}
	return e.rows.Write(columns)
}

func (e *csvEncoder) add(entry entry) error {
	if len(entry.Splits) == 0 {
		return e.write(entry, part{
			id: entry.ID.String(), amount: entry.AmountMinor, category: entry.CategoryID,
			externalID: entry.ExternalID,
		})
	}
	for i, s := range entry.Splits {
		part := part{
			id: fmt.Sprintf("%s.%d", entry.ID, i+1), amount: s.AmountMinor, category: &s.CategoryID,
			description: s.Description, of: entry.ID.String(),
		}
		// An external id is unique in its wallet, so only one row has it.
		if i == 0 {
			part.externalID = entry.ExternalID
		}
		if err := e.write(entry, part); err != nil {
			return err
		}
	}
	return nil
}

func (e *csvEncoder) end() error {
	e.rows.Flush()
	return e.rows.Error()
}

type part struct {
	id string
	// amount is in minor units of the transaction's currency.
	amount int64
	// category is nil for the leg of a transfer.
	category   *uuid.UUID
	externalID *string
	// description replaces the transaction's, unless it is empty.
	description string
	// of is the id of the transaction that the part belongs to.
	of string
}

func (e *csvEncoder) write(entry entry, part part) error {
	shown := entry.Proto()
	category, external := "", ""
	if part.category != nil {
		category = e.categories[*part.category]
	}
	if part.externalID != nil {
		external = *part.externalID
	}
	return e.rows.Write([]string{
		part.id, calendar.FormatTime(entry.Date), shown.GetType(),
		money.CurrencyOf(entry.Currency).Format(part.amount), entry.Currency,
		written.Guard(e.wallets[entry.WalletID]), written.Guard(category),
		written.Guard(entry.Payee),
		written.Guard(cmp.Or(part.description, entry.Description)), written.Guard(entry.Notes),
		written.Guard(strings.Join(entry.TagNames, ",")), shown.GetTransferId(),
		written.Guard(external), part.of,
	})
}
