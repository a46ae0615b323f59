package formats_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/coffer-budget/coffer/services/ledger/imports/formats"
	"github.com/coffer-budget/coffer/services/ledger/imports/formats/mapping"
	"github.com/coffer-budget/coffer/services/ledger/imports/formats/statement"
)

func TestNewReader(t *testing.T) {
	t.Parallel()
	m := mapping.Mapping{
		Format: statement.CSV, Header: true, DateLayout: "YYYY-MM-DD", DecimalMark: ".",
		AmountMode: mapping.Signed, Columns: []mapping.Column{{Index: 0, Field: mapping.FieldDate}},
	}
	t.Run("without a column recognizes rows that are no transactions", func(t *testing.T) {
		t.Parallel()
		reader, err := formats.NewReader(&m)
		var invalid mapping.Errors
		require.ErrorAs(t, err, &invalid)
		require.Equal(t, "columns must assign amount", invalid.Error())
		require.True(t,
			reader.Record(statement.Record{N: 1, Cells: []string{"Date", "Amount"}}).Skip)
		require.False(t,
			reader.Record(statement.Record{N: 2, Cells: []string{"2024-01-31", "1.00"}}).Skip)
	})
	t.Run("shows rows of two cells whose date cannot be read", func(t *testing.T) {
		t.Parallel()
		complete := m
		complete.Columns = append(slices.Clone(m.Columns),
			mapping.Column{Index: 1, Field: mapping.FieldAmount})
		reader, err := formats.NewReader(&complete)
		require.NoError(t, err)
		for day, skip := range map[string]bool{
			"2024-02-31": false, "31.01.2024": false, "1/31/24 10:00": false, "Total": true,
			"": true, "12345678": true,
		} {
			record := reader.Record(statement.Record{N: 2, Cells: []string{day, "-1.00"}})
			require.Equal(t, skip, record.Skip, day)
			require.NotEmpty(t, record.Problem, day)
		}
	})
	t.Run("names all problems", func(t *testing.T) {
		t.Parallel()
		_, err := formats.NewReader(&mapping.Mapping{
			Format: statement.CSV, SkipRows: 1001, Currency: "ZZZ", Width: -1,
			Columns: []mapping.Column{{Index: -1, Field: "nothing"}},
		})
		var invalid mapping.Errors
		require.ErrorAs(t, err, &invalid)
		var fields []string
		for _, e := range invalid {
			fields = append(fields, e.Field)
		}
		require.Equal(t, []string{
			"dateLayout", "decimalMark", "skipRows", "currency", "width", "columns[0].index", "columns[0].field", "amountMode", "columns",
		}, fields)
	})
	t.Run("of an unknown format is nil", func(t *testing.T) {
		t.Parallel()
		other := m
		other.Format = statement.OFX
		reader, err := formats.NewReader(&other)
		require.EqualError(t, err, "format must be csv, xlsx, qif or ynab")
		require.Nil(t, reader)
	})
}
