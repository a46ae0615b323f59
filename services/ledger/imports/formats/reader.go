package formats

import (
	"github.com/coffer-budget/coffer/services/ledger/imports/formats/mapping"
	"github.com/coffer-budget/coffer/services/ledger/imports/formats/qif"
	"github.com/coffer-budget/coffer/services/ledger/imports/formats/statement"
	"github.com/coffer-budget/coffer/services/ledger/imports/formats/ynab"
)

// Reader converts the cells of records by a mapping. It is safe for concurrent use.
type Reader struct{ rows *mapping.Reader }

// NewReader returns the reader of a mapping. The error is mapping.Errors. A mapping that only lacks
// columns has a reader, too, which recognizes the rows that are no transactions.
func NewReader(m *mapping.Mapping) (*Reader, error) {
	rows, err := m.Compile()
	if rows == nil {
		return nil, err
	}
	return &Reader{rows}, err
}

// Record converts the cells of a record. Its N, Line and Cells stay.
func (r *Reader) Record(raw statement.Record) statement.Record {
	record := statement.Record{N: raw.N, Line: raw.Line, Cells: raw.Cells}
	switch r.rows.Mapping.Format {
	case statement.QIF:
		qif.Read(r.rows, &record)
	case statement.YNAB:
		ynab.Read(r.rows, &record)
	default:
		r.rows.Row(&record)
	}
	record.Clean()
	return record
}

// Apply converts records by a mapping. Use NewReader for records that arrive in pieces.
func Apply(m *mapping.Mapping, records []statement.Record) ([]statement.Record, error) {
	r, err := NewReader(m)
	if err != nil {
		return nil, err
	}
	converted := make([]statement.Record, len(records))
	for i, record := range records {
		converted[i] = r.Record(record)
	}
	return converted, nil
}
