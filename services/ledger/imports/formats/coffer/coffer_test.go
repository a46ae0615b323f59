package coffer_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/coffer-budget/coffer/services/ledger/imports/formats/fixture"
	"github.com/coffer-budget/coffer/services/ledger/imports/formats/statement"
)

func TestParse(t *testing.T) {
	t.Parallel()
	records, facts := fixture.ReadAll(t, fixture.Seeds[statement.Coffer][0]+
		`{"transaction":{"id":"u","amount":-5.00,"currency":"EUR","type":"expense","date":"2024-02-01T10:00:00.000Z","walletId":"w","splits":[{"categoryId":"c","amount":6.00},{"amount":-1.00}]}}`, statement.Options{})
	require.Equal(t, []string{"2024-01-31|-5.00|EUR||", "2024-02-01|-5.00|EUR||"},
		fixture.Lines(records))
	require.Equal(t, "2024-01-31T10:00:00Z", records[0].Date.Format("2006-01-02T15:04:05Z07:00"))
	require.Equal(t, "Bank", facts.Accounts[0].Name)
	require.Equal(t, "coffer:t", records[0].ExternalID)
	require.Equal(t, []string{"-6.00", "1.00"},
		[]string{records[1].Splits[0].Amount, records[1].Splits[1].Amount})
}

// TestParseCSV reads an export as CSV. Its second split has parts without a description.
func TestParseCSV(t *testing.T) {
	t.Parallel()
	records, facts := fixture.ReadAll(t, "\ufeff"+fixture.CofferHeading+`
a.1,2024-01-31T10:00:00.123Z,expense,-6.00,EUR,'=Bank,Food,'-Shop,one,"n
m","Trip,'@x",,ofx:1,a
a.2,2024-01-31T10:00:00.123Z,expense,1.00,EUR,'=Bank,Fun,'-Shop,two,"n
m","Trip,'@x",,,a
b.1,2024-02-01T00:00:00.000Z,income,2.00,EUR,'=Bank,Food,,one,,,,,b
b.2,2024-02-01T00:00:00.000Z,income,3.00,EUR,'=Bank,Fun,,,,,,,b
c,01.02.2024,income,3.00,EUR,Cash,Fun,,,,,,,
d,2024-02-02,transfer,-3.00,EUR,Cash,,,''=x,,,t,'=y,
`, statement.Options{})
	require.Equal(t, statement.Coffer, facts.Format)
	require.Len(t, records, 4)
	require.Equal(t, "2024-01-31|-5|EUR|-Shop|one", fixture.Lines(records)[0])
	require.Equal(t, []statement.Split{{
		Amount: "-6.00", Category: "Food", Description: "one",
	}, {Amount: "1.00", Category: "Fun", Description: "two"}}, records[0].Splits)
	require.Equal(t, []string{"=Bank", "n\nm", "ofx:1"},
		[]string{records[0].Account, records[0].Notes, records[0].ExternalID})
	require.Equal(t, []string{"Trip", "'@x"}, records[0].Tags)
	require.Equal(t, []string{"", "coffer:b", "5"},
		[]string{records[1].Description, records[1].ExternalID, records[1].Amount})
	require.Equal(t, "the date is missing or cannot be read", records[2].Problem)
	require.Equal(t, &statement.Transfer{ID: "t", Paired: true}, records[3].Transfer)
	require.Equal(t, []string{"'=x", "=y"}, []string{records[3].Description, records[3].ExternalID})
}

func FuzzCoffer(f *testing.F) { fixture.Fuzz(f, statement.Coffer) }
