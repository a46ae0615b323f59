package process

import (
	"context"
	"image"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/coffer-budget/coffer/services/ocr/fixture"
	"github.com/coffer-budget/coffer/services/ocr/neural"
)

// fake returns a process whose program is a shell script.
func fake(t *testing.T, script string) *Process {
	t.Helper()
	p := New(fixture.Neural(t, Program, script), 2*time.Second)
	t.Cleanup(p.Stop)
	return p
}

// responds is a script that reads one page of 8 x 8 pixels and responds without words.
const responds = `head -c 76 >/dev/null; printf '\002\000\000\000{}'; `

func page8(t *testing.T) neural.Request {
	t.Helper()
	return request(t, image.NewGray(image.Rect(0, 0, 8, 8)))
}

func request(t *testing.T, img *image.Gray) neural.Request {
	t.Helper()
	req, err := neural.NewRequest(img)
	require.NoError(t, err)
	return req
}

func TestNeuralProcessServesSeveralPages(t *testing.T) {
	t.Parallel()
	starts := t.TempDir()
	// The process may not write files.
	process := fake(t, "mkdir "+starts+"/$$; while true; do "+responds+"done")
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			_, err := process.Read(t.Context(), page8(t))
			require.NoError(t, err)
		})
	}
	all.Wait()
	started, err := os.ReadDir(starts)
	require.NoError(t, err)
	require.Len(t, started, 1)
	require.True(t, process.Available())
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
			failOnce := "[ -e " + failed + " ] || { touch " + failed + "; " + script + "; }; "
			p := fake(t, failOnce+responds+"cat >/dev/null")
			_, err := p.Read(t.Context(), page8(t))
			require.ErrorIs(t, err, ErrFailed)
			require.False(t, p.Available())
			require.Equal(t, int64(1), p.Failures())
			_, err = p.Read(t.Context(), page8(t))
			require.NoError(t, err)
			require.True(t, p.Available())
		})
	}
}

// TestNeuralProcessMeasuresProcessorTime has a process that counts before it responds, or until it
// is killed.
func TestNeuralProcessMeasuresProcessorTime(t *testing.T) {
	t.Parallel()
	const busy = "i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done; "
	process := fake(t, "while true; do "+busy+responds+"done")
	process.limit = time.Minute
	page, err := process.Read(t.Context(), page8(t))
	require.NoError(t, err)
	require.Greater(t, page.Processor, 20*time.Millisecond)

	process = fake(t, "while true; do :; done")
	process.limit = 3 * time.Second
	page, err = process.Read(t.Context(), page8(t))
	require.ErrorIs(t, err, ErrFailed)
	require.Greater(t, page.Processor, 20*time.Millisecond)
}

func TestNeuralProcessRestartsAfterItWasKilled(t *testing.T) {
	t.Parallel()
	p := fake(t, "while true; do "+responds+"done")
	_, err := p.Read(t.Context(), page8(t))
	require.NoError(t, err)
	first := p.child
	first.signal()
	<-first.ended
	_, err = p.Read(t.Context(), page8(t))
	require.NoError(t, err)
	require.NotSame(t, first, p.child)
}

// TestNeuralProcessRepeatsPageAfterItWasKilled has a process that ends with the second page, as if
// it was killed.
func TestNeuralProcessRepeatsPageAfterItWasKilled(t *testing.T) {
	t.Parallel()
	p := fake(t, responds+"head -c 76 >/dev/null; kill -KILL $$")
	for range 3 {
		_, err := p.Read(t.Context(), page8(t))
		require.NoError(t, err)
	}
	require.True(t, p.Available())
	require.Zero(t, p.Failures())
}

func TestNeuralProcessIsAvailableAgainWithoutPages(t *testing.T) {
	t.Parallel()
	p := fake(t, "exit 0")
	p.recovery = 200 * time.Millisecond
	_, err := p.Read(t.Context(), page8(t))
	require.ErrorIs(t, err, ErrFailed)
	require.Eventually(t, p.Available, time.Minute, 10*time.Millisecond)
}

// TestNeuralProcessLimitsWait has another page that occupies the process.
func TestNeuralProcessLimitsWait(t *testing.T) {
	t.Parallel()
	p := fake(t, "while true; do "+responds+"done")
	p.limit = 50 * time.Millisecond
	p.turn <- struct{}{}
	_, err := p.Read(t.Context(), page8(t))
	require.ErrorIs(t, err, ErrFailed)
	require.Zero(t, p.Failures(), "the process did not fail")
	<-p.turn
}

func TestNeuralProcessIsKilledForCanceledRequest(t *testing.T) {
	t.Parallel()
	p := fake(t, "sleep 60 & sleep 60")
	p.limit = time.Minute
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	_, err := p.Read(ctx, page8(t))
	require.ErrorIs(t, err, context.DeadlineExceeded)
	require.Nil(t, p.child)
	require.Zero(t, p.Failures(), "not the engine's failure")
}

func TestNeuralProcessFailsIfAttemptTakesTooLong(t *testing.T) {
	t.Parallel()
	p := fake(t, "sleep 60")
	p.limit = time.Minute
	ctx, cancel := context.WithTimeoutCause(t.Context(), 300*time.Millisecond, ErrAttemptTooLong)
	defer cancel()
	_, err := p.Read(ctx, page8(t))
	require.ErrorIs(t, err, ErrFailed)
	require.Equal(t, int64(1), p.Failures())
	require.False(t, p.Available())
}

func TestNeuralProcessEndsWhenIdle(t *testing.T) {
	t.Parallel()
	process := fake(t, "while true; do "+responds+"done")
	process.idle = 50 * time.Millisecond
	_, err := process.Read(t.Context(), page8(t))
	require.NoError(t, err)
	process.turn <- struct{}{}
	child := process.child
	<-process.turn
	if child != nil {
		<-child.ended
	}
	_, err = process.Read(t.Context(), page8(t))
	require.NoError(t, err)
}

func TestNeuralProcessNotInstalled(t *testing.T) {
	t.Parallel()
	for _, dir := range []string{"", t.TempDir(), "/nonexistent"} {
		p := New(dir, time.Second)
		require.ErrorIs(t, p.Check(), ErrNotInstalled)
		require.False(t, p.Available())
	}
}

// installed returns the process of the installed engine. It skips the test if there is none: `make
// test` installs it.
func installed(t *testing.T) *Process {
	t.Helper()
	p := New(os.Getenv("OCR_NEURAL"), time.Minute)
	if err := p.Check(); err != nil {
		t.Skip(err)
	}
	t.Cleanup(p.Stop)
	return p
}

// TestNeuralProcessReadsHostileImages sends images that are made to exhaust the neural engine. It
// requires that the engine responds within its limits of time and memory.
func TestNeuralProcessReadsHostileImages(t *testing.T) {
	t.Parallel()
	process := installed(t)
	// maxEdge is the largest edge of an image that package media decodes.
	const maxEdge = 20_000
	dashes := image.NewGray(image.Rect(0, 0, 2000, 2000))
	dots := image.NewGray(image.Rect(0, 0, 3000, 3000))
	for i := range dashes.Pix {
		if x, y := i%2000, i/2000; y%24 > 8 || x%40 > 28 {
			dashes.Pix[i] = 255
		}
	}
	for i := range dots.Pix {
		if x, y := i%3000, i/3000; y%6 > 2 || x%6 > 2 {
			dots.Pix[i] = 255
		}
	}
	for name, img := range map[string]*image.Gray{
		"dashes": dashes, "dots": dots, "noise": fixture.Static(2000, 2000),
		"one row": fixture.Static(maxEdge, 40), "one column": fixture.Static(40, maxEdge),
		"one pixel": fixture.Static(1, 1), "black": image.NewGray(image.Rect(0, 0, 3000, 4000)),
	} {
		_, err := process.Read(t.Context(), request(t, img))
		require.NoError(t, err, name)
	}
	require.Less(t, fixture.PeakMemory(t, process.child.cmd.Process.Pid), 400)
}
