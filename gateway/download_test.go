package gateway

import (
	"errors"
	"fmt"
	"io"
	"mime"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/types/dynamicpb"

	"github.com/coffer-budget/coffer/gateway/internal/admission"
	"github.com/coffer-budget/coffer/internal/apierr"
	"github.com/coffer-budget/coffer/internal/rpc"
)

// sendFile returns a download RPC that sends a file and then fails with err.
func sendFile(mediaType, name, content string, size int64, err error) func(*fileStream) error {
	return func(stream *fileStream) error {
		m := dynamicpb.NewMessage(fileService().Methods().ByName("Download").Input())
		if err := stream.RecvMsg(m); err != nil {
			return err
		}
		if err := stream.sendHeader(mediaType, name, size); err != nil {
			return err
		}
		w := rpc.NewFileWriter(stream.send)
		_, sendErr := io.WriteString(w, content)
		return errors.Join(sendErr, w.Flush(), err)
	}
}

func TestDownload(t *testing.T) {
	t.Parallel()
	files := newFiles(t, admission.UsualTransfers)
	content := strings.Repeat("0123456789", 300_000)
	for _, size := range []int64{0, int64(len(content))} {
		files.download = sendFile("text/csv", `Umsätze "Mai" 100%.csv`, content, size, nil)
		got := files.send("GET", filePath, "", "Accept-Encoding", "gzip")
		require.Equal(t, http.StatusOK, got.StatusCode)
		require.Equal(t, content, got.text)
		require.Equal(t, "text/csv", got.Header.Get("Content-Type"))
		require.Empty(t, got.Header.Get("Content-Encoding"))
		require.Equal(t, "nosniff", got.Header.Get("X-Content-Type-Options"))
		require.Equal(t, "no-store", got.Header.Get("Cache-Control"))
		require.Equal(t, "default-src 'none'; frame-ancestors 'none'; sandbox",
			got.Header.Get("Content-Security-Policy"))
		require.Equal(t, `attachment; filename="Ums_tze _Mai_ 100_.csv"; `+
			`filename*=utf-8''Ums%C3%A4tze%20%22Mai%22%20100%25.csv`,
			got.Header.Get("Content-Disposition"))
		disposition, params, err := mime.ParseMediaType(got.Header.Get("Content-Disposition"))
		require.NoError(t, err)
		require.Equal(t, "attachment", disposition)
		require.Equal(t, `Umsätze "Mai" 100%.csv`, params["filename"])
		if size > 0 {
			require.Equal(t, size, got.ContentLength)
		} else {
			require.Equal(t, []string{"chunked"}, got.TransferEncoding)
		}
		head := files.send("HEAD", filePath, "")
		require.Equal(t, http.StatusOK, head.StatusCode)
		require.Equal(t, got.Header.Get("Content-Disposition"),
			head.Header.Get("Content-Disposition"))
		require.Empty(t, head.text)
	}
	files.download = sendFile("text/plain", "empty.txt", "", 0, nil)
	r := files.send("GET", filePath, "")
	require.Equal(t, http.StatusOK, r.StatusCode)
	require.Empty(t, r.text)
	require.Contains(t, files.logs.String(), `"status":200`)
}

func TestDownloadFailsBeforeItsFirstByte(t *testing.T) {
	t.Parallel()
	files := newFiles(t, admission.UsualTransfers)
	for name, download := range map[string]func(*fileStream) error{
		"at once":          func(*fileStream) error { return apierr.IdempotencyKeyUsed },
		"after the header": sendFile("text/csv", "a.csv", "", 0, apierr.IdempotencyKeyUsed),
	} {
		files.download = download
		r := files.send("GET", filePath, "")
		files.requireFailure(r, http.StatusConflict, "IDEMPOTENCY_KEY_CONFLICT")
		require.Empty(t, r.Header.Get("Content-Disposition"), name)
	}
	files.download = func(*fileStream) error { return nil }
	files.requireFailure(files.send("GET", filePath, ""), http.StatusInternalServerError,
		"INTERNAL")
}

func TestDownloadBreaksTheConnectionOnErrors(t *testing.T) {
	t.Parallel()
	files := newFiles(t, admission.UsualTransfers)
	for _, size := range []int64{0, 1 << 20} {
		for _, content := range []string{"x", strings.Repeat("x", 300_000)} {
			files.download = sendFile("text/csv", "a.csv", content, size, apierr.Unavailable)
			req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, files.url+filePath,
				nil)
			require.NoError(t, err)
			req.Header.Set("Authorization", "Bearer "+files.token)
			resp, err := http.DefaultTransport.RoundTrip(req)
			if err == nil { // Otherwise not even the header has arrived.
				_, err = io.ReadAll(resp.Body)
				_ = resp.Body.Close()
			}
			require.Error(t, err, "the file must not look complete")
		}
	}
	require.Eventually(t,
		func() bool { return strings.Contains(files.logs.String(), `"cut":true`) },
		time.Minute, time.Millisecond)
}

// TestDownloadWaitsForTheClient checks that the service can send only a few buffers more than the
// client reads, and that a client that reads nothing is disconnected.
func TestDownloadWaitsForTheClient(t *testing.T) {
	t.Parallel()
	limits := admission.UsualTransfers
	limits.Idle = 500 * time.Millisecond
	files := newFiles(t, limits)
	files.download = sendFile("text/csv", "a.csv", strings.Repeat("x", 64<<20), 0, nil)
	conn, err := net.Dial("tcp", strings.TrimPrefix(files.url, "http://"))
	require.NoError(t, err)
	defer func() { _ = conn.Close() }()
	_, err = fmt.Fprintf(conn, "GET %s HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\n\r\n",
		filePath, files.token)
	require.NoError(t, err)
	require.Error(t, <-files.ended)
	require.Less(t, files.sent.Load(), int64(24<<20))
}

// TestDownloadOutlastsOtherDeadlines reads slowly for longer than the deadlines of other requests.
func TestDownloadOutlastsOtherDeadlines(t *testing.T) {
	t.Parallel()
	files := newFiles(t, admission.UsualTransfers)
	began := time.Now()
	files.download = func(stream *fileStream) error {
		if err := stream.sendHeader("text/csv", "a.csv", 0); err != nil {
			return err
		}
		for now := range time.Tick(100 * time.Millisecond) {
			if err := stream.send([]byte("x")); err != nil || now.Sub(began) > 3*time.Second {
				return err
			}
		}
		return nil
	}
	r := files.send("GET", filePath, "")
	require.Equal(t, http.StatusOK, r.StatusCode)
	require.NotEmpty(t, r.text)
}
