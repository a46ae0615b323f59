package ocr

import (
	"image"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestPicturesThatAreReadInOneRunAreReadAsOnTheirOwn(t *testing.T) {
	t.Parallel()
	engine := newTestReader().engine.(local).engine
	row := pass{mode: singleRow, language: mainLanguage}
	blank := image.NewGray(image.Rect(0, 0, 301, 41))
	for i := range blank.Pix {
		blank.Pix[i] = 255
	}
	pictures := []*image.Gray{printed(t, "CASH 20.00", 22), blank, printed(t, "CHANGE 1.35", 30), printed(t, "TOTAL 18.65", 25)}
	together, err := engine.words(t.Context(), row, pictures...)
	require.NoError(t, err)
	require.Len(t, together, len(pictures))
	for i, picture := range pictures {
		alone, err := engine.words(t.Context(), row, picture)
		require.NoError(t, err)
		require.Equal(t, alone[0], together[i])
	}
	require.Equal(t, "18.65", together[3][1].Text)
}
