package written_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/coffer-budget/coffer/services/ledger/imports/formats/written"
)

func TestParseDate(t *testing.T) {
	t.Parallel()
	for text, order := range map[string]written.Orders{
		"20012024": written.DMY, "20240120": written.YMD, "113/01/20": written.YMD,
		"1130120": written.YMD, "令和6年1月20日": written.YMD, "20/01/2567": written.DMY,
		"2024年01月20日": written.YMD, "2024년 1월 20일 10:30": written.YMD,
	} {
		day, ok := written.ParseDate(text, order)
		require.True(t, ok, text)
		require.Equal(t, time.Date(2024, 1, 20, 0, 0, 0, 0, time.UTC), day, text)
	}
	_, ok := written.ParseDate("20-01-113", written.DMY)
	require.False(t, ok, "a year of three digits is the first part")
}
