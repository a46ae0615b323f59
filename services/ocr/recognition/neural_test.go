package recognition

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/coffer-budget/coffer/services/ocr/fixture"
	"github.com/coffer-budget/coffer/services/ocr/neural/process"
)

// neuralReader returns a reader with the installed neural engine. It skips the test if there is none: `make test` installs it.
func neuralReader(t *testing.T) Reader {
	t.Helper()
	r, _ := killableReader(t, time.Minute)
	return r
}

// killableReader is neuralReader with a time limit for a page. It returns the folder of the engine, too, which no other test uses.
func killableReader(t *testing.T, limit time.Duration) (Reader, string) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "neural")
	require.NoError(t, os.Symlink(os.Getenv("OCR_NEURAL"), dir))
	return readerOf(t, dir, limit), dir
}

// readerOf returns a reader with the neural engine of a folder.
func readerOf(t *testing.T, dir string, limit time.Duration) Reader {
	t.Helper()
	r := newTestReader()
	r.neural = process.New(dir, limit)
	if err := r.neural.Check(); err != nil {
		t.Skip(err)
	}
	t.Cleanup(r.neural.Stop)
	r.engine = neuralEngine{process: r.neural, tesseract: r.engine.(local)}
	return r
}

// fakeNeural returns a folder whose engine is a shell script.
func fakeNeural(t *testing.T, script string) string {
	t.Helper()
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, process.Program), []byte("#!/bin/sh\n"+script+"\n"), 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "contents"), nil, 0o600))
	return dir
}

// processOf returns the process of the engine in a folder, or 0 if none runs.
func processOf(t *testing.T, dir string) int {
	t.Helper()
	entries, err := os.ReadDir("/proc")
	require.NoError(t, err)
	for _, e := range entries {
		// The arguments of a process that ended are empty.
		args, err := os.ReadFile(filepath.Join("/proc", e.Name(), "cmdline"))
		pid, _ := strconv.Atoi(e.Name())
		if err == nil && pid > 0 && strings.HasPrefix(string(args), filepath.Join(dir, process.Program)+"\x00") {
			return pid
		}
	}
	return 0
}

func TestReadFallsBackToTesseract(t *testing.T) {
	t.Parallel()
	for name, script := range map[string]string{"crashes": "kill -SEGV $$", "hangs": "sleep 60"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := readerOf(t, fakeNeural(t, script), 2*time.Second)
			got, err := r.Read(t.Context(), fixture.JPEG(t, fixture.Printed(t, "CORNER SHOP\nTotal 12.50", 30)))
			require.NoError(t, err)
			require.Equal(t, "12.50", got.Total)
			require.ErrorIs(t, got.failure, process.ErrFailed)
			require.False(t, got.Final(), "the neural engine may read more the next time")
		})
	}
}

// TestReadAfterNeuralEngineWasKilled kills and hangs the installed engine while it is warm.
func TestReadAfterNeuralEngineWasKilled(t *testing.T) {
	t.Parallel()
	r, dir := killableReader(t, time.Minute)
	file := fixture.JPEG(t, fixture.Printed(t, "CORNER SHOP\nTotal 12.50", 30))
	for range 2 {
		got, err := r.Read(t.Context(), file)
		require.NoError(t, err)
		require.Equal(t, "12.50", got.Total)
		require.NoError(t, got.failure)
		pid := processOf(t, dir)
		require.NoError(t, syscall.Kill(pid, syscall.SIGKILL))
		require.Eventually(t, func() bool { return syscall.Kill(pid, 0) != nil }, 10*time.Second, 10*time.Millisecond)
	}
}

func TestNewWithoutNeuralEngine(t *testing.T) {
	t.Parallel()
	for _, dir := range []string{"", t.TempDir(), "/nonexistent"} {
		r, err := New(Config{Neural: dir, Tesseract: "tesseract", Timeout: time.Minute}, time.Now)
		require.NoError(t, err)
		require.IsType(t, local{}, r.engine)
	}
}
