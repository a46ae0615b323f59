package written_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/coffer-budget/coffer/services/ledger/imports/formats/written"
)

func TestScanDay(t *testing.T) {
	t.Parallel()
	last := time.Date(2026, 3, 10, 0, 0, 0, 0, time.UTC)
	for text, want := range map[string]string{
		"31/12": "DD/MM 2025-12-31", "'03/02": "DD/MM 2026-02-03", "10.03.": "DD.MM 2026-03-10",
		"11.3.": "DD.MM 2025-03-11", "28 May": "DD MMM 2025-05-28", "5 févr.": "DD MMM 2026-02-05",
		"Feb 05": "MMM DD 2026-02-05", "29/02": "DD/MM 2024-02-29", "12-31 23:59": "MM-DD 2025-12-31",
		"2月3日": "MM-DD 2026-02-03",
	} {
		day, ok := written.ScanDay(text)
		require.True(t, ok, text)
		order := written.DMY
		if orders := day.Orders(); orders == written.MDY || text == "2月3日" {
			order = written.MDY
		}
		got, ok := day.Until(last, order)
		require.True(t, ok, text)
		require.Equal(t, want, day.Layout(order)+" "+got.Format(time.DateOnly), text)
	}
	for _, text := range []string{"", "12", "31/31", "00/05", "1.234", "03/04/2026", "Bus 12", "7 Eleven"} {
		_, ok := written.ScanDay(text)
		require.False(t, ok, text)
	}
}

func TestMonthIn(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"Mese: maggio 2026": "2026-05", "（账户 2026年03月）": "2026-03", "05/2026": "2026-05",
		"2026-05": "2026-05", "31.05.2026": "", "2026-05-31": "", "Room 2026": "",
		"Junio de 2026": "2026-06",
	} {
		month, ok := written.MonthIn(text)
		require.Equal(t, want != "", ok, text)
		if ok {
			require.Equal(t, want, month.Format("2006-01"), text)
		}
	}
}
