package recognition

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/coffer-budget/coffer/services/ocr/fixture"
	"github.com/coffer-budget/coffer/services/ocr/imaging"
	"github.com/coffer-budget/coffer/services/ocr/neural/process"
)

// neuralReader returns a reader with the installed neural engine. It skips the test if there is
// none: `make test` installs it.
func neuralReader(t *testing.T) Reader {
	t.Helper()
	r, _ := killableReader(t, time.Minute)
	return r
}

// killableReader is neuralReader with a time limit for a page. It returns the folder of the engine,
// too, which no other test uses.
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
	networks := process.New(dir, limit)
	if err := networks.Check(); err != nil {
		t.Skip(err)
	}
	t.Cleanup(networks.Stop)
	r.engine = neuralEngine{networks: networks, tesseract: r.engine.(local)}
	return r
}

func TestReadFallsBackToTesseract(t *testing.T) {
	t.Parallel()
	for name, script := range map[string]string{"crashes": "kill -SEGV $$", "hangs": "sleep 60"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := readerOf(t, fixture.Neural(t, process.Program, script), 2*time.Second)
			got, err := r.Read(t.Context(), fixture.Small(t))
			require.NoError(t, err)
			require.Equal(t, "12.50", got.Total)
			require.ErrorIs(t, got.Failure, process.ErrFailed)
			require.False(t, got.Final(), "the neural engine may read more the next time")
			warnings := got.Response().GetReceipt().GetWarnings()
			require.Equal(t, string(warnFallback), warnings[len(warnings)-1].GetCode())
		})
	}
}

// TestReadAfterNeuralEngineWasKilled kills and hangs the installed engine while it is warm.
func TestReadAfterNeuralEngineWasKilled(t *testing.T) {
	t.Parallel()
	r, dir := killableReader(t, time.Minute)
	file := fixture.Small(t)
	for range 2 {
		got, err := r.Read(t.Context(), file)
		require.NoError(t, err)
		require.Equal(t, "12.50", got.Total)
		require.NoError(t, got.Failure)
		pid := fixture.ProcessOf(t, filepath.Join(dir, process.Program))
		require.NoError(t, syscall.Kill(pid, syscall.SIGKILL))
		require.Eventually(t, func() bool { return syscall.Kill(pid, 0) != nil },
			time.Minute, 10*time.Millisecond)
	}
}

// TestReadWhileNeuralEngineIsKilled kills and stops the installed engine in the middle of a
// receipt.
func TestReadWhileNeuralEngineIsKilled(t *testing.T) {
	t.Parallel()
	text, want := fixture.GoldenText(t, "en_us")
	file := fixture.JPEG(t, fixture.Photograph(imaging.Rotate(fixture.Printed(t, text, 26), 0.03)))
	signals := map[string]syscall.Signal{"killed": syscall.SIGKILL, "stopped": syscall.SIGSTOP}
	for name, signal := range signals {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			reader, dir := killableReader(t, 15*time.Second)
			read := make(chan Reading, 1)
			go func() {
				got, err := reader.Read(t.Context(), file)
				assert.NoError(t, err)
				read <- got
			}()
			// The process loads its models for half a second, so it cannot have responded when it
			// appears.
			pid := 0
			program := filepath.Join(dir, process.Program)
			require.Eventually(t, func() bool {
				pid = fixture.ProcessOf(t, program)
				return pid != 0
			}, time.Minute, time.Millisecond)
			require.NoError(t, syscall.Kill(pid, signal))
			got := <-read
			require.Equal(t, want, shown(got.Receipt))
			require.ErrorIs(t, got.Failure, process.ErrFailed)
			require.False(t, got.Final())
			again, err := reader.Read(t.Context(), file)
			require.NoError(t, err)
			require.Equal(t, want.Total, again.Total)
			require.True(t, again.Final(), "the next receipt has a new process")
		})
	}
}

// TestReadPDFWithBrokenSecondPage has an engine that fails on the second page. The receipt is on
// the first one.
func TestReadPDFWithBrokenSecondPage(t *testing.T) {
	t.Parallel()
	img := fixture.Printed(t, "CORNER SHOP\nTotal 12.50", 30)
	file := fixture.Scan(t, img, 2)
	requireRead := func(t *testing.T, r Reader) {
		t.Helper()
		got, err := r.Read(t.Context(), file)
		require.NoError(t, err)
		require.Equal(t, "12.50", got.Total)
		require.False(t, got.Final())
		for _, e := range got.Evidence {
			require.Equal(t, 1, e.Page, e.Field)
		}
	}
	// once returns a script whose first run succeeds. All others fail.
	once := func(t *testing.T) string {
		t.Helper()
		ran := filepath.Join(t.TempDir(), "ran")
		return `if [ -e ` + ran + ` ]; then kill -SEGV $$; fi; touch ` + ran + `; exec `
	}
	t.Run("Tesseract", func(t *testing.T) {
		t.Parallel()
		r := newTestReader()
		r.engine = scripted(t, once(t)+`tesseract "$@"`, time.Minute)
		requireRead(t, r)
	})
	t.Run("both engines", func(t *testing.T) {
		t.Parallel()
		neuralReader(t)
		// The script passes the first page to the installed engine, and ends. It cannot start
		// again. Tesseract always fails.
		ran, dir := filepath.Join(t.TempDir(), "ran"), os.Getenv("OCR_NEURAL")
		script := "[ -e " + ran + " ] && exit 1; touch " + ran + `
			head=$(head -c 12 | od -An -v -to1 | sed 's/ /\\/g')
			set -- $(printf "$head" | od -An -tu4)
			{ printf "$head"; head -c $(($2 * $3)); } | ` +
			filepath.Join(dir, process.Program) + " " + dir
		r := readerOf(t, fixture.Neural(t, process.Program, script), time.Minute)
		crashing := scripted(t, "kill -SEGV $$", time.Minute)
		r.engine = neuralEngine{r.engine.(neuralEngine).networks, crashing}
		requireRead(t, r)
	})
}
