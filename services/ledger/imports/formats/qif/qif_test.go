package qif_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/coffer-budget/coffer/services/ledger/imports/formats/fixture"
	"github.com/coffer-budget/coffer/services/ledger/imports/formats/statement"
)

func TestParse(t *testing.T) {
	t.Parallel()
	const file = "!Account\nNGiro\nTBank\n^\n!Type:Bank\nD1/ 2'24\nT-1,012.30\nPShop\nMmemo\nLFood:Out/trip\n^\nD1/31'24\nT5.00\nL[Savings]\n^\n" +
		"D1/30'24\nT-3.00\nSA\n$-1.00\nS[B]\n$-2.00\nD2/1'24\n^\n!Type:Cat\nNFood\n^\n!Type:Invst\nD1/1'24\n^\n"
	records, facts := fixture.ReadAll(t, file, statement.Options{})
	require.Equal(t, []string{
		"2024-01-02|-1012.30||Shop|memo", "2024-01-31|5.00|||", "2024-01-30|-3.00|||",
	}, fixture.Lines(records))
	require.Equal(t, []string{statement.CurrencyAssumed, statement.InvestmentsSkipped},
		facts.Warnings)
	require.Equal(t, "MM/DD/YY", facts.Mapping.DateLayout)
	require.Equal(t, []any{"Giro", "Food:Out", []string{"trip"}},
		[]any{records[0].Account, records[0].Category, records[0].Tags})
	require.Equal(t, "Savings", records[1].Transfer.Account)
	require.Equal(t, []statement.Split{
		{Amount: "-1.00", Category: "A"}, {Amount: "-2.00", Account: "B"},
	}, records[2].Splits)
}

func TestParseWithoutHeader(t *testing.T) {
	t.Parallel()
	records, _ := fixture.ReadAll(t, "D31/01/2024\nT-1.00\nPShop\n^\nD01/02/2024\nT2.00\n^\n",
		statement.Options{})
	require.Equal(t, []string{"2024-01-31|-1.00||Shop|", "2024-02-01|2.00|||"},
		fixture.Lines(records))
}

func TestParseAmbiguousDates(t *testing.T) {
	t.Parallel()
	const file = "!Type:Bank\nD03/04/2024\nT-1.00\n^\nD02/05/2024\nT-1.00\n^\nD04/06/2024\nT1.00\n^\n"
	for locale, want := range map[string]string{
		"de-DE": "2024-04-03", "en-US": "2024-03-04", "": "2024-04-03",
	} {
		records, facts := fixture.ReadAll(t, file, statement.Options{Locale: locale})
		// The dates rise only if the day is first. This evidence is stronger than the locale.
		if locale == "en-US" {
			want = "2024-04-03"
		}
		require.Equal(t, want, records[0].Date.Format("2006-01-02"), locale)
		require.Contains(t, facts.Warnings, statement.DateOrderAssumed)
	}
}

// TestParseDialects reads what banks write although it is not in the standard of the format.
func TestParseDialects(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		file string
		want []string
	}{
		"apostrophe":   {"!Type:Bank\nD1/ 2'09\nT-12.50\nPA\n^\nD12/31'09\nT-1.00\n^\n", []string{"2009-01-02|-12.50||A|", "2009-12-31|-1.00|||"}},
		"account_list": {"!Option:AutoSwitch\n!Account\nNChecking\n^\nNCard\n^\n!Clear:AutoSwitch\n!Account\nNCard\n^\n!Type:CCard\nD30/01/2024\nT-1.50\nPB\n^\n!Type:Invst\nD31/01/2024\nNBuy\nT10.00\n^\n", []string{"2024-01-30|-1.50||B|"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			records, _ := fixture.ReadAll(t, tc.file, statement.Options{})
			require.Equal(t, tc.want, fixture.Lines(records))
		})
	}
}

func FuzzQIF(f *testing.F) { fixture.Fuzz(f, statement.QIF) }
