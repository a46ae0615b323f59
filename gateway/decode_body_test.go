package gateway

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	authv1 "github.com/coffer-budget/coffer/proto/gen/coffer/auth/v1"
	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
)

func TestDecodeIgnoresBodyOfBodilessRoutes(t *testing.T) {
	t.Parallel()
	a := newAPI(t, map[string]any{
		"GetWallet": &ledgerv1.GetWalletResponse{}, "Logout": &authv1.LogoutResponse{},
	})
	require.Equal(t, http.StatusOK,
		a.send("GET", "/api/v1/wallet/"+anID, `{broken`, "Content-Type", "text/plain").StatusCode)
	require.Equal(t, http.StatusOK, a.send("POST", "/api/v1/auth/logout", "").StatusCode)
}

func TestDecodeRejectsOtherMediaTypes(t *testing.T) {
	t.Parallel()
	gate := newAPI(t, map[string]any{"CreateWallet": &ledgerv1.CreateWalletResponse{}})
	for _, headers := range [][]string{
		{"Content-Type", ""},
		{"Content-Type", "text/plain"},
		{"Content-Type", "application/xml"},
		{"Content-Type", "application/x-www-form-urlencoded"},
		{"Content-Type", "multipart/form-data; boundary=x"},
		{"Content-Type", "application/json; charset=latin1"},
		{"Content-Type", "application/json; charset"},
		{"Content-Type", "application/jsonx"},
		{"Content-Encoding", "gzip"},
	} {
		gate.requireFailure(gate.send("POST", "/api/v1/wallet", `{}`, headers...),
			http.StatusUnsupportedMediaType, "UNSUPPORTED_MEDIA_TYPE")
	}
	gate.requireFailure(gate.send("POST", receiptPath, `{}`),
		http.StatusUnsupportedMediaType, "UNSUPPORTED_MEDIA_TYPE")
	require.Zero(t, gate.calls())
	for _, headers := range [][]string{
		{"Content-Type", "application/json; charset=UTF-8"},
		{"Content-Type", "Application/JSON"},
		{"Content-Encoding", "identity"},
	} {
		require.Equal(t, http.StatusCreated,
			gate.send("POST", "/api/v1/wallet", `{}`, headers...).StatusCode)
	}
}

// endless is a body of spaces that counts the bytes read from it.
type endless struct {
	left int64
	read atomic.Int64
}

func (e *endless) Read(p []byte) (int, error) {
	if e.left == 0 {
		return 0, io.EOF
	}
	n := int(min(int64(len(p)), e.left))
	copy(p, bytes.Repeat([]byte(" "), n))
	e.left -= int64(n)
	e.read.Add(int64(n))
	return n, nil
}

func TestDecodeRejectsLargeBodiesUnread(t *testing.T) {
	t.Parallel()
	gate := newAPI(t, nil)
	for name, length := range map[string]int64{"declared": 100 << 20, "chunked": -1} {
		for path, contentType := range map[string]string{
			"/api/v1/wallet": "application/json", receiptPath: "multipart/form-data; boundary=x",
		} {
			body := &endless{left: 100 << 20}
			start := "--x\r\nContent-Disposition: form-data; name=\"receipt\"; " +
				"filename=\"r.jpg\"\r\n\r\n"
			if path != receiptPath {
				start = ""
			}
			req, err := http.NewRequestWithContext(t.Context(), "POST",
				gate.url+path, io.NopCloser(io.MultiReader(strings.NewReader(start), body)))
			require.NoError(t, err)
			req.ContentLength = length
			req.Header = http.Header{
				"Authorization": {"Bearer " + gate.token}, "Content-Type": {contentType},
			}
			resp, err := (&http.Transport{}).RoundTrip(req)
			require.NoError(t, err, name+path)
			require.Equal(t, http.StatusRequestEntityTooLarge, resp.StatusCode, name+path)
			require.NoError(t, resp.Body.Close())
			require.Less(t, body.read.Load(), int64(40<<20), name+path)
		}
	}
	gate.requireFailure(gate.send("POST", "/api/v1/wallet",
		`{"name":"`+strings.Repeat("x", 1<<20)+`"}`),
		http.StatusRequestEntityTooLarge, "PAYLOAD_TOO_LARGE")
	require.Zero(t, gate.calls())
}

func TestDecodeRejectsTruncatedBody(t *testing.T) {
	t.Parallel()
	gate := newAPI(t, nil)
	conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp",
		strings.TrimPrefix(gate.url, "http://"))
	require.NoError(t, err)
	defer func() { _ = conn.Close() }()
	_, err = fmt.Fprintf(conn,
		"POST /api/v1/wallet HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\n"+
			"Content-Type: application/json\r\nContent-Length: 50\r\n\r\n{}", gate.token)
	require.NoError(t, err)
	require.NoError(t, conn.(*net.TCPConn).CloseWrite())
	resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
	require.NoError(t, err)
	require.NoError(t, resp.Body.Close())
	require.Equal(t, http.StatusBadRequest, resp.StatusCode)
	require.Zero(t, gate.calls())
}
