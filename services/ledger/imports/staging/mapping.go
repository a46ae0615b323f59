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
func ToMapping(message *ledgerv1.ImportMapping) *mapping.Mapping {
	out := &mapping.Mapping{
		Format: message.GetFormat(), Delimiter: message.GetDelimiter(),
		Encoding: message.GetEncoding(),
		SkipRows: int(message.GetSkipRows()), Header: message.GetHeader(),
		DateLayout:  message.GetDateLayout(),
		DatesUntil:  message.GetDatesUntil(),
		DecimalMark: message.GetDecimalMark(), AmountMode: message.GetAmountMode(),
		Invert:   message.GetInvert(),
		Negative: message.GetNegative(), Booked: message.GetBooked(), Pending: message.GetPending(),
		Void: message.GetVoid(), Currency: message.GetCurrency(), Width: int(message.GetWidth()),
		Empty: []int{},
	}
	for _, i := range message.GetEmpty() {
		out.Empty = append(out.Empty, int(i))
	}
	for _, c := range message.GetColumns() {
		out.Columns = append(out.Columns,
			mapping.Column{Index: int(c.GetIndex()), Field: c.GetField()})
	}
	return out
}

// FromMapping returns a mapping as the API shows it.
func FromMapping(columns *mapping.Mapping) *ledgerv1.ImportMapping {
	out := &ledgerv1.ImportMapping{
		Format: columns.Format, Delimiter: columns.Delimiter, Encoding: columns.Encoding,
		SkipRows: int32(columns.SkipRows),
		Header:   columns.Header, DateLayout: columns.DateLayout, DecimalMark: columns.DecimalMark,
		AmountMode: columns.AmountMode, Invert: columns.Invert, Negative: columns.Negative,
		Booked:  columns.Booked,
		Pending: columns.Pending, Void: columns.Void, Currency: columns.Currency,
		Width: int32(columns.Width), DatesUntil: columns.DatesUntil,
	}
	for _, i := range columns.Empty {
		out.Empty = append(out.Empty, int32(i))
	}
	for _, c := range columns.Columns {
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
