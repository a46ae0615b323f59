package mt940_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/coffer-budget/coffer/internal/money"
	"github.com/coffer-budget/coffer/services/ledger/imports/formats"
	"github.com/coffer-budget/coffer/services/ledger/imports/formats/fixture"
	"github.com/coffer-budget/coffer/services/ledger/imports/formats/statement"
)

func TestParse(t *testing.T) {
	t.Parallel()
	records, facts := fixture.ReadAll(t,
		"{1:F01}{2:I940}{4:\r\n:20:STARTUMSE\r\n:25:10000000/0012345678\r\n:28C:1/1\r\n:60F:C231229EUR100,00\r\n"+
			":61:2312290102DR20,50NTRFNONREF//20240102001\r\n:86:106?00KARTENZAHLUNG?20EREF+1?21SVWZ+Einkauf im Laden am ?22Markt?32Laden GmbH\r\n"+
			":61:2401020102RC5,NMSCNONREF\r\n:86:storno der\r\ngutschrift\r\n:61:240102C1000,50NTRFX\r\n:86:/TRTP/SEPA/NAME/Firma/REMI/Lohn/EREF/1\r\n"+
			":62F:C240102EUR1075,00\r\n-}\r\n", statement.Options{})
	require.Equal(t, []string{
		"2024-01-02|-20.50|EUR|Laden GmbH|Einkauf im Laden am Markt", "2024-01-02|-5|EUR||storno der gutschrift",
		"2024-01-02|1000.50|EUR|Firma|Lohn",
	}, fixture.Lines(records))
	require.Empty(t, facts.Warnings)
	require.Equal(t, []string{"5678", "100.00", "1075.00"},
		[]string{facts.Accounts[0].Last4, facts.Accounts[0].Opening, facts.Accounts[0].Closing})
	require.Equal(t, "mt940:20240102:20240102001", records[0].ExternalID)
	require.Empty(t, records[1].ExternalID)
}

// TestParseDialects reads what banks write although it is not in the standard of the format.
func TestParseDialects(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		file string
		want []string
	}{
		"envelope":    {"{1:F01ABNANL2AXXXX}{2:O940}{3:}{4:\r\n:20:ABN\r\n:25:123456789\r\n:28:1/1\r\n:60F:C240101EUR100,00\r\n:61:2401310131D12,50N426NONREF\r\n:86:/TRTP/SEPA OVERBOEKING/NAME/AH\r\n/REMI/Coffee/EREF/NOTPROVIDED\r\n:62F:C240131EUR87,50\r\n-}\r\n", []string{"2024-01-31|-12.50|EUR|AH|Coffee"}},
		"blank_lines": {"\n:20:X\n:25:1/2\n:28C:0\n\n:60F:C240130EUR100,00\n:61:240131 0131 D 12,50 NMSCNONREF\n:86:105?00FOLGE?20EREF+123?21SVWZ+Kaffee?32Baecker\n\n", []string{"2024-01-31|-12.50|EUR|Baecker|Kaffee"}},
		"year_change": {":20:X\n:25:1\n:28C:1\n:60F:C231230CHF100.00\n:61:2401021231RC12.50NMSCNONREF\n:62F:C240102CHF87.50\n", []string{"2023-12-31|-12.50|CHF||"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			records, _ := fixture.ReadAll(t, tc.file, statement.Options{})
			require.Equal(t, tc.want, fixture.Lines(records))
		})
	}
}

func TestParseBalances(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		minor := rapid.SliceOfN(rapid.Int64Range(-99_999_999, 99_999_999), 1, 30).Draw(t, "amounts")
		opening := rapid.Int64Range(-99_999_999, 99_999_999).Draw(t, "opening")
		mark := func(n int64) (string, string) {
			if n < 0 {
				return "D", strings.Replace(money.Decimal(-n, 2), ".", ",", 1)
			}
			return "C", strings.Replace(money.Decimal(n, 2), ".", ",", 1)
		}
		var b strings.Builder
		sign, amount := mark(opening)
		fmt.Fprintf(&b, ":20:A\n:25:1\n:60F:%s240101EUR%s\n", sign, amount)
		closing := opening
		for _, n := range minor {
			closing += n
			sign, amount = mark(n)
			fmt.Fprintf(&b, ":61:240102%s%sNTRFNONREF\n", sign, amount)
		}
		sign, amount = mark(closing)
		fmt.Fprintf(&b, ":62F:%s240131EUR%s\n-\n", sign, amount)
		file, err := formats.Open(strings.NewReader(b.String()), statement.Options{})
		require.NoError(t, err)
		i := 0
		for record, err := range file.Records() {
			require.NoError(t, err)
			n, _, err := record.Minor(money.Currency{})
			require.NoError(t, err)
			require.Equal(t, minor[i], n)
			i++
		}
		require.Empty(t, file.Facts().Warnings)
		require.Len(t, minor, i)
	})
}

func FuzzMT940(f *testing.F) { fixture.Fuzz(f, statement.MT940) }
