package staging

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/coffer-budget/coffer/internal/apierr"
	"github.com/coffer-budget/coffer/internal/calendar"
	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
	"github.com/coffer-budget/coffer/services/ledger/imports/formats/mapping"
)

// ToMapping returns the mapping of a request or a stored import.
func ToMapping(m *ledgerv1.ImportMapping) *mapping.Mapping {
	out := &mapping.Mapping{
		Format: m.GetFormat(), Delimiter: m.GetDelimiter(), Encoding: m.GetEncoding(),
		SkipRows: int(m.GetSkipRows()), Header: m.GetHeader(), DateLayout: m.GetDateLayout(),
		DecimalMark: m.GetDecimalMark(), AmountMode: m.GetAmountMode(), Invert: m.GetInvert(),
		Negative: m.GetNegative(), Booked: m.GetBooked(), Pending: m.GetPending(),
		Void: m.GetVoid(), Currency: m.GetCurrency(), Width: int(m.GetWidth()),
		Empty: []int{},
	}
	for _, i := range m.GetEmpty() {
		out.Empty = append(out.Empty, int(i))
	}
	for _, c := range m.GetColumns() {
		out.Columns = append(out.Columns,
			mapping.Column{Index: int(c.GetIndex()), Field: c.GetField()})
	}
	return out
}

// FromMapping returns a mapping as the API shows it.
func FromMapping(m *mapping.Mapping) *ledgerv1.ImportMapping {
	out := &ledgerv1.ImportMapping{
		Format: m.Format, Delimiter: m.Delimiter, Encoding: m.Encoding, SkipRows: int32(m.SkipRows),
		Header: m.Header, DateLayout: m.DateLayout, DecimalMark: m.DecimalMark,
		AmountMode: m.AmountMode, Invert: m.Invert, Negative: m.Negative, Booked: m.Booked,
		Pending: m.Pending, Void: m.Void, Currency: m.Currency, Width: int32(m.Width),
	}
	for _, i := range m.Empty {
		out.Empty = append(out.Empty, int32(i))
	}
	for _, c := range m.Columns {
		out.Columns = append(out.Columns,
			&ledgerv1.ImportColumn{Index: int32(c.Index), Field: c.Field})
	}
	return out
}

// MappingProblems returns the invalid fields of a mapping, at least one.
func MappingProblems(err error) []*apierr.Field {
	var invalid mapping.Errors
	if !errors.As(err, &invalid) {
		return []*apierr.Field{{Name: "mapping", Message: err.Error()}}
	}
	var fields []*apierr.Field
	for _, e := range invalid {
		fields = append(fields, &apierr.Field{Name: "mapping." + e.Field, Message: e.Message})
	}
	return fields
}

// Proto returns p as the API shows it.
func (p Profile) Proto() (*ledgerv1.ImportProfile, error) {
	var m mapping.Mapping
	if err := json.Unmarshal(p.Mapping, &m); err != nil {
		return nil, fmt.Errorf("decoding import profile %s: %w", p.ID, err)
	}
	return &ledgerv1.ImportProfile{
		Id: p.ID.String(), Heading: p.Heading, Mapping: FromMapping(&m),
		UpdatedAt: calendar.FormatTime(p.UpdatedAt),
	}, nil
}
