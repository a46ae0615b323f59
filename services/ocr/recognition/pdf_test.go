package recognition

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/coffer-budget/coffer/services/ocr/fixture"
)

func TestReadPDFTextLayer(t *testing.T) {
	t.Parallel()
	text, want := fixture.GoldenText(t, "en_us")
	r, err := newTestReader().Read(t.Context(), fixture.TextPDF(1, text))
	require.NoError(t, err)
	require.Equal(t, want, shown(r.Receipt))
	require.Empty(t, r.Warnings)
}

func TestReadScannedPDF(t *testing.T) {
	t.Parallel()
	text, want := fixture.GoldenText(t, "en_us")
	img := fixture.Printed(t, text, 22)
	r, err := newTestReader().Read(t.Context(), fixture.Scan(t, img, 1))
	require.NoError(t, err)
	require.Equal(t, want.Total, r.Total)
	require.Equal(t, want.Date, r.Date)
}

func TestReadPDFLimitsPages(t *testing.T) {
	t.Parallel()
	text, want := fixture.GoldenText(t, "en_us")
	r, err := newTestReader().Read(t.Context(), fixture.TextPDF(10_000, text))
	require.NoError(t, err)
	require.Equal(t, want.Total, r.Total)
	warnings := r.Response().GetReceipt().GetWarnings()
	last := warnings[len(warnings)-1]
	require.Equal(t, string(warnPagesSkipped), last.GetCode())
	require.Equal(t, "Only the first pages were read: 5 of 10000", last.GetMessage())
}

func TestReadUnreadablePDF(t *testing.T) {
	t.Parallel()
	text, _ := fixture.GoldenText(t, "en_us")
	whole := fixture.TextPDF(1, text)
	for name, file := range map[string][]byte{
		"locked":    fixture.LockedPDF(text),
		"enormous":  fixture.ScanPDF(nil, 10, 10, 1, "[0 0 9000000 9000000]"),
		"pageless":  fixture.TextPDF(0, ""),
		"truncated": whole[:60],
	} {
		_, err := newTestReader().Read(t.Context(), file)
		require.ErrorIs(t, err, ErrParse, name)
	}
}

func TestReadPDFWithoutProgram(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	_, err := newTestReader().Read(t.Context(), fixture.TextPDF(1, "Total 1.00"))
	require.ErrorIs(t, err, ErrResponse)
}
