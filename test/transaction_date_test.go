package test

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestTransactionDate sends valid dates in all formats of ISO 8601, and invalid dates. Responses
// are in UTC.
func TestTransactionDate(t *testing.T) {
	t.Parallel()
	me := newUser(t)
	wallet, category := me.wallet("EUR", "0"), me.category("Food")
	body := func(date any) object {
		b := expense(wallet, category, "1")
		b["date"] = date
		return b
	}
	for date, want := range map[string]string{
		"2026-03-14":                     "2026-03-14T00:00:00.000Z",
		"2024-02-29":                     "2024-02-29T00:00:00.000Z",
		"1900-01-01":                     "1900-01-01T00:00:00.000Z",
		"2200-12-31T23:59:59.999Z":       "2200-12-31T23:59:59.999Z",
		"2026-03-14T10:00:00.123456789Z": "2026-03-14T10:00:00.123Z",
		"2026-03-14T23:30:00-05:00":      "2026-03-15T04:30:00.000Z",
		"2026-03-14T10:00:00+14:00":      "2026-03-13T20:00:00.000Z",
		"2026-03-14t10:00:00z":           "2026-03-14T10:00:00.000Z",
		"2026-03-14T10:00:00":            "2026-03-14T10:00:00.000Z",
		"2026-03-14T10:00:00.123456":     "2026-03-14T10:00:00.123Z",
		"2026-03-14T10:00":               "2026-03-14T10:00:00.000Z",
		"2026-03-14T10:00+01:00":         "2026-03-14T09:00:00.000Z",
		"2026-03-14T10:00:00+0100":       "2026-03-14T09:00:00.000Z",
		"2026-03-14T10:00:00-01":         "2026-03-14T11:00:00.000Z",
		"2026-03-14T10:00:00,5Z":         "2026-03-14T10:00:00.500Z",
		"20260314":                       "2026-03-14T00:00:00.000Z",
		"20260314T100000Z":               "2026-03-14T10:00:00.000Z",
		"20260314T1000+0100":             "2026-03-14T09:00:00.000Z",
	} {
		require.Equal(t, want, me.post("/api/v1/transaction", body(date)).
			created("TRANSACTION_CREATED").text("transaction.date"), date)
	}
	for _, date := range []any{
		20260314, true,
		[]string{"2026-03-14"},
		object{"year": 2026},
		"2026-02-29", "2026-13-01", "0000-01-01", "9999-12-31", "1899-12-31", "2201-01-01",
		"1900-01-01T00:00:00+12:00", "2200-12-31T23:59:59-12:00",
		"", "202603", "2026-3-14", "14/03/2026", "2026-W11-6", "2026-073", "2026-03", "1773482400",
		"tomorrow", " 2026-03-14", "2026-03-14Z",
		"2026-03-14T", "2026-03-14T10", "2026-03-14T7:00:00Z", "2026-03-14T24:00:00Z",
		"2026-03-14T10:60:00Z", "20260314T10:00:00Z",
		"2026-03-14 10:00:00Z", "2026-03-14T10:00:00+25:00", "2026-03-14T100000Z",
		"2026-03-14T10:00:00Z\n",
	} {
		a := me.post("/api/v1/transaction", body(date)).fails(400, "INVALID_TRANSACTION_DATE").
			blames("date")
		require.Equal(t, "Invalid transaction date", a.text("message"), date)
	}
	a := me.post("/api/v1/transaction", object{"amount": "1", "date": 20260314}).
		invalid("amount", "date", "currency", "walletId", "categoryId")
	require.Contains(t, string(a.raw), "Invalid transaction date")
}
