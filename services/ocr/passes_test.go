package ocr

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	ocrv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ocr/v1"
)

// TestReadKeepsFirstReading runs the real engine, except for the passes with one segmentation mode, which fail.
func TestReadKeepsFirstReading(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ mode, failure string }{
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
			script := `case "$*" in *"--psm ` + c.mode + `"*) touch ` + failed + "; " + c.failure + `;; esac; exec tesseract "$@"`
			r := newTestReader()
			r.engine = local{engine: newTesseract(Config{Tesseract: program(t, script), Timeout: 10 * time.Second}), now: time.Now}
			// No other figure confirms the total, so further passes are required.
			got, err := r.read(t.Context(), asJPEG(t, printed(t, "CORNER SHOP\nTotal 12.50", 30)))
			require.NoError(t, err)
			require.Equal(t, "12.50", got.Total)
			require.ErrorIs(t, got.failure, errEngine)
			require.FileExists(t, failed)
		})
	}
}

func TestReadRepeatsFailedFirstPass(t *testing.T) {
	t.Parallel()
	script := `case "$*" in *"--psm 4"*) kill -SEGV $$;; esac; exec tesseract "$@"`
	r := newTestReader()
	r.engine = local{engine: newTesseract(Config{Tesseract: program(t, script), Timeout: 10 * time.Second}), now: time.Now}
	got, err := r.read(t.Context(), asJPEG(t, printed(t, "CORNER SHOP\nTotal 12.50", 30)))
	require.NoError(t, err)
	require.Equal(t, "12.50", got.Total)
}

func TestReadKeepsFirstReadingBeforeDeadline(t *testing.T) {
	t.Parallel()
	script := `case "$*" in *"--psm 6"*) sleep 60;; esac; exec tesseract "$@"`
	r := newTestReader()
	r.engine = local{engine: newTesseract(Config{Tesseract: program(t, script), Timeout: time.Minute}), now: time.Now}
	ctx, cancel := context.WithTimeout(t.Context(), 6*answerReserve)
	defer cancel()
	got, err := r.read(ctx, asJPEG(t, printed(t, "CORNER SHOP\nTotal 12.50", 30)))
	require.NoError(t, err)
	require.Equal(t, "12.50", got.Total)
}

func TestRecognizeStoresNoPartialReading(t *testing.T) {
	t.Parallel()
	broken := filepath.Join(t.TempDir(), "broken")
	require.NoError(t, os.WriteFile(broken, nil, 0o600))
	script := `case "$*" in *"--psm 6"*) test -e ` + broken + ` && kill -SEGV $$;; esac; exec tesseract "$@"`
	s := newTestServer(t, Config{Tesseract: program(t, script)})
	req := &ocrv1.RecognizeRequest{File: asJPEG(t, printed(t, "CORNER SHOP\nTotal 12.50", 30)), UserId: uuid.NewString()}
	stored := func() (n int) {
		require.NoError(t, s.db.QueryRow(t.Context(), `SELECT count(*) FROM results`).Scan(&n))
		return n
	}
	_, err := s.Recognize(t.Context(), req)
	require.NoError(t, err)
	require.Zero(t, stored())
	require.NoError(t, os.Remove(broken))
	_, err = s.Recognize(t.Context(), req)
	require.NoError(t, err)
	require.Equal(t, 1, stored())
}
