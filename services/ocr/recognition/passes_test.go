package recognition

import (
	"context"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/coffer-budget/coffer/services/ocr/fixture"
	"github.com/coffer-budget/coffer/services/ocr/tesseract"
)

// TestReadKeepsFirstReading runs the real engine, except for the passes with one segmentation mode,
// which fail.
func TestReadKeepsFirstReading(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct{ mode, failure string }{
		"crash in the second pass":     {"6", "kill -SEGV $$"},
		"second pass is killed":        {"6", "kill -KILL $$"},
		"second pass prints nonsense":  {"6", "echo oops; exit 0"},
		"second pass reaches the time": {"6", "sleep 60"},
		"crash in the row pass":        {"7", "kill -SEGV $$"},
		"row pass reaches the time":    {"7", "sleep 60"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			failed := filepath.Join(t.TempDir(), "failed")
			script := `case "$*" in *"--psm ` + tc.mode + `"*) touch ` + failed + "; " +
				tc.failure +
				`;; esac; exec tesseract "$@"`
			r := newTestReader()
			r.engine = scripted(t, script, 4*time.Second)
			// No other figure confirms the total, so further passes are required.
			got, err := r.Read(t.Context(), fixture.Small(t))
			require.NoError(t, err)
			require.Equal(t, "12.50", got.Total)
			require.ErrorIs(t, got.Failure, tesseract.ErrFailed)
			require.FileExists(t, failed)
		})
	}
}

func TestReadRepeatsFailedFirstPass(t *testing.T) {
	t.Parallel()
	script := `case "$*" in *"--psm 4"*) kill -SEGV $$;; esac; exec tesseract "$@"`
	r := newTestReader()
	r.engine = scripted(t, script, 10*time.Second)
	got, err := r.Read(t.Context(), fixture.Small(t))
	require.NoError(t, err)
	require.Equal(t, "12.50", got.Total)
}

func TestReadKeepsFirstReadingBeforeDeadline(t *testing.T) {
	t.Parallel()
	script := `case "$*" in *"--psm 6"*) sleep 60;; esac; exec tesseract "$@"`
	r := newTestReader()
	r.engine = local{engine: tesseract.New(fixture.Program(t, script), time.Minute), now: time.Now}
	ctx, cancel := context.WithTimeout(t.Context(), 8*answerReserve)
	defer cancel()
	got, err := r.Read(ctx, fixture.Small(t))
	require.NoError(t, err)
	require.Equal(t, "12.50", got.Total)
}
