package recognition

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/coffer-budget/coffer/services/ocr/fixture"
	"github.com/coffer-budget/coffer/services/ocr/imaging"
)

const twoReceipts = "" +
	"GREEN SHOP LTD              BLUE CAFE INC\n" +
	"12 Mill Road                3 Park Lane\n" +
	"14/03/2026 14:05            15/03/2026 15:20\n" +
	"\n" +
	"Tea            4.00         Coffee         3.10\n" +
	"Bread          6.00         Cake           4.90\n" +
	"TOTAL         10.00         TOTAL          8.00\n" +
	"Cash          10.00         Visa           8.00\n"

// TestReadSeveralReceipts photographs two receipts side by side.
func TestReadSeveralReceipts(t *testing.T) {
	t.Parallel()
	photo := fixture.JPEG(t,
		fixture.Photograph(imaging.Rotate(fixture.Printed(t, twoReceipts, 26), 0.02)))
	for name, tt := range map[string]struct {
		reader Reader
		file   []byte
	}{
		"networks":  {neuralReader(t), photo},
		"Tesseract": {newTestReader(), photo},
		"text":      {newTestReader(), []byte(twoReceipts)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := tt.reader.Read(t.Context(), tt.file)
			require.NoError(t, err)
			resp := got.Response()
			require.Len(t, resp.GetReceipts(), 2)
			require.Equal(t, resp.GetReceipt(), resp.GetReceipts()[0])
			for i, want := range []struct{ merchant, date, total string }{
				{"GREEN SHOP LTD", "2026-03-14", "10.00"}, {"BLUE CAFE INC", "2026-03-15", "8.00"},
			} {
				found := resp.GetReceipts()[i]
				require.Equal(t, want.merchant, found.GetMerchant())
				require.Equal(t, want.date, found.GetDate())
				require.Equal(t, want.total, found.GetTotal())
				require.Len(t, found.GetLines(), 2)
				require.Equal(t, "SEVERAL_RECEIPTS", found.GetWarnings()[0].GetCode())
			}
		})
	}
}
