package tesseract

import (
	"image"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/coffer-budget/coffer/services/ocr/fixture"
)

func TestWordsOfSeveralImagesInOneRun(t *testing.T) {
	t.Parallel()
	engine := New("tesseract", time.Minute)
	blank := image.NewGray(image.Rect(0, 0, 301, 41))
	for i := range blank.Pix {
		blank.Pix[i] = 255
	}
	rows := []*image.Gray{
		fixture.Printed(t, "CASH 20.00", 22), blank, fixture.Printed(t, "CHANGE 1.35", 30),
		fixture.Printed(t, "TOTAL 18.65", 25),
	}
	batch, err := engine.Words(t.Context(), SingleRow, MainLanguage, rows...)
	require.NoError(t, err)
	require.Len(t, batch, len(rows))
	for i, file := range rows {
		single, err := engine.Words(t.Context(), SingleRow, MainLanguage, file)
		require.NoError(t, err)
		require.Equal(t, single[0], batch[i])
	}
	require.Equal(t, "18.65", batch[3][1].Text)
}
