package written_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/coffer-budget/coffer/services/ledger/imports/formats/written"
)

func TestParseDateJalali(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"1404/01/01": "2025-03-21", "1404/12/29": "2026-03-20", "1405/01/01": "2026-03-21",
		"1403/12/30": "2025-03-20", "1399/12/30": "2021-03-20", "1370/01/01": "1991-03-21",
		"1404/10/11": "2026-01-01", "۱۴۰۵/۰۵/۱۱": "2026-08-02", "1408/12/30": "2030-03-20",
		"1404/12/30": "", "1404/07/31": "", "1404/13/01": "", "1447/05/01": "",
	} {
		day, ok := written.ParseDate(text, written.YMD)
		require.Equal(t, want != "", ok, text)
		if ok {
			require.Equal(t, want, day.Format(time.DateOnly), text)
		}
	}
	_, ok := written.ParseDate("01/02/1404", written.MDY)
	require.False(t, ok, "Persian never has the month first")
}
