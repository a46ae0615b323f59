package worker

import (
	"bytes"
	"context"
	"errors"
	"image"
	"image/draw"
	"image/png"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/coffer-budget/coffer/internal/apierr"
	"github.com/coffer-budget/coffer/services/ocr/fixture"
	"github.com/coffer-budget/coffer/services/ocr/neural/process"
	"github.com/coffer-budget/coffer/services/ocr/recognition"
)

// TestReadMemory requires that no job with a large image allocates memory for its pixels in this
// process. A scan of A4 at 600 dpi has 35 million pixels.
func TestReadMemory(t *testing.T) { //nolint:paralleltest // It measures the process.
	page := image.NewGray(image.Rect(0, 0, 4961, 7016))
	draw.Draw(page, page.Rect, image.White, image.Point{}, draw.Src)
	text := fixture.Printed(t, "CORNER SHOP\nTotal 12.50", 80)
	draw.Draw(page, image.Rect(500, 500, 4961, 7016), text, image.Point{}, draw.Src)
	file := fixture.JPEG(t, page)
	reader := newTestReader(t, os.Getenv("OCR_NEURAL"))
	requireMemory(t, "read", func() {
		got, err := reader.Read(t.Context(), file)
		require.NoError(t, err)
		require.Equal(t, "12.50", got.Receipt.GetTotal())
	})
	requireMemory(t, "preview", func() {
		pages, err := reader.Preview(t.Context(), file, nil)
		require.NoError(t, err)
		require.Len(t, pages, 1)
	})
}

// requireMemory requires that a function allocates few megabytes in this process, also counting
// those that are freed again.
func requireMemory(t *testing.T, name string, f func()) {
	t.Helper()
	const most = 6 << 20
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(most), name)
}

// TestReadBadFiles requires that each file is rejected as unreadable, within limits of time and
// memory, and leaves no file or process.
func TestReadBadFiles(t *testing.T) { //nolint:paralleltest // It measures the process.
	// longest limits the processor time in seconds, including programs. Wall time would include
	// other tests.
	const longest = 20
	files := fixture.BadFiles(t)
	r := newTestReader(t, os.Getenv("OCR_NEURAL"))
	for _, name := range slices.Sorted(maps.Keys(files)) {
		start := fixture.ProcessorTime()
		requireMemory(t, name, func() {
			_, err := r.Read(t.Context(), files[name])
			// The bytes of some files claim an enormous size.
			if !errors.Is(err, recognition.ErrPixels) {
				require.ErrorIs(t, err, recognition.ErrParse, name)
			}
		})
		require.Less(t, fixture.ProcessorTime()-start, float64(longest), name)
		// The neural engine stays for the next image.
		require.Empty(t, fixture.Children(t, process.Program), name)
	}
}

// TestReadLimitsHeap has an image within the limits of package media whose pixels exceed the heap
// of the worker.
func TestReadLimitsHeap(t *testing.T) {
	t.Parallel()
	var file bytes.Buffer
	require.NoError(t, png.Encode(&file, image.NewNRGBA(image.Rect(0, 0, 7000, 7000))))
	r := newTestReader(t, "")
	_, err := r.Read(t.Context(), file.Bytes())
	require.ErrorIs(t, err, recognition.ErrParse, "blank")
	r.heap = 150 << 20
	_, err = r.Read(t.Context(), file.Bytes())
	require.ErrorIs(t, err, recognition.ErrResponse)
	_, err = r.Read(t.Context(), fixture.Small(t))
	require.NoError(t, err)
}

// TestReadEndsWithRequest has an engine that hangs. It ends when the request is canceled, and when
// the worker is killed.
func TestReadEndsWithRequest(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(cancel context.CancelFunc, worker int){
		"canceled": func(cancel context.CancelFunc, _ int) { cancel() },
		"killed": func(_ context.CancelFunc, worker int) {
			_ = syscall.Kill(worker, syscall.SIGKILL)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			pids := filepath.Join(t.TempDir(), "pids")
			reader := newTestReader(t, "")
			reader.config.Tesseract = fixture.Program(t,
				"echo $$ $PPID > "+pids+".new; mv "+pids+".new "+pids+"; exec sleep 60")
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			failed := make(chan error, 1)
			go func() {
				_, err := reader.Read(ctx, fixture.Small(t))
				failed <- err
			}()
			var engine, worker int
			require.Eventually(t, func() bool {
				text, _ := os.ReadFile(pids)
				fields := strings.Fields(string(text))
				if len(fields) != 2 {
					return false
				}
				engine, _ = strconv.Atoi(fields[0])
				worker, _ = strconv.Atoi(fields[1])
				return true
			}, time.Minute, 10*time.Millisecond)
			end(cancel, worker)
			if err := <-failed; name == "canceled" {
				require.ErrorIs(t, err, context.Canceled)
			} else {
				require.ErrorIs(t, err, recognition.ErrResponse)
			}
			require.Eventually(t, func() bool { return ended(engine) && ended(worker) },
				time.Minute, 10*time.Millisecond)
		})
	}
}

// ended reports whether a process is dead, or a zombie that init has not yet waited for.
func ended(pid int) bool {
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	return err != nil || strings.Contains(string(stat), ") Z ")
}

// TestReadDeadline has an engine that hangs until the deadline of the request.
func TestReadDeadline(t *testing.T) {
	t.Parallel()
	r := newTestReader(t, "")
	r.config.Tesseract = fixture.Program(t, "sleep 60")
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	_, err := r.Read(ctx, fixture.Small(t))
	require.ErrorIs(t, err, context.DeadlineExceeded)
}

// TestReadLimitsProcessorTime reads a file that takes more than its processor time: five pages with
// curves.
func TestReadLimitsProcessorTime(t *testing.T) {
	t.Parallel()
	reader := newTestReader(t, "")
	reader.config.Processor = time.Second
	file := fixture.CurvesPDF(5, 50_000)
	_, err := reader.ForReceipt().Read(t.Context(), file)
	require.ErrorIs(t, err, recognition.ErrComplex)
	requireDetail(t, err, "must take at most 1 s of processor time")
	_, err = reader.ForReceipt().Images(t.Context(), file)
	require.ErrorIs(t, err, recognition.ErrComplex)
	_, err = reader.ForReceipt().Preview(t.Context(), file, nil)
	require.ErrorIs(t, err, recognition.ErrComplex)

	reader.config.Processor = 30 * time.Second
	reader = reader.ForReceipt()
	_, err = reader.Read(t.Context(), fixture.Small(t))
	require.NoError(t, err)
	require.Less(t, *reader.left, 30*time.Second)
	*reader.left = 0
	_, err = reader.Images(t.Context(), fixture.Small(t))
	require.ErrorIs(t, err, recognition.ErrComplex)
	requireDetail(t, err, "must take at most 30 s of processor time")
}

// requireDetail requires that an error has one message for the field of the file.
func requireDetail(t *testing.T, err error, message string) {
	t.Helper()
	require.Equal(t, []apierr.Field{{Name: "receipt", Message: message}}, apierr.From(err).Fields)
}

func TestReadLimitsPixels(t *testing.T) {
	t.Parallel()
	reader := newTestReader(t, "")
	const most = "an image must have at most 50000000 pixels, and at most 20000 pixels on each edge"
	for name, file := range fixture.LargeImages(t) {
		_, err := reader.Read(t.Context(), file)
		require.ErrorIs(t, err, recognition.ErrComplex, name)
		requireDetail(t, err, most)
		_, err = reader.Images(t.Context(), file)
		require.ErrorIs(t, err, recognition.ErrComplex, name)
		requireDetail(t, err, most)
	}
}

// TestReadCountsNeuralEngine has an engine that takes more processor time than a receipt may, and
// then fails. Tesseract, which would read the receipt in less, has no time left.
func TestReadCountsNeuralEngine(t *testing.T) {
	t.Parallel()
	const busy = "i=0; while [ $i -lt 6000000 ]; do i=$((i+1)); done; exit 1"
	r := newTestReader(t, fixture.Neural(t, process.Program, busy))
	r.config.Processor = 2 * time.Second
	_, err := r.ForReceipt().Read(t.Context(), fixture.Small(t))
	require.ErrorIs(t, err, recognition.ErrComplex)
	requireDetail(t, err, "must take at most 2 s of processor time")
}

// TestReadExpensiveFiles reads the most expensive files. Each ends within its processor time, and
// the error names the limit if the file needs more.
func TestReadExpensiveFiles(t *testing.T) { //nolint:paralleltest // It measures the process.
	if testing.Short() {
		t.Skip("it takes about 30 seconds")
	}
	reader := newTestReader(t, os.Getenv("OCR_NEURAL"))
	page := fixture.JPEG(t, fixture.Static(2480, 3508))
	large := fixture.JPEG(t, fixture.Static(7071, 7071))
	scan := fixture.ScanPDF(page, 2480, 3508, 5, "[0 0 595 842]")
	const most = "must take at most 8 s of processor time"
	for _, tc := range []struct {
		name  string
		file  []byte
		limit time.Duration
		want  error
		// message is the detail of the error, or empty.
		message string
	}{
		{"curves", fixture.CurvesPDF(5, 250_000), 8 * time.Second, recognition.ErrComplex, most},
		{"noise", scan, 8 * time.Second, recognition.ErrComplex, most},
		// It takes 6 s.
		{"50 megapixels", large, 20 * time.Second, recognition.ErrParse, ""},
	} {
		reader.config.Processor = tc.limit
		start := fixture.ProcessorTime()
		_, err := reader.ForReceipt().Read(t.Context(), tc.file)
		used := fixture.ProcessorTime() - start
		t.Logf("%s: %d bytes, %.1f s, %v", tc.name, len(tc.file), used, err)
		require.ErrorIs(t, err, tc.want, tc.name)
		// The kernel counts in whole seconds, for the worker and for its last program.
		require.Less(t, used, (tc.limit + 3*time.Second).Seconds(), tc.name)
		if tc.message != "" {
			requireDetail(t, err, tc.message)
		}
	}
}
