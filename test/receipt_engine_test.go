package test

import (
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/coffer-budget/coffer/services/ocr/fixture"
	"github.com/coffer-budget/coffer/services/ocr/neural/process"
	"github.com/coffer-budget/coffer/services/ocr/ocrtest"
)

// TestReceiptsWhileNeuralEngineFails disturbs each process of the installed neural engine, on a
// separate stack, while users upload receipts. No receipt fails: Tesseract reads in between, and
// /readyz says so. Afterwards a new process reads. The kinds of disturbances use one stack, one
// after the other. The tests of package recognition also stop a process, which takes half of the
// time of a request to notice.
func TestReceiptsWhileNeuralEngineFails(t *testing.T) {
	t.Parallel()
	installed := os.Getenv("OCR_NEURAL")
	if err := process.New(installed, 0).Check(); err != nil {
		t.Skip(err)
	}
	// The path identifies the processes of this stack.
	dir := filepath.Join(t.TempDir(), "neural")
	require.NoError(t, os.Symlink(installed, dir))
	own := ownStack(t, os.Getenv("TEST_DATABASE_URL"),
		map[string]string{"RATE_LIMIT": "0", "OCR_NEURAL": dir, "OCR_ENGINE_TIMEOUT": "30s"})
	var grain atomic.Uint64
	for name, disturb := range map[string]func(t *testing.T, pid int){
		"killed":        func(_ *testing.T, pid int) { _ = syscall.Kill(pid, syscall.SIGKILL) },
		"out of memory": exhaustMemory(),
	} {
		t.Run(name, func(t *testing.T) {
			me := newUserAt(t, own.URL, "Ada")
			wallet, category := me.wallet("EUR", "0"), me.category("Food")
			upload := func() {
				photo, err := ocrtest.Photograph(groceries, 1_200_000, grain.Add(1))
				if err != nil {
					t.Error(err)
					return
				}
				a := me.upload("?dryRun=true", photo, "walletId", wallet, "categoryId", category)
				assert.Equal(t, http.StatusOK, a.status, a.raw)
				assert.Equal(t, "23.25", a.text("receipt.total"))
			}
			reader := func() string { return me.get("/readyz").text("receipts") }
			stop := make(chan struct{})
			var users sync.WaitGroup
			defer users.Wait()
			defer close(stop)
			for range 2 {
				users.Go(func() {
					for {
						select {
						case <-stop:
							return
						default:
							upload()
						}
					}
				})
			}
			require.Eventually(t, func() bool { return reader() == "neural" }, 3*time.Minute,
				50*time.Millisecond)
			require.Eventually(t, func() bool {
				if pid := fixture.ProcessOf(t, filepath.Join(dir, process.Program)); pid != 0 {
					disturb(t, pid)
				}
				return reader() == "fallback"
			}, 3*time.Minute, 10*time.Millisecond)
			require.Eventually(t, func() bool { return reader() == "neural" }, 3*time.Minute,
				50*time.Millisecond)
		})
	}
}

// exhaustMemory returns a function that lowers the limit of a process below the memory that it
// uses, so that its next allocation fails. A process that has read pages may need no further
// allocation. It is killed after a while, and its successor has to load the models. The process may
// have ended.
func exhaustMemory() func(t *testing.T, pid int) {
	seen := map[int]time.Time{}
	return func(t *testing.T, pid int) {
		t.Helper()
		if seen[pid].IsZero() {
			seen[pid] = time.Now()
		}
		if time.Since(seen[pid]) > 2*time.Second {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
		_ = exec.CommandContext(t.Context(), "prlimit", "--pid", strconv.Itoa(pid),
			"--data="+strconv.Itoa(32<<20)).Run()
	}
}
