package ocr

import (
	"image"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestWordsOfSeveralImagesInOneRun(t *testing.T) {
	t.Parallel()
	engine := newTestReader().engine.(local).engine
	row := pass{mode: singleRow, language: mainLanguage}
	blank := image.NewGray(image.Rect(0, 0, 301, 41))
	for i := range blank.Pix {
		blank.Pix[i] = 255
	}
	sampleImages := []*image.Gray{printed(t, "CASH 20.00", 22), blank, printed(t, "CHANGE 1.35", 30), printed(t, "TOTAL 18.65", 25)}
	batch, err := engine.words(t.Context(), row, sampleImages...)
	require.NoError(t, err)
	require.Len(t, batch, len(sampleImages))
	for i, file := range sampleImages {
		single, err := engine.words(t.Context(), row, file)
		require.NoError(t, err)
		require.Equal(t, single[0], batch[i])
	}
	require.Equal(t, "18.65", batch[3][1].Text)
}
