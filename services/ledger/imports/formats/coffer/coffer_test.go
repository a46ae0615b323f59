package coffer_test

import (
	"strings"
	"testing"
	"time"

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

// TestParseReconciliations assigns records to the reconciliations that lock them. An export of some
// transactions may lack a reconciliation.
func TestParseReconciliations(t *testing.T) {
	t.Parallel()
	const wallet = `{"wallet":{"id":"w","name":"Bank","currency":"EUR","balance":5}}` + "\n"
	locked := func(id string) string {
		return `{"transaction":{"amount":5,"currency":"EUR","type":"adjustment",` +
			`"date":"2026-02-01T10:00:00.000Z","walletId":"w"},"reconciliationId":"` + id + "\"}\n"
	}
	reconciliation := func(fields string) string {
		return `{"reconciliation":{"id":"r",` + fields + `}}` + "\n"
	}
	const fields = `"walletId":"w","currency":"EUR","date":"2026-02-01","balance":-5.25,` +
		`"locked":3,"differs":true`
	_, facts := fixture.ReadAll(t, wallet+reconciliation(fields)+locked("")+locked("r")+
		locked("other")+locked("r"), statement.Options{})
	require.Equal(t, []statement.Reconciliation{{
		Account: "Bank", Currency: "EUR", BalanceMinor: -525, Locked: 3, Differs: true,
		Date: time.Date(2026, 2, 1, 0, 0, 0, 0, time.UTC), Rows: []int32{2, 4},
	}}, facts.Reconciliations)
	for name, replaced := range map[string][2]string{
		"unknown wallet": {`"w"`, `"x"`}, "no currency": {`"EUR"`, `""`},
		"unknown currency": {"EUR", "QQQ"}, "day": {"2026-02-01", "01.02.2026"},
		"decimals": {"-5.25", "-5.255"}, "negative count": {"3", "-3"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := fixture.Count(strings.NewReader(wallet +
				reconciliation(strings.Replace(fields, replaced[0], replaced[1], 1))))
			require.ErrorContains(t, err, "the reconciliation has a field")
		})
	}
	t.Run("limits", func(t *testing.T) {
		t.Parallel()
		_, err := fixture.Count(strings.NewReader(wallet + reconciliation(fields) +
			strings.Repeat(locked("r"), 20_001)))
		require.ErrorContains(t, err, "locks more than 20000 transactions")
		_, err = fixture.Count(strings.NewReader(wallet +
			strings.Repeat(reconciliation(fields), 20_001)))
		require.ErrorContains(t, err, "more than 20000 reconciliations")
	})
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
