package gateway

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/dynamicpb"

	"github.com/coffer-budget/coffer/gateway/internal/admission"
	"github.com/coffer-budget/coffer/internal/apierr"
	"github.com/coffer-budget/coffer/internal/rpc"
)

// TestUploadWaitsForTheService checks that a client can send only a few buffers more than the
// service receives.
func TestUploadWaitsForTheService(t *testing.T) {
	t.Parallel()
	files := newFiles(t, admission.UsualTransfers)
	proceed := make(chan struct{})
	var first *dynamicpb.Message
	var content bytes.Buffer
	files.upload = func(s *fileStream) error {
		<-proceed
		return collect(&first, &content)(s)
	}
	body, form, answer := files.openUpload(t.Context())
	writer, err := form.CreateFormFile("file", "a.pdf")
	require.NoError(t, err)
	var written sync.WaitGroup
	sent, piece := make(chan int, 10_000), make([]byte, 64<<10)
	written.Go(func() {
		for range 1024 { // 64 MB minus one piece for the form
			if _, err := writer.Write(piece); err != nil {
				return
			}
			sent <- len(piece)
		}
	})
	// The client stops: for 300 ms nothing more is accepted. Kernel buffers of the two connections
	// are a few megabytes.
	before := 0
	require.Eventually(t, func() bool {
		last := before
		before = len(sent)
		return last > 0 && before == last
	}, time.Minute, 300*time.Millisecond)
	require.Less(t, len(sent)*len(piece), 24<<20)
	close(proceed)
	written.Wait()
	require.NoError(t, form.Close())
	require.NoError(t, body.Close())
	require.Equal(t, http.StatusCreated, <-answer)
	require.Equal(t, 64<<20, content.Len())
}

func TestUploadEndsSlowSenders(t *testing.T) {
	t.Parallel()
	for name, limits := range map[string]admission.TransferLimits{
		"that send nothing": {
			Upload: time.Minute, Idle: 200 * time.Millisecond, Total: 1, PerCaller: 1,
		},
		"that send too long": {
			Upload: 200 * time.Millisecond, Idle: time.Minute, Total: 1, PerCaller: 1,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			files := newFiles(t, limits)
			var first *dynamicpb.Message
			files.upload = collect(&first, &bytes.Buffer{})
			_, form, answer := files.openUpload(t.Context())
			p, err := form.CreateFormFile("file", "a.pdf")
			require.NoError(t, err)
			_, err = p.Write(make([]byte, 3*rpc.MaxPiece))
			require.NoError(t, err)
			require.Error(t, <-files.ended, "the service does not see the end of the file")
			select {
			case status := <-answer:
				require.Contains(t, []int{0, http.StatusGatewayTimeout}, status)
			case <-time.After(20 * time.Second):
				require.Fail(t, "the request did not end")
			}
			// The place is free again.
			require.Eventually(t, func() bool {
				return files.uploadForm(file("file", "a", "x")).StatusCode == http.StatusCreated
			}, time.Minute, 20*time.Millisecond)
		})
	}
}

func TestUploadClientDisconnects(t *testing.T) {
	t.Parallel()
	files := newFiles(t, admission.UsualTransfers)
	var first *dynamicpb.Message
	files.upload = collect(&first, &bytes.Buffer{})
	ctx, cancel := context.WithCancel(t.Context())
	_, form, _ := files.openUpload(ctx)
	p, err := form.CreateFormFile("file", "a.pdf")
	require.NoError(t, err)
	_, err = p.Write(make([]byte, 3*rpc.MaxPiece))
	require.NoError(t, err)
	require.Eventually(t, func() bool { return files.received.Load() > 0 },
		time.Minute, time.Millisecond)
	cancel()
	require.Equal(t, codes.Canceled, status.Code(<-files.ended))
}

// TestUploadRejectedByService checks that the client sees the response although it is still
// sending.
func TestUploadRejectedByService(t *testing.T) {
	t.Parallel()
	files := newFiles(t, admission.UsualTransfers)
	for name, tc := range map[string]struct {
		upload func(*fileStream) error
		err    error
		status int
		code   string
	}{
		"at once": {
			func(*fileStream) error { return apierr.IdempotencyKeyUsed }, apierr.IdempotencyKeyUsed,
			http.StatusConflict, "IDEMPOTENCY_KEY_CONFLICT",
		},
		"at its limit": {func(s *fileStream) error {
			_, err := io.Copy(io.Discard, rpc.NewFileReader(1<<20, func() ([]byte, error) {
				m, err := s.receive()
				if err != nil {
					return nil, err
				}
				return m.Get(m.Descriptor().Fields().ByName("file")).Bytes(), nil
			}))
			return err
		}, apierr.PayloadTooLarge, http.StatusRequestEntityTooLarge, "PAYLOAD_TOO_LARGE"},
		"with success before the end": {
			func(s *fileStream) error { return s.reply(0) }, nil, http.StatusInternalServerError,
			"INTERNAL",
		},
		"with an internal error": {
			func(*fileStream) error { return io.ErrClosedPipe }, io.ErrClosedPipe,
			http.StatusInternalServerError, "INTERNAL",
		},
	} {
		files.upload = tc.upload
		files.requireFailure(files.uploadForm(file("file", "a", strings.Repeat("x", 12<<20))),
			tc.status, tc.code)
		require.Len(t, files.ended, 1)
		require.ErrorIs(t, <-files.ended, tc.err)
		require.Less(t, files.received.Swap(0), int64(3<<20), name)
	}
}

func TestUploadLimitsSimultaneousTransfers(t *testing.T) {
	t.Parallel()
	limits := admission.UsualTransfers
	limits.Total, limits.PerCaller = 3, 2
	files := newFiles(t, limits)
	var mu sync.Mutex
	running := 0
	release := make(chan struct{})
	files.upload = func(s *fileStream) error {
		mu.Lock()
		running++
		mu.Unlock()
		<-release
		var first *dynamicpb.Message
		return collect(&first, &bytes.Buffer{})(s)
	}
	var done sync.WaitGroup
	begin := func(token string, want int) {
		done.Go(func() {
			body, contentType := encodeForm(file("file", "a", "x"))
			require.Equal(t, http.StatusCreated, files.send("POST", filePath, string(body),
				"Content-Type", contentType, "Authorization", "Bearer "+token).StatusCode)
		})
		require.Eventually(t, func() bool {
			mu.Lock()
			defer mu.Unlock()
			return running == want
		}, time.Minute, time.Millisecond)
	}
	begin(files.token, 1)
	begin(files.token, 2)
	got := files.uploadForm(file("file", "a", "x"))
	files.requireFailure(got, http.StatusTooManyRequests, "RATE_LIMITED")
	require.NotEmpty(t, got.Header.Get("Retry-After"))
	got = files.send("GET", filePath, "")
	files.requireFailure(got, http.StatusTooManyRequests, "RATE_LIMITED")
	begin(files.newToken(t, time.Hour), 3)
	body, contentType := encodeForm(file("file", "a", "x"))
	got = files.send("POST", filePath, string(body), "Content-Type", contentType,
		"Authorization", "Bearer "+files.newToken(t, time.Hour))
	files.requireFailure(got, http.StatusServiceUnavailable, "SERVICE_UNAVAILABLE")
	close(release)
	done.Wait()
	require.Eventually(t, func() bool {
		return files.uploadForm(file("file", "a", "x")).StatusCode == http.StatusCreated
	}, time.Minute, time.Millisecond)
}
