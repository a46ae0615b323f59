package recognition

import (
	"context"
	"image"
	"image/draw"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/coffer-budget/coffer/services/ocr/fixture"
	"github.com/coffer-budget/coffer/services/ocr/imaging"
	"github.com/coffer-budget/coffer/services/ocr/receipt"
	"github.com/coffer-budget/coffer/services/ocr/sandbox"
)

const greenReceipt = "GREEN SHOP LTD\n12 Mill Road\n14/03/2026 14:05\n\n" +
	"Tea             4.00\nBread           6.00\nTOTAL          10.00\nCash           10.00\n"

const blueReceipt = "BLUE CAFE INC\n3 Park Lane\n15/03/2026 15:20\n\n" +
	"Coffee          3.10\nCake            4.90\nTOTAL           8.00\nVisa            8.00\n"

// TestReadPapers photographs papers on a table. Their words alone do not show where one ends.
func TestReadPapers(t *testing.T) {
	t.Parallel()
	const sameTotal = "BLUE CAFE INC\n3 Park Lane\n14/03/2026 15:20\n\n" +
		"Coffee          5.10\nCake            4.90\nTOTAL          10.00\nCash           10.00\n"
	const cashOnly = "RED KIOSK\nPaper           2.50\nTOTAL           2.50\n"
	const slip = "GREEN SHOP LTD\nCARD PAYMENT\n14/03/2026 14:06\nTOTAL          10.00\nApproved\n"
	const open = "BLUE CAFE INC\n3 Park Lane\n15/03/2026 15:20\n\nCoffee          3.10\n"
	const letter = "Dear friend,\nI hope that this letter\nfinds you well.\n\nYours, Jane\n"
	for name, tt := range map[string]struct {
		other   string
		totals  []string
		warning bool
	}{
		"two receipts":           {blueReceipt, []string{"10.00", "8.00"}, true},
		"same total and date":    {sameTotal, []string{"10.00", "10.00"}, true},
		"receipt without a date": {cashOnly, []string{"10.00", "2.50"}, true},
		"slip of the card":       {slip, []string{"10.00"}, false},
		"copy":                   {greenReceipt, []string{"10.00"}, false},
		"half of a receipt":      {open, []string{"10.00"}, true},
		"letter":                 {letter, []string{"10.00"}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			first := fixture.Printed(t, greenReceipt, 26)
			second := fixture.Printed(t, tt.other, 26)
			photo := fixture.OnTable(image.Pt(1400, 760), fixture.Tables()["wood"],
				fixture.Laid{Paper: first, At: image.Pt(110, 60), Angle: 0.08},
				fixture.Laid{Paper: second, At: image.Pt(800, 110), Angle: -0.08})
			got, err := neuralReader(t).Read(t.Context(),
				fixture.JPEG(t, fixture.Photograph(photo)))
			require.NoError(t, err)
			require.Equal(t, tt.totals, totals(got))
			resp := got.Response()
			codes := map[string]bool{}
			for _, w := range resp.GetReceipt().GetWarnings() {
				codes[w.GetCode()] = true
			}
			require.Equal(t, tt.warning, codes["SEVERAL_RECEIPTS"])
			middle := int32(photo.Rect.Dx() / 2)
			for i, found := range resp.GetReceipts() {
				for _, e := range found.GetEvidence() {
					require.Equal(t, int32(1), e.GetPage())
					require.Equal(t, i > 0, e.GetBox().GetX() > middle, e)
					require.Equal(t, int32(photo.Rect.Dx()), e.GetBox().GetPageWidth())
				}
			}
		})
	}
}

// expensive is an engine that finds letters without a total, and takes the same processor time for
// each image.
type expensive struct {
	takes time.Duration
	reads *int
}

func (e expensive) read(_ context.Context, images []*image.Gray) (Reading, error) {
	if err := sandbox.CheckTime(); err != nil {
		return Reading{}, err
	}
	*e.reads++
	sandbox.Charge(e.takes)
	return Reading{
		Receipt: receipt.Receipt{Legible: true},
		pages:   []imaging.Frame{{Size: images[0].Rect.Size()}},
	}, nil
}

// TestReadPapersLimitsTime has two papers. If the first takes more than half of the processor time,
// the second one is not read, and the photo as a whole has the rest.
func TestReadPapersLimitsTime(t *testing.T) { //nolint:paralleltest // It limits the process.
	paper := fixture.Printed(t, greenReceipt, 26)
	photo := fixture.Photograph(fixture.OnTable(image.Pt(1400, 760), fixture.Tables()["wood"],
		fixture.Laid{Paper: paper, At: image.Pt(110, 60)},
		fixture.Laid{Paper: paper, At: image.Pt(800, 110)}))
	require.Len(t, imaging.Papers(photo), 2)
	defer sandbox.LimitTime(0)
	for takes, want := range map[time.Duration]int{35 * time.Minute: 2, 10 * time.Minute: 3} {
		sandbox.LimitTime(sandbox.Used() + time.Hour)
		reads := 0
		r := Reader{engine: expensive{takes, &reads}, now: time.Now}
		got, err := r.readImages(t.Context(), []*image.Gray{photo})
		require.NoError(t, err)
		require.True(t, got.Legible)
		require.Equal(t, want, reads, takes)
	}
}

// TestReadPaperWithBand photographs one receipt whose band of ink has the brightness of the table.
func TestReadPaperWithBand(t *testing.T) {
	t.Parallel()
	paper := fixture.Printed(t, "GREEN SHOP LTD\n12 Mill Road\n14/03/2026 14:05\n\n\n\n\n\n"+
		"Tea             4.00\nBread           6.00\nTOTAL          10.00\n", 26)
	dark := fixture.Tables()["dark"]
	band := image.Rect(0, 210, paper.Rect.Dx(), 300)
	draw.Draw(paper, band, fixture.OnTable(band.Max, dark), band.Min, draw.Src)
	size := paper.Rect.Size().Add(image.Pt(160, 160))
	photo := fixture.OnTable(size, dark, fixture.Laid{Paper: paper, At: image.Pt(80, 80)})
	got, err := neuralReader(t).Read(t.Context(), fixture.JPEG(t, fixture.Photograph(photo)))
	require.NoError(t, err)
	require.Equal(t, []string{"10.00"}, totals(got))
	require.Equal(t, "2026-03-14", got.Date)
	require.Equal(t, "GREEN SHOP LTD", got.Merchant)
	require.Len(t, got.Items, 2)
}
