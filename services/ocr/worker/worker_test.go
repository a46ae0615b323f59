package worker

import (
	"context"
	"image"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

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

// TestReadResult requires that a worker reads the same as the package in this process.
func TestReadResult(t *testing.T) {
	t.Parallel()
	folders := map[string]string{"tesseract": t.TempDir(), "neural": os.Getenv("OCR_NEURAL")}
	for name, dir := range folders {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			reader := newTestReader(t, dir)
			var engine recognition.Networks
			if reader.installed {
				engine = reader.Neural()
			} else if name == "neural" {
				t.Skip("the neural engine is not installed")
			}
			here, err := recognition.New(reader.config, engine, time.Now)
			require.NoError(t, err)
			text, want := fixture.GoldenText(t, "de")
			photograph := fixture.JPEG(t, fixture.Photograph(fixture.Printed(t, text, 26)))
			for _, file := range [][]byte{photograph, fixture.TextPDF(7, text)} {
				got, err := reader.Read(t.Context(), file)
				require.NoError(t, err)
				require.Equal(t, want.Total, got.Receipt.GetTotal())
				require.True(t, got.Final)
				read, err := here.Read(t.Context(), file)
				require.NoError(t, err)
				require.True(t, proto.Equal(read.Response().GetReceipt(), got.Receipt))

				wantImages, err := here.Images(t.Context(), file)
				require.NoError(t, err)
				images, err := reader.Images(t.Context(), file)
				require.NoError(t, err)
				require.Equal(t, wantImages, images)

				wantPages, err := here.Preview(t.Context(), file, got.Receipt.GetEvidence())
				require.NoError(t, err)
				pages, err := reader.Preview(t.Context(), file, got.Receipt.GetEvidence())
				require.NoError(t, err)
				require.Len(t, pages, len(wantPages))
				for i := range pages {
					require.True(t, proto.Equal(wantPages[i], pages[i]))
				}
			}
		})
	}
}

func TestReadWithBrokenWorker(t *testing.T) {
	t.Parallel()
	const asks = "head -c 800 /dev/zero >&4; head -c 1000 <&5 >/dev/null"
	for name, script := range map[string]string{
		"crashes":             "kill -SEGV $$",
		"is killed":           "kill -KILL $$",
		"fails":               "exit 1",
		"prints nothing":      "exit 0",
		"prints nonsense":     "echo oops",
		"prints half":         `printf '{"Final":true}\n\012\377'`,
		"prints without end":  "yes",
		"sends no page":       asks,
		"sends a wrong page":  "echo 0123456789abcdef >&3; " + asks,
		"closes its channels": "exec 3>&- 4>&- 5<&-",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newTestReader(t, fixture.Neural(t, process.Program, "sleep 60"))
			r.program = fixture.Program(t, script)
			_, err := r.Read(t.Context(), fixture.Small(t))
			require.ErrorIs(t, err, recognition.ErrResponse)
			_, err = r.Images(t.Context(), fixture.Small(t))
			require.ErrorIs(t, err, recognition.ErrResponse)
			require.Zero(t, r.Neural().Failures(), "not the engine's failure")
		})
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
	_, err := r.Read(t.Context(), fixture.Small(t))
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
		reader := newTestReader(t, "")
		reader.config.Vision = recognition.VisionConfig{
			URL: url, Model: "model", Timeout: time.Second, Fallback: true,
		}
		reader.config.Tesseract = fixture.Program(t,
			"bash -c 'exec 3<>/dev/tcp/127.0.0.1/"+port+"'"+
				" && echo connected > "+seen+" || echo denied > "+seen+"; exit 1")
		_, err = reader.Read(t.Context(), fixture.Small(t))
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
	r := newTestReader(t, fixture.Neural(t, process.Program, "exit 1"))
	got, err := r.Read(t.Context(), fixture.Small(t))
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
	line, err := newLine()
	require.NoError(t, err)
	engine := process.New(fixture.Neural(t, process.Program, "sleep 60"), time.Minute)
	t.Cleanup(engine.Stop)
	relayed := make(chan struct{})
	go func() {
		defer close(relayed)
		line.relay(t.Context(), engine)
	}()
	req, err := neural.NewRequest(image.NewGray(image.Rect(0, 0, 8, 8)))
	require.NoError(t, err)
	n := networks{page: line.page, deadlines: line.workerDeadlines, words: line.workerWords}
	for failures := range int64(2) {
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
		_, err = n.Read(ctx, req)
		cancel()
		require.ErrorContains(t, err, process.ErrFailed.Error())
		require.Equal(t, failures+1, engine.Failures())
	}
	line.close()
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
	reader := newTestReader(t, t.TempDir())
	reader.program = "/nonexistent"
	out, err := reader.Read(t.Context(), []byte("CORNER SHOP\n2026-11-20\nTotal EUR 12.50\n"))
	require.NoError(t, err)
	require.Equal(t, "12.50", out.Receipt.GetTotal())
	images, err := reader.Images(t.Context(), []byte("CORNER SHOP\nTotal EUR 12.50\n"))
	require.NoError(t, err)
	require.Empty(t, images)
	_, err = reader.Read(t.Context(), fixture.Small(t))
	require.ErrorIs(t, err, recognition.ErrResponse)
}
