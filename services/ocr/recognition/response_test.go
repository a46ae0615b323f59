package recognition

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/coffer-budget/coffer/services/ocr/receipt"
	"github.com/coffer-budget/coffer/services/ocr/receipt/calibration"
	"github.com/coffer-budget/coffer/services/ocr/receipt/printed"
)

func TestResponseCalibratesConfidences(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 28, 0, 0, 0, 0, time.UTC)
	pages := printed.FromText("CORNER SHOP LTD\n12/03/2024\nBread 2.50\nMilk 1.20\nTotal EUR 3.70")
	read := Reading{Receipt: receipt.Join(now, receipt.Read(pages))}
	read.Evidence = nil
	scores := read.Confidence
	got := read.Response().GetReceipt().GetConfidence()
	require.Equal(t, calibration.Confidences(scores), got)
	require.NotEqual(t, scores, got)

	claim := receipt.Claim{Merchant: "Corner Shop", Total: "3.70"}
	model := Reading{Receipt: claim.Check(now)}
	require.Equal(t, model.Confidence, model.Response().GetReceipt().GetConfidence(),
		"the confidences of a model are no scores of the rules")
}
