package written_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/coffer-budget/coffer/services/ledger/imports/formats/written"
)

func TestCurrencyIn(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"Crédito (R$)": "BRL", "入出金(円)": "JPY", "幣別：新臺幣": "TWD", "Soles": "PEN",
		`יתרה בש"ח`: "ILS", "Amount (CAD$)": "CAD", "Betrag in EUR": "EUR", "Kurs US$": "USD",
		"Conta a vista": "", "Importe $": "", "金额(元)": "", "Compra en sol y sombra": "",
		"ALL TRANSACTIONS": "", "BOB SMITH": "", "Shuma ALL": "ALL", "SALDO (PEN)": "PEN",
		"SALDO EUR": "EUR", "Ana Lei": "", "MAD Finance Ltd": "", "Konto Kč": "",
		"Filijala Nis": "",
	} {
		require.Equal(t, want, written.CurrencyIn(text), text)
	}
	require.Equal(t, "RUB", written.CurrencyOf("RUR"))
	require.Equal(t, "CAD", written.CurrencyOf("CAD$"))
	require.Equal(t, "EUR", written.CurrencyOf("(EUR)"))
	require.Equal(t, "MXN", written.CurrencyOf("M.N."))
	require.Equal(t, "PEN", written.CurrencyOf("sol"), "a unit may be a word of sentences")
}

func TestStatedBalance(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"SALDO INIZIALE": written.Opening, "Closing balance as of 31/01/2024": written.Closing,
		"Kontostand am 31. Januar 2024": written.Closing, "期初余额": written.Opening,
		"Total": "", "Closing balance transfer": "", "Solde prix prestations": "", "12.50": "",
	} {
		require.Equal(t, want, written.StatedBalance(text), text)
	}
	for text, want := range map[string]bool{
		"Total": false, "New Balance": false, "Saldo per 31.01.2024": true, "Opening balance of an account": true,
		"Total Tankstelle": false, "Report Verlag": false,
	} {
		require.Equal(t, want, written.StatesBalance(text, true, true), text)
	}
	require.False(t, written.StatesBalance("Total of 5 rows", false, true))
	require.True(t, written.StatesBalance("Total of 5 rows", false, false))
}
