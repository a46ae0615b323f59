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
	b := newFiles(t, admission.UsualTransfers)
	proceed := make(chan struct{})
	var first *dynamicpb.Message
	var content bytes.Buffer
	b.upload = func(s *fileStream) error {
		<-proceed
		return collect(&first, &content)(s)
	}
	body, form, answer := b.openUpload(t.Context())
	p, err := form.CreateFormFile("file", "a.pdf")
	require.NoError(t, err)
	var written sync.WaitGroup
	sent, piece := make(chan int, 10_000), make([]byte, 64<<10)
	written.Go(func() {
		for range 1024 { // 64 MB minus one piece for the form
			if _, err := p.Write(piece); err != nil {
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
			b := newFiles(t, limits)
			var first *dynamicpb.Message
			b.upload = collect(&first, &bytes.Buffer{})
			_, form, answer := b.openUpload(t.Context())
			p, err := form.CreateFormFile("file", "a.pdf")
			require.NoError(t, err)
			_, err = p.Write(make([]byte, 3*rpc.MaxPiece))
			require.NoError(t, err)
			require.Error(t, <-b.ended, "the service does not see the end of the file")
			select {
			case status := <-answer:
				require.Contains(t, []int{0, http.StatusGatewayTimeout}, status)
			case <-time.After(20 * time.Second):
				require.Fail(t, "the request did not end")
			}
			// The place is free again.
			require.Eventually(t, func() bool {
				return b.uploadForm(file("file", "a", "x")).StatusCode == http.StatusCreated
			}, time.Minute, 20*time.Millisecond)
		})
	}
}

func TestUploadClientDisconnects(t *testing.T) {
	t.Parallel()
	b := newFiles(t, admission.UsualTransfers)
	var first *dynamicpb.Message
	b.upload = collect(&first, &bytes.Buffer{})
	ctx, cancel := context.WithCancel(t.Context())
	_, form, _ := b.openUpload(ctx)
	p, err := form.CreateFormFile("file", "a.pdf")
	require.NoError(t, err)
	_, err = p.Write(make([]byte, 3*rpc.MaxPiece))
	require.NoError(t, err)
	require.Eventually(t, func() bool { return b.received.Load() > 0 },
		time.Minute, time.Millisecond)
	cancel()
	require.Equal(t, codes.Canceled, status.Code(<-b.ended))
}

// TestUploadRejectedByService checks that the client sees the response although it is still
// sending.
func TestUploadRejectedByService(t *testing.T) {
	t.Parallel()
	b := newFiles(t, admission.UsualTransfers)
	for name, c := range map[string]struct {
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
		b.upload = c.upload
		b.requireFailure(b.uploadForm(file("file", "a", strings.Repeat("x", 12<<20))),
			c.status, c.code)
		require.Len(t, b.ended, 1)
		require.ErrorIs(t, <-b.ended, c.err)
		require.Less(t, b.received.Swap(0), int64(3<<20), name)
	}
}

func TestUploadLimitsSimultaneousTransfers(t *testing.T) {
	t.Parallel()
	limits := admission.UsualTransfers
	limits.Total, limits.PerCaller = 3, 2
	b := newFiles(t, limits)
	var mu sync.Mutex
	running := 0
	release := make(chan struct{})
	b.upload = func(s *fileStream) error {
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
			require.Equal(t, http.StatusCreated, b.send("POST", filePath, string(body),
				"Content-Type", contentType, "Authorization", "Bearer "+token).StatusCode)
		})
		require.Eventually(t, func() bool {
			mu.Lock()
			defer mu.Unlock()
			return running == want
		}, time.Minute, time.Millisecond)
	}
	begin(b.token, 1)
	begin(b.token, 2)
	r := b.uploadForm(file("file", "a", "x"))
	b.requireFailure(r, http.StatusTooManyRequests, "RATE_LIMITED")
	require.NotEmpty(t, r.Header.Get("Retry-After"))
	r = b.send("GET", filePath, "")
	b.requireFailure(r, http.StatusTooManyRequests, "RATE_LIMITED")
	begin(b.newToken(t, time.Hour), 3)
	body, contentType := encodeForm(file("file", "a", "x"))
	r = b.send("POST", filePath, string(body), "Content-Type", contentType,
		"Authorization", "Bearer "+b.newToken(t, time.Hour))
	b.requireFailure(r, http.StatusServiceUnavailable, "SERVICE_UNAVAILABLE")
	close(release)
	done.Wait()
	require.Eventually(t, func() bool {
		return b.uploadForm(file("file", "a", "x")).StatusCode == http.StatusCreated
	}, time.Minute, time.Millisecond)
}
