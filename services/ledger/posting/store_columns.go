package posting

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/coffer-budget/coffer/internal/calendar"
	"github.com/coffer-budget/coffer/internal/idem"
	"github.com/coffer-budget/coffer/internal/outbox"
)

// column is one of the arrays that a statement joins into rows: its name, the SQL type of its
// elements, and the array of the given Rows.
type column[Rows any] struct {
	name, sqlType string
	array         func(Rows) any
}

// columns are the arrays of a statement. The place of a column is its place among the parameters,
// their names and their values.
type columns[Rows any] []column[Rows]

func (c columns[Rows]) names() string {
	names := make([]string, len(c))
	for i := range c {
		names[i] = c[i].name
	}
	return strings.Join(names, ", ")
}

func (c columns[Rows]) parameters(first int) string {
	parameters := make([]string, len(c))
	for i := range c {
		parameters[i] = fmt.Sprintf("$%d::%s[]", first+i, c[i].sqlType)
	}
	return strings.Join(parameters, ", ")
}

func (c columns[Rows]) values(args []any, rows Rows) []any {
	args = slices.Grow(args, len(c))
	for i := range c {
		args = append(args, c[i].array(rows))
	}
	return args
}

// columnOf returns the column with a value of each row of a list.
func columnOf[Rows, Row, Value any](
	name, sqlType string, list func(Rows) []Row, value func(*Row) Value,
) column[Rows] {
	return column[Rows]{name, sqlType, func(all Rows) any {
		rows := list(all)
		if len(rows) == 0 {
			return []Value(nil) // NULL, which needs no memory.
		}
		values := make([]Value, len(rows))
		for i := range rows {
			values[i] = value(&rows[i])
		}
		return values
	}}
}

// insertion holds what Insert inserts. events and records are parallel to transactions, or empty.
type insertion struct {
	transactions []Transaction
	events       outbox.Rows
	records      []idem.Record
	parts        []part
}

// part is a split of the transaction at place item, from 1.
type part struct {
	item     int64
	position int16
	Split
}

// field, recordField, partField and postingField return the column of a field.
func field[V any](name, sqlType string, value func(*Transaction) V) column[insertion] {
	transactions := func(in insertion) []Transaction { return in.transactions }
	return columnOf(name, sqlType, transactions, value)
}

func recordField(name string, value func(*idem.Record) []byte) column[insertion] {
	return columnOf(name, "bytea", func(in insertion) []idem.Record { return in.records }, value)
}

func partField[V any](name, sqlType string, value func(*part) V) column[insertion] {
	return columnOf(name, sqlType, func(in insertion) []part { return in.parts }, value)
}

func postingField[V any](name, sqlType string, value func(*posting) V) column[[]posting] {
	return columnOf(name, sqlType, func(all []posting) []posting { return all }, value)
}

// transactionColumns are the columns of table transactions that Insert takes from its rows.
var transactionColumns = columns[insertion]{
	field("id", "uuid", func(t *Transaction) uuid.UUID { return t.ID }),
	field("owner_id", "uuid", func(t *Transaction) uuid.UUID { return t.OwnerID }),
	field("wallet_id", "uuid", func(t *Transaction) uuid.UUID { return t.WalletID }),
	field("category_id", "uuid", func(t *Transaction) *uuid.UUID { return t.CategoryID }),
	field("receipt_id", "uuid", func(t *Transaction) *uuid.UUID { return t.ReceiptID }),
	field("currency", "text", func(t *Transaction) string { return t.Currency }),
	field("amount_minor", "bigint", func(t *Transaction) int64 { return t.AmountMinor }),
	field("amount_e4", "bigint", func(t *Transaction) int64 { return t.AmountE4() }),
	field("description", "text", func(t *Transaction) string { return t.Description }),
	field("date", "timestamptz", func(t *Transaction) time.Time { return t.Date }),
	field("payee", "text", func(t *Transaction) string { return t.Payee }),
	field("notes", "text", func(t *Transaction) string { return t.Notes }),
	field("transfer_id", "uuid", func(t *Transaction) *uuid.UUID { return t.TransferID }),
	field("external_id", "text", func(t *Transaction) *string { return t.ExternalID }),
	field("import_id", "uuid", func(t *Transaction) *uuid.UUID { return t.ImportID }),
	field("split_count", "smallint", func(t *Transaction) int16 { return int16(len(t.Splits)) }),
	field("adjustment", "boolean", func(t *Transaction) bool { return t.Adjustment }),
	field("cleared", "boolean", func(t *Transaction) bool { return t.Cleared }),
	field("created_at", "timestamptz", func(t *Transaction) time.Time { return t.CreatedAt }),
}

// otherColumns are the other columns of the rows. Tags contain no comma, so that the tags of a
// transaction fit into one text. A transaction without an idempotency key has a nil key hash, which
// becomes NULL; unnest fills the columns of missing events and records with NULL.
var otherColumns = columns[insertion]{
	field("month", "date", func(t *Transaction) time.Time { return calendar.MonthOf(t.Date) }),
	field("tags", "text", func(t *Transaction) string { return strings.Join(t.Tags, ",") }),
	{"event_id", "uuid", func(in insertion) any { return in.events.IDs }},
	{"subject", "text", func(in insertion) any { return in.events.Subjects }},
	{"data", "bytea", func(in insertion) any { return in.events.Data }},
	{"traceparent", "text", func(in insertion) any { return in.events.Traceparents }},
	recordField("key_hash", func(r *idem.Record) []byte { return r.KeyHash }),
	recordField("request_mac", func(r *idem.Record) []byte { return r.RequestMAC }),
	recordField("response", func(r *idem.Record) []byte { return r.Response }),
}

// changedColumns are the columns that Update reads.
var changedColumns = slices.Concat(transactionColumns, columns[insertion]{
	field("reconciliation_id", "uuid", func(t *Transaction) *uuid.UUID {
		return t.ReconciliationID
	}),
	field("tags", "text", func(t *Transaction) string { return strings.Join(t.Tags, ",") }),
	field("version", "bigint", func(t *Transaction) int64 { return t.Version }),
	field("updated_at", "timestamptz", func(t *Transaction) time.Time { return t.UpdatedAt }),
})

var rowColumns = slices.Concat(transactionColumns, otherColumns)

// partColumns are the columns of the parts of split transactions. item is the place of the
// transaction.
var partColumns = columns[insertion]{
	partField("item", "bigint", func(p *part) int64 { return p.item }),
	partField("position", "smallint", func(p *part) int16 { return p.position }),
	partField("category_id", "uuid", func(p *part) uuid.UUID { return p.CategoryID }),
	partField("amount_minor", "bigint", func(p *part) int64 { return p.AmountMinor }),
	partField("description", "text", func(p *part) string { return p.Description }),
}

var postingColumns = columns[[]posting]{
	postingField("owner_id", "uuid", func(p *posting) uuid.UUID { return p.owner }),
	postingField("wallet_id", "uuid", func(p *posting) uuid.UUID { return p.wallet }),
	postingField("category_id", "uuid", func(p *posting) *uuid.UUID { return p.category }),
	postingField("currency", "text", func(p *posting) string { return p.currency }),
	postingField("month", "date", func(p *posting) time.Time { return p.month }),
	postingField("amount_minor", "bigint", func(p *posting) int64 { return p.amount }),
	postingField("sign", "bigint", func(p *posting) int64 { return p.sign }),
}

const splitColumns = `owner_id, transaction_id, position, category_id, wallet_id, currency, date,
	amount_minor, description`
