package recognition

import (
	"errors"
	"maps"
	"os"
	"runtime"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/coffer-budget/coffer/services/ocr/fixture"
	"github.com/coffer-budget/coffer/services/ocr/neural/process"
)

// TestReadBadFiles requires that each file is rejected as unreadable, within limits of time and
// memory, and leaves no file or process. It reads the files sequentially to measure the cost of
// each.
//
//nolint:paralleltest // It sets an environment variable, and measures the process.
func TestReadBadFiles(t *testing.T) {
	t.Run("tesseract", func(t *testing.T) { testReadBadFiles(t, newTestReader()) })
	t.Run("neural", func(t *testing.T) { testReadBadFiles(t, neuralReader(t)) })
}

func testReadBadFiles(t *testing.T, reader Reader) {
	t.Helper()
	const (
		// longest limits the processor time in seconds, including programs. Wall time would include
		// other tests.
		longest = 20
		// most limits the sum of all allocated bytes, also of those that are freed again.
		most = 400 << 20
	)
	dir := t.TempDir()
	t.Setenv("TMPDIR", dir)
	files := fixture.BadFiles(t)
	for _, name := range slices.Sorted(maps.Keys(files)) {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		start := fixture.ProcessorTime()
		_, err := reader.Read(t.Context(), files[name])
		took := fixture.ProcessorTime() - start
		runtime.ReadMemStats(&after)
		// The bytes of some files claim an enormous size.
		if !errors.Is(err, ErrPixels) {
			require.ErrorIs(t, err, ErrParse, name)
		}
		require.Less(t, took, float64(longest), name)
		require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(most), name)
		left, err := os.ReadDir(dir)
		require.NoError(t, err)
		require.Empty(t, left, name)
		// The neural engine stays for the next image.
		require.Empty(t, fixture.Children(t, process.Program), name)
	}
}
