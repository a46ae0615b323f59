package ocr

import (
	"context"
	"image"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// neuralReader returns a reader with the installed neural engine. It skips the test if there is none: `make test` installs it.
func neuralReader(t *testing.T) reader {
	t.Helper()
	r := newTestReader()
	process := newNeuralProcess(os.Getenv("OCR_NEURAL"), time.Minute)
	if err := process.check(); err != nil {
		t.Skip(err)
	}
	t.Cleanup(process.stop)
	r.neural = process
	r.engine = neuralEngine{process: process, tesseract: r.engine.(local)}
	return r
}

// fakeNeural returns a process whose program is a shell script.
func fakeNeural(t *testing.T, script string) *neuralProcess {
	t.Helper()
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, neuralProgram), []byte("#!/bin/sh\n"+script+"\n"), 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "contents"), nil, 0o600))
	p := newNeuralProcess(dir, 2*time.Second)
	t.Cleanup(p.stop)
	return p
}

// responds is a script that reads one page of 8 x 8 pixels and responds without words.
const responds = `head -c 76 >/dev/null; printf '\002\000\000\000{}'; `

func page8() *image.Gray { return image.NewGray(image.Rect(0, 0, 8, 8)) }

func TestNeuralProcessServesSeveralPages(t *testing.T) {
	t.Parallel()
	starts := t.TempDir()
	// The process may not write files.
	p := fakeNeural(t, "mkdir "+starts+"/$$; while true; do "+responds+"done")
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			_, err := p.read(t.Context(), page8())
			require.NoError(t, err)
		})
	}
	all.Wait()
	started, err := os.ReadDir(starts)
	require.NoError(t, err)
	require.Len(t, started, 1)
	require.True(t, p.available())
}

func TestNeuralProcessRestartsAfterFailure(t *testing.T) {
	t.Parallel()
	for name, script := range map[string]string{
		"crashes":            "kill -SEGV $$",
		"exits":              "exit 0",
		"hangs":              "sleep 60",
		"prints nonsense":    "echo oops, this is not a response",
		"prints without end": "yes",
		"prints half":        `printf '\020\000\000\000{'`,
		"does not read":      "sleep 60 <&-",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			failed := filepath.Join(t.TempDir(), "failed")
			p := fakeNeural(t, "if [ ! -e "+failed+" ]; then touch "+failed+"; "+script+"; fi; "+responds+"cat >/dev/null")
			_, err := p.read(t.Context(), page8())
			require.ErrorIs(t, err, errEngine)
			require.False(t, p.available())
			require.Equal(t, int64(1), p.failures.Load())
			_, err = p.read(t.Context(), page8())
			require.NoError(t, err)
			require.True(t, p.available())
		})
	}
}

func TestNeuralProcessRestartsAfterItWasKilled(t *testing.T) {
	t.Parallel()
	p := fakeNeural(t, "while true; do "+responds+"done")
	_, err := p.read(t.Context(), page8())
	require.NoError(t, err)
	first := p.child
	first.signal()
	<-first.ended
	_, err = p.read(t.Context(), page8())
	require.NoError(t, err)
	require.NotSame(t, first, p.child)
}

func TestNeuralProcessIsKilledForCanceledRequest(t *testing.T) {
	t.Parallel()
	p := fakeNeural(t, "sleep 60 & sleep 60")
	p.limit = time.Minute
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	_, err := p.read(ctx, page8())
	require.ErrorIs(t, err, context.DeadlineExceeded)
	require.Nil(t, p.child)
	require.Zero(t, p.failures.Load(), "not the engine's failure")
}

func TestNeuralProcessEndsWhenIdle(t *testing.T) {
	t.Parallel()
	p := fakeNeural(t, "while true; do "+responds+"done")
	p.idle = 50 * time.Millisecond
	_, err := p.read(t.Context(), page8())
	require.NoError(t, err)
	p.turn <- struct{}{}
	child := p.child
	<-p.turn
	if child != nil {
		<-child.ended
	}
	_, err = p.read(t.Context(), page8())
	require.NoError(t, err)
}

func TestNeuralProcessNotInstalled(t *testing.T) {
	t.Parallel()
	for _, dir := range []string{"", t.TempDir(), "/nonexistent"} {
		p := newNeuralProcess(dir, time.Second)
		require.ErrorIs(t, p.check(), errNoNeural)
		require.False(t, p.available())
		r, err := newReader(Config{Neural: dir, Tesseract: "tesseract", Timeout: time.Minute})
		require.NoError(t, err)
		require.IsType(t, local{}, r.engine)
	}
}

func TestReadFallsBackToTesseract(t *testing.T) {
	t.Parallel()
	for name, script := range map[string]string{"crashes": "kill -SEGV $$", "hangs": "sleep 60"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newTestReader()
			r.engine = neuralEngine{process: fakeNeural(t, script), tesseract: r.engine.(local)}
			got, err := r.read(t.Context(), asJPEG(t, printed(t, "CORNER SHOP\nTotal 12.50", 30)))
			require.NoError(t, err)
			require.Equal(t, "12.50", got.Total)
			require.ErrorIs(t, got.failure, errEngine)
			require.False(t, got.final(), "the neural engine may read more the next time")
		})
	}
}

// TestReadAfterNeuralEngineWasKilled kills and hangs the installed engine while it is warm.
func TestReadAfterNeuralEngineWasKilled(t *testing.T) {
	t.Parallel()
	r := neuralReader(t)
	file := asJPEG(t, printed(t, "CORNER SHOP\nTotal 12.50", 30))
	for range 2 {
		got, err := r.read(t.Context(), file)
		require.NoError(t, err)
		require.Equal(t, "12.50", got.Total)
		require.NoError(t, got.failure)
		r.neural.child.signal()
		<-r.neural.child.ended
	}
}
