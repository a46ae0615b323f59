package gateway

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/coffer-budget/coffer/gateway/internal/admission"
	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
)

// bigBody is the size of the bodies of rejected requests: 63 MB, as a large statement.
const bigBody = 63 << 20

// sendWhole sends the header and the whole body of a request before it reads the response, as most
// HTTP libraries do. It returns the status.
func (a *api) sendWhole(head string, size int) (int, error) {
	a.Helper()
	conn, err := net.Dial("tcp", strings.TrimPrefix(a.url, "http://"))
	require.NoError(a, err)
	defer func() { _ = conn.Close() }()
	require.NoError(a, conn.SetDeadline(time.Now().Add(time.Minute)))
	body := io.LimitReader(letters{}, int64(size))
	if _, err := fmt.Fprintf(conn, "%sHost: coffer.example\r\n"+
		"Content-Length: %d\r\n\r\n", head, size); err != nil {
		return 0, err
	}
	if _, err := io.Copy(conn, body); err != nil {
		return 0, err
	}
	resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		return 0, err
	}
	defer func() { _ = resp.Body.Close() }()
	_, err = io.ReadAll(resp.Body)
	return resp.StatusCode, err
}

// letters is an endless text.
type letters struct{}

// Read implements io.Reader.
func (letters) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = 'a'
	}
	return len(p), nil
}

// TestDrainBody rejects large bodies early. A client that reads only after it has sent everything
// must see the response.
func TestDrainBody(t *testing.T) {
	t.Parallel()
	gate := newAPI(t, map[string]any{"CreateImport": &ledgerv1.CreateImportResponse{}})
	bearer := "Authorization: Bearer " + gate.token + "\r\n"
	form := "POST /api/v1/imports HTTP/1.1\r\nContent-Type: multipart/form-data; boundary=b\r\n"
	limited := newAPI(t, nil, func(c *Config) { c.RateLimit = 1 })
	for name, tc := range map[string]struct {
		api    *api
		head   string
		status int
	}{
		"no token": {gate, form, http.StatusUnauthorized},
		"too large": {
			gate, "POST /api/v1/wallet HTTP/1.1\r\nContent-Type: application/json\r\n" + bearer,
			http.StatusRequestEntityTooLarge,
		},
		"wrong media type": {
			gate, "POST /api/v1/imports HTTP/1.1\r\nContent-Type: text/csv\r\n" + bearer,
			http.StatusUnsupportedMediaType,
		},
		"rate limit": {
			limited, form + "Authorization: Bearer " + limited.token + "\r\n",
			http.StatusTooManyRequests,
		},
		"malformed multipart": {gate, form + bearer, http.StatusBadRequest},
		"unknown path": {
			gate, "POST /api/v1/nothing HTTP/1.1\r\n" + bearer, http.StatusNotFound,
		},
	} {
		t.Run(name, func(t *testing.T) {
			for range 3 {
				for tc.status == http.StatusTooManyRequests &&
					tc.api.send("GET", "/api/v1/wallet", "").StatusCode != tc.status {
					continue // Until the limit is reached.
				}
				status, err := tc.api.sendWhole(tc.head, bigBody)
				require.NoError(t, err)
				require.Equal(t, tc.status, status)
			}
		})
	}
	t.Run("Go's client", func(t *testing.T) {
		for range 3 {
			resp, err := http.Post(gate.url+"/api/v1/imports",
				"multipart/form-data; boundary=b", io.LimitReader(letters{}, bigBody))
			require.NoError(t, err)
			require.NoError(t, resp.Body.Close())
			require.Equal(t, http.StatusUnauthorized, resp.StatusCode)
		}
	})
	t.Run("curl", func(t *testing.T) {
		curl, err := exec.LookPath("curl")
		if err != nil {
			t.Skip("NOT SHOWN: curl is not installed")
		}
		file := filepath.Join(t.TempDir(), "statement.csv")
		require.NoError(t, os.WriteFile(file, bytes.Repeat([]byte("a"), bigBody), 0o600))
		for _, expect := range []string{"Expect:", "Expect: 100-continue"} {
			out, err := exec.CommandContext(
				t.Context(), curl, "-sS", "-o", os.DevNull, "-w", "%{http_code}", "-H", expect,
				"-F", "file=@"+file, gate.url+"/api/v1/imports",
			).CombinedOutput()
			require.NoError(t, err, "%s", out)
			require.Equal(t, "401", string(out))
		}
	})
}

// TestDrainSlowClient sends a byte now and then after an early response. The gateway must
// disconnect.
func TestDrainSlowClient(t *testing.T) {
	t.Parallel()
	a := newAPI(t, nil)
	conn, err := net.Dial("tcp", strings.TrimPrefix(a.url, "http://"))
	require.NoError(t, err)
	defer func() { _ = conn.Close() }()
	_, err = fmt.Fprintf(conn, "POST /api/v1/imports HTTP/1.1\r\nHost: coffer.example\r\n"+
		"Content-Length: %d\r\n\r\n", bigBody)
	require.NoError(t, err)
	go func() {
		tick := time.NewTicker(100 * time.Millisecond)
		defer tick.Stop()
		for range tick.C {
			if _, err := conn.Write([]byte("a")); err != nil {
				return
			}
		}
	}()
	began := time.Now()
	require.NoError(t, conn.SetReadDeadline(began.Add(time.Minute)))
	answer, err := io.ReadAll(conn)
	require.Contains(t, string(answer), "401 Unauthorized")
	require.NotErrorIs(t, err, os.ErrDeadlineExceeded)
	require.Less(t, time.Since(began), admission.MaxDrain)
}
