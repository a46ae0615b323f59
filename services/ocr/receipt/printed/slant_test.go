package printed

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestLinesOfFoldedPaper slants the upper half of receipts upwards and the lower half downwards.
func TestLinesOfFoldedPaper(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("../testdata/*.txt")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		for _, slope := range []float64{-0.08, -0.04, 0, 0.04, 0.08} {
			text, err := os.ReadFile(file)
			require.NoError(t, err)
			page := FromText(string(text))[0]
			page.Exact = false
			var want, got []string
			for _, l := range Lines([]Page{page}) {
				want = append(want, l.Text)
			}
			for i, w := range page.Words {
				y, x := float64(w.Box.Y), float64(w.Box.X+w.Box.W/2)
				bend := max(-1, min(1, (y-300)/300))
				page.Words[i].Box.Y += int(slope * bend * (x - 200))
			}
			for _, l := range Lines([]Page{page}) {
				got = append(got, l.Text)
			}
			require.Equal(t, want, got, "%s at %g", filepath.Base(file), slope)
		}
	}
}
