package test

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"mime/multipart"
	"net"
	"net/http"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/net/http2"
)

// TestSlowConnections holds many connections open by sending almost nothing, with and without a
// token. Each must get a response or be closed within the time limit of an ordinary request.
// Another user's requests must succeed meanwhile.
func TestSlowConnections(t *testing.T) {
	t.Parallel()
	own := ownStack(t, os.Getenv("TEST_DATABASE_URL"), map[string]string{"RATE_LIMIT": "0"})
	me := newUserAt(t, own.URL, "Ada")
	token := "Authorization: Bearer " + me.token + "\r\n"
	const (
		each = 50
		// headers and body limit the lifetime of a connection. The gateway's limits are 5 and
		// 15 seconds; a busy machine may be slower.
		headers, body = 20 * time.Second, 30 * time.Second
		json          = "Content-Type: application/json\r\n"
		form          = "Content-Type: multipart/form-data; boundary=x\r\n"
	)
	heap := heapInUse()
	var attack sync.WaitGroup
	for what, tc := range map[string]struct {
		request string
		within  time.Duration
		// status is 0 if the connection ends without a response.
		status int
	}{
		"nothing":                 {"", headers, 0},
		"an endless request line": {"GET /api/v1/", headers, 400},
		"endless headers": {
			"GET /api/v1/wallet HTTP/1.1\r\nHost: x\r\nX-Slow: ", headers, 0,
		},
		"a body": {"POST /api/v1/wallet HTTP/1.1\r\nHost: x\r\n" + token +
			json + "Content-Length: 1000\r\n\r\n", body, 504},
		"a body in chunks": {"POST /api/v1/wallet HTTP/1.1\r\nHost: x\r\n" + token +
			json + "Transfer-Encoding: chunked\r\n\r\n3E8\r\n", body, 504},
		"a login": {"POST /api/v1/auth/login HTTP/1.1\r\nHost: x\r\n" + json +
			"Content-Length: 1000\r\n\r\n", body, 504},
		"a body without a token": {"POST /api/v1/wallet HTTP/1.1\r\nHost: x\r\n" + json +
			"Content-Length: 1000\r\n\r\n", body, 401},
		"an upload without a token": {"POST /api/v1/transaction/receipt HTTP/1.1\r\nHost: x\r\n" +
			form + "Content-Length: 1000000\r\n\r\n", body, 401},
		"a body for GET": {
			"GET /livez HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\n", body, 200,
		},
		"a body for an unknown route": {
			"POST /nowhere HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\n", body, 404,
		},
		"a body after Expect": {
			"POST /api/v1/wallet HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\n" + json +
				"Content-Length: 1000\r\n\r\n",
			body, 401,
		},
	} {
		for range each {
			attack.Go(func() {
				addr := strings.TrimPrefix(own.URL, "http://")
				status, took, err := trickle(addr, tc.request, 100*time.Millisecond, tc.within)
				if err != nil || status != tc.status {
					t.Errorf("%s: status %d after %s: %v", what, status, took, err)
				}
			})
		}
	}
	for _, addr := range own.GRPC {
		for _, beginning := range []string{"", http2.ClientPreface[:10], http2.ClientPreface} {
			for range each {
				attack.Go(func() {
					_, took, err := trickle(addr, beginning, 0, headers)
					if err != nil {
						t.Errorf("%q: %s: %v", beginning, took, err)
					}
				})
			}
		}
	}
	wallet, category := me.wallet("EUR", "0"), me.category("Food")
	attack.Go(func() {
		status, err := me.uploadWithin(17*time.Second, wallet, category)
		if err != nil || status != http.StatusCreated {
			t.Errorf("a receipt over a slow connection: status %d: %v", status, err)
		}
	})
	me.requireServedDuring(&attack)
	requireHeapBelow(t, heap+maxGrowth)
}

// trickle sends the beginning of a request. If it is not empty, it then sends a byte in each
// interval, until the server closes the connection or the limit is reached. It returns the
// response's status, or 0 without a response, and the lifetime of the connection.
func trickle(
	addr, request string, interval, limit time.Duration,
) (status int, took time.Duration, err error) {
	begin := time.Now()
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		return 0, 0, err
	}
	defer func() { _ = conn.Close() }()
	if err := conn.SetDeadline(begin.Add(limit)); err != nil {
		return 0, 0, err
	}
	if _, err := io.WriteString(conn, request); err != nil {
		return 0, 0, err
	}
	closed := make(chan struct{})
	go func() {
		for request != "" && interval > 0 {
			select {
			case <-closed:
				return
			case <-time.After(interval):
				_, _ = io.WriteString(conn, "x")
			}
		}
	}()
	response := bufio.NewReader(conn)
	if resp, err := http.ReadResponse(response, nil); err == nil {
		status = resp.StatusCode
		_, _ = io.Copy(io.Discard, resp.Body)
		_ = resp.Body.Close()
	}
	_, err = io.Copy(io.Discard, response)
	close(closed)
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return status, time.Since(begin), fmt.Errorf("still open after %s", limit)
	}
	return status, time.Since(begin), nil
}

// uploadWithin uploads a receipt with a pause in its body. The pause is longer than the time limit
// of any other request.
func (u *user) uploadWithin(pause time.Duration, wallet, category string) (status int, err error) {
	body, line := io.Pipe()
	form := multipart.NewWriter(line)
	go func() {
		_ = form.WriteField("walletId", wallet)
		<-time.After(pause)
		_ = form.WriteField("categoryId", category)
		file, _ := form.CreateFormFile("receipt", "receipt")
		_, _ = io.WriteString(file, groceries)
		_ = form.Close()
		_ = line.Close()
	}()
	req, err := http.NewRequest(http.MethodPost, u.base+"/api/v1/transaction/receipt", body)
	if err != nil {
		return 0, err
	}
	req.Header.Set("Content-Type", form.FormDataContentType())
	req.Header.Set("Authorization", "Bearer "+u.token)
	resp, err := httpClient.Do(req)
	if err != nil {
		return 0, err
	}
	return resp.StatusCode, resp.Body.Close()
}
