package worker

import (
	"bytes"
	"context"
	"errors"
	"image"
	"image/draw"
	"image/png"
	"maps"
	"net"
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
	"google.golang.org/protobuf/proto"

	"github.com/coffer-budget/coffer/internal/apierr"
	"github.com/coffer-budget/coffer/services/ocr/fixture"
	"github.com/coffer-budget/coffer/services/ocr/neural"
	"github.com/coffer-budget/coffer/services/ocr/neural/process"
	"github.com/coffer-budget/coffer/services/ocr/recognition"
)

// newTestReader returns a reader with the neural engine of a folder. Without one there, Tesseract
// is its only engine.
func newTestReader(t *testing.T, neural string) Reader {
	t.Helper()
	r, err := New(recognition.Config{Neural: neural, Tesseract: "tesseract", Timeout: time.Minute})
	require.NoError(t, err)
	t.Cleanup(r.Neural().Stop)
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

func receipt(t *testing.T) []byte {
	t.Helper()
	return fixture.JPEG(t, fixture.Printed(t, "CORNER SHOP\nTotal 12.50", 30))
}

// TestReadResult requires that a worker reads the same as the package in this process.
func TestReadResult(t *testing.T) {
	t.Parallel()
	for name, dir := range map[string]string{"tesseract": t.TempDir(), "neural": os.Getenv("OCR_NEURAL")} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newTestReader(t, dir)
			var engine recognition.Networks
			if r.installed {
				engine = r.Neural()
			} else if name == "neural" {
				t.Skip("the neural engine is not installed")
			}
			here, err := recognition.New(r.config, engine, time.Now)
			require.NoError(t, err)
			text, want := fixture.GoldenText(t, "de")
			for _, file := range [][]byte{fixture.JPEG(t, fixture.Photograph(fixture.Printed(t, text, 26))), fixture.TextPDF(7, text)} {
				got, err := r.Read(t.Context(), file)
				require.NoError(t, err)
				require.Equal(t, want.Total, got.Receipt.GetTotal())
				require.True(t, got.Final)
				read, err := here.Read(t.Context(), file)
				require.NoError(t, err)
				require.True(t, proto.Equal(read.Proto(), got.Receipt))

				wantImages, err := here.Images(t.Context(), file)
				require.NoError(t, err)
				images, err := r.Images(t.Context(), file)
				require.NoError(t, err)
				require.Equal(t, wantImages, images)

				wantPages, err := here.Preview(t.Context(), file, got.Receipt.GetEvidence())
				require.NoError(t, err)
				pages, err := r.Preview(t.Context(), file, got.Receipt.GetEvidence())
				require.NoError(t, err)
				require.Len(t, pages, len(wantPages))
				for i := range pages {
					require.True(t, proto.Equal(wantPages[i], pages[i]))
				}
			}
		})
	}
}

// TestReadMemory requires that no job with a large image allocates memory for its pixels in this
// process. A scan of A4 at 600 dpi has 35 million pixels.
func TestReadMemory(t *testing.T) { //nolint:paralleltest // It measures the process.
	page := image.NewGray(image.Rect(0, 0, 4961, 7016))
	draw.Draw(page, page.Rect, image.White, image.Point{}, draw.Src)
	draw.Draw(page, image.Rect(500, 500, 4961, 7016), fixture.Printed(t, "CORNER SHOP\nTotal 12.50", 80), image.Point{}, draw.Src)
	file := fixture.JPEG(t, page)
	r := newTestReader(t, os.Getenv("OCR_NEURAL"))
	requireMemory(t, "read", func() {
		got, err := r.Read(t.Context(), file)
		require.NoError(t, err)
		require.Equal(t, "12.50", got.Receipt.GetTotal())
	})
	requireMemory(t, "preview", func() {
		pages, err := r.Preview(t.Context(), file, nil)
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

func TestReadWithBrokenWorker(t *testing.T) {
	t.Parallel()
	for name, script := range map[string]string{
		"crashes":             "kill -SEGV $$",
		"is killed":           "kill -KILL $$",
		"fails":               "exit 1",
		"prints nothing":      "exit 0",
		"prints nonsense":     "echo oops",
		"prints half":         `printf '{"Final":true}\n\012\377'`,
		"prints without end":  "yes",
		"sends no page":       "head -c 800 /dev/zero >&4; head -c 1000 <&5 >/dev/null",
		"sends a wrong page":  "echo 0123456789abcdef >&3; head -c 800 /dev/zero >&4; head -c 1000 <&5 >/dev/null",
		"closes its channels": "exec 3>&- 4>&- 5<&-",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newTestReader(t, fakeNeural(t, "sleep 60"))
			r.program = fixture.Program(t, script)
			_, err := r.Read(t.Context(), receipt(t))
			require.ErrorIs(t, err, recognition.ErrResponse)
			_, err = r.Images(t.Context(), receipt(t))
			require.ErrorIs(t, err, recognition.ErrResponse)
			require.Zero(t, r.Neural().Failures(), "not the engine's failure")
		})
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
	_, err = r.Read(t.Context(), receipt(t))
	require.NoError(t, err)
}

// TestReadEndsWithRequest has an engine that hangs. It ends when the request is canceled, and when
// the worker is killed.
func TestReadEndsWithRequest(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(cancel context.CancelFunc, worker int){
		"canceled": func(cancel context.CancelFunc, _ int) { cancel() },
		"killed":   func(_ context.CancelFunc, worker int) { _ = syscall.Kill(worker, syscall.SIGKILL) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			pids := filepath.Join(t.TempDir(), "pids")
			r := newTestReader(t, "")
			r.config.Tesseract = fixture.Program(t, "echo $$ $PPID > "+pids+".new; mv "+pids+".new "+pids+"; exec sleep 60")
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			failed := make(chan error, 1)
			go func() {
				_, err := r.Read(ctx, receipt(t))
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
			require.Eventually(t, func() bool { return ended(engine) && ended(worker) }, time.Minute, 10*time.Millisecond)
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
	_, err := r.Read(ctx, receipt(t))
	require.ErrorIs(t, err, context.DeadlineExceeded)
}

// TestReadLimitsProcessorTime reads a file that takes more than its processor time: five pages with
// curves.
func TestReadLimitsProcessorTime(t *testing.T) {
	t.Parallel()
	r := newTestReader(t, "")
	r.config.Processor = time.Second
	file := fixture.CurvesPDF(5, 50_000)
	_, err := r.ForReceipt().Read(t.Context(), file)
	require.ErrorIs(t, err, recognition.ErrComplex)
	requireDetail(t, err, "must take at most 1 s of processor time")
	_, err = r.ForReceipt().Images(t.Context(), file)
	require.ErrorIs(t, err, recognition.ErrComplex)
	_, err = r.ForReceipt().Preview(t.Context(), file, nil)
	require.ErrorIs(t, err, recognition.ErrComplex)

	r.config.Processor = 30 * time.Second
	r = r.ForReceipt()
	_, err = r.Read(t.Context(), receipt(t))
	require.NoError(t, err)
	require.Less(t, *r.left, 30*time.Second)
	*r.left = 0
	_, err = r.Images(t.Context(), receipt(t))
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
	r := newTestReader(t, "")
	const most = "an image must have at most 50000000 pixels, and at most 20000 pixels on each edge"
	for name, file := range fixture.LargeImages(t) {
		_, err := r.Read(t.Context(), file)
		require.ErrorIs(t, err, recognition.ErrComplex, name)
		requireDetail(t, err, most)
		_, err = r.Images(t.Context(), file)
		require.ErrorIs(t, err, recognition.ErrComplex, name)
		requireDetail(t, err, most)
	}
}

// TestReadCountsNeuralEngine has an engine that takes more processor time than a receipt may, and
// then fails. Tesseract, which would read the receipt in less, has no time left.
func TestReadCountsNeuralEngine(t *testing.T) {
	t.Parallel()
	r := newTestReader(t, fakeNeural(t, "i=0; while [ $i -lt 6000000 ]; do i=$((i+1)); done; exit 1"))
	r.config.Processor = 2 * time.Second
	_, err := r.ForReceipt().Read(t.Context(), receipt(t))
	require.ErrorIs(t, err, recognition.ErrComplex)
	requireDetail(t, err, "must take at most 2 s of processor time")
}

// TestReadExpensiveFiles reads the most expensive files. Each ends within its processor time, and
// the error names the limit if the file needs more.
func TestReadExpensiveFiles(t *testing.T) { //nolint:paralleltest // It measures the process.
	if testing.Short() {
		t.Skip("it takes about 30 seconds")
	}
	r := newTestReader(t, os.Getenv("OCR_NEURAL"))
	page, large := fixture.JPEG(t, fixture.Static(2480, 3508)), fixture.JPEG(t, fixture.Static(7071, 7071))
	scan := fixture.ScanPDF(page, 2480, 3508, 5, "[0 0 595 842]")
	const most = "must take at most 8 s of processor time"
	for _, c := range []struct {
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
		r.config.Processor = c.limit
		start := fixture.ProcessorTime()
		_, err := r.ForReceipt().Read(t.Context(), c.file)
		used := fixture.ProcessorTime() - start
		t.Logf("%s: %d bytes, %.1f s, %v", c.name, len(c.file), used, err)
		require.ErrorIs(t, err, c.want, c.name)
		// The kernel counts in whole seconds, for the worker and for its last program.
		require.Less(t, used, (c.limit + 3*time.Second).Seconds(), c.name)
		if c.message != "" {
			requireDetail(t, err, c.message)
		}
	}
}

// TestReadInheritsNoSecrets has a worker that writes its environment and its folder, and leaves a
// file.
func TestReadInheritsNoSecrets(t *testing.T) {
	t.Setenv("PGPASSWORD", "secret")
	t.Setenv("TZ", "Asia/Tokyo")
	seen := filepath.Join(t.TempDir(), "seen")
	r := newTestReader(t, "")
	r.program = fixture.Program(t, "env > "+seen+"; echo left > $TMPDIR/left; mkdir $TMPDIR/folder")
	_, err := r.Read(t.Context(), receipt(t))
	require.ErrorIs(t, err, recognition.ErrResponse)
	text, err := os.ReadFile(seen)
	require.NoError(t, err)
	require.NotContains(t, string(text), "PGPASSWORD")
	require.Contains(t, string(text), "TZ=Asia/Tokyo\n")
	_, folder, found := strings.Cut(string(text), "TMPDIR=")
	require.True(t, found)
	folder, _, _ = strings.Cut(folder, "\n")
	require.NoDirExists(t, folder)
}

// TestReadConfinesEngine has an engine that tries to connect to this process. It may connect only
// if a worker needs the network.
func TestReadConfinesEngine(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("only Linux has a filter of system calls")
	}
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { _ = listener.Close() })
	_, port, err := net.SplitHostPort(listener.Addr().String())
	require.NoError(t, err)
	for url, want := range map[string]string{"": "denied\n", "http://127.0.0.1:1": "connected\n"} {
		seen := filepath.Join(t.TempDir(), "seen")
		r := newTestReader(t, "")
		r.config.Vision = recognition.VisionConfig{URL: url, Model: "model", Timeout: time.Second, Fallback: true}
		r.config.Tesseract = fixture.Program(t, "bash -c 'exec 3<>/dev/tcp/127.0.0.1/"+port+"' && echo connected > "+seen+" || echo denied > "+seen+"; exit 1")
		_, err = r.Read(t.Context(), receipt(t))
		require.ErrorIs(t, err, recognition.ErrResponse)
		text, err := os.ReadFile(seen)
		require.NoError(t, err)
		require.Equal(t, want, string(text))
	}
}

// TestReadWithNeuralEngineThatFails requires that Tesseract reads the receipt, and that the service
// knows of the failure.
func TestReadWithNeuralEngineThatFails(t *testing.T) {
	t.Parallel()
	r := newTestReader(t, fakeNeural(t, "exit 1"))
	got, err := r.Read(t.Context(), receipt(t))
	require.NoError(t, err)
	require.Equal(t, "12.50", got.Receipt.GetTotal())
	require.Contains(t, got.Failure, process.ErrFailed.Error())
	require.False(t, got.Final)
	require.True(t, got.TesseractAlone)
	require.Equal(t, int64(1), r.Neural().Failures())
	require.False(t, r.Neural().Available())
}

// TestRelayLimitsAttempt has an engine that hangs until the deadline of the attempt, while the
// request has no deadline.
func TestRelayLimitsAttempt(t *testing.T) {
	t.Parallel()
	l, err := newLine()
	require.NoError(t, err)
	engine := process.New(fakeNeural(t, "sleep 60"), time.Minute)
	t.Cleanup(engine.Stop)
	relayed := make(chan struct{})
	go func() {
		defer close(relayed)
		l.relay(t.Context(), engine)
	}()
	req, err := neural.NewRequest(image.NewGray(image.Rect(0, 0, 8, 8)))
	require.NoError(t, err)
	n := networks{page: l.page, deadlines: l.workerDeadlines, words: l.workerWords}
	for failures := range int64(2) {
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
		_, err = n.Read(ctx, req)
		cancel()
		require.ErrorContains(t, err, process.ErrFailed.Error())
		require.Equal(t, failures+1, engine.Failures())
	}
	l.close()
	<-relayed
}

func TestNewRejectsConfiguration(t *testing.T) {
	t.Parallel()
	_, err := New(recognition.Config{Vision: recognition.VisionConfig{URL: "ftp://host"}})
	require.Error(t, err)
}

func TestNewWithoutNeuralEngine(t *testing.T) {
	t.Parallel()
	for _, dir := range []string{"", t.TempDir(), "/nonexistent"} {
		require.False(t, newTestReader(t, dir).installed)
	}
}

func TestReadTextStartsNoWorker(t *testing.T) {
	t.Parallel()
	r := newTestReader(t, t.TempDir())
	r.program = "/nonexistent"
	out, err := r.Read(t.Context(), []byte("CORNER SHOP\n2026-11-20\nTotal EUR 12.50\n"))
	require.NoError(t, err)
	require.Equal(t, "12.50", out.Receipt.GetTotal())
	images, err := r.Images(t.Context(), []byte("CORNER SHOP\nTotal EUR 12.50\n"))
	require.NoError(t, err)
	require.Empty(t, images)
	_, err = r.Read(t.Context(), receipt(t))
	require.ErrorIs(t, err, recognition.ErrResponse)
}
