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

	"github.com/stretchr/testify/require"
	"golang.org/x/net/http2"
)

// TestASlowClientIsCutOffAndHoldsUpNobody holds many connections open by sending next to nothing. Each must be answered or cut off
// within the time of a usual request, whoever it comes from.
func TestASlowClientIsCutOffAndHoldsUpNobody(t *testing.T) {
	t.Parallel()
	own := ownStack(t, os.Getenv("TEST_DATABASE_URL"), map[string]string{"RATE_LIMIT": "0"})
	p := newPersonAt(t, own.URL, "Ada")
	token := "Authorization: Bearer " + p.token + "\r\n"
	const (
		each = 50
		// headers and body are how long a connection may live, with time to spare for a busy machine: the gateway gives them 5 s and
		// 15 s.
		headers, body = 20 * time.Second, 30 * time.Second
		json          = "Content-Type: application/json\r\n"
		form          = "Content-Type: multipart/form-data; boundary=x\r\n"
	)
	heap := heapInUse()
	var attack sync.WaitGroup
	for what, c := range map[string]struct {
		request string
		within  time.Duration
		// status is 0 where the connection ends without an answer.
		status int
	}{
		"nothing at all":              {"", headers, 0},
		"a line without an end":       {"GET /api/v1/", headers, 400},
		"headers without an end":      {"GET /api/v1/wallet HTTP/1.1\r\nHost: x\r\nX-Slow: ", headers, 0},
		"a body":                      {"POST /api/v1/wallet HTTP/1.1\r\nHost: x\r\n" + token + json + "Content-Length: 1000\r\n\r\n", body, 504},
		"a body in chunks":            {"POST /api/v1/wallet HTTP/1.1\r\nHost: x\r\n" + token + json + "Transfer-Encoding: chunked\r\n\r\n3E8\r\n", body, 504},
		"a login":                     {"POST /api/v1/auth/login HTTP/1.1\r\nHost: x\r\n" + json + "Content-Length: 1000\r\n\r\n", body, 504},
		"a body of nobody":            {"POST /api/v1/wallet HTTP/1.1\r\nHost: x\r\n" + json + "Content-Length: 1000\r\n\r\n", body, 401},
		"an upload of nobody":         {"POST /api/v1/transaction/receipt HTTP/1.1\r\nHost: x\r\n" + form + "Content-Length: 1000000\r\n\r\n", body, 401},
		"a body where there is none":  {"GET /livez HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\n", body, 200},
		"a body for no route":         {"POST /nowhere HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\n", body, 404},
		"a body that is not expected": {"POST /api/v1/wallet HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\n" + json + "Content-Length: 1000\r\n\r\n", body, 401},
	} {
		for range each {
			attack.Go(func() {
				status, took, err := trickle(strings.TrimPrefix(own.URL, "http://"), c.request, 100*time.Millisecond, c.within)
				if err != nil || status != c.status {
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
	wallet, category := p.wallet("EUR", "0"), p.category("Food")
	attack.Go(func() {
		status, err := p.uploadWithin(17*time.Second, wallet, category)
		if err != nil || status != http.StatusCreated {
			t.Errorf("a receipt over a slow line: status %d: %v", status, err)
		}
	})
	p.whileServed(&attack)
	require.Less(t, heapInUse(), heap+memory)
}

// trickle sends a request's beginning and then, if there is one, a byte every so often, until the other side closes. It returns the
// answer's status, 0 without one, and how long the connection lived.
func trickle(addr, request string, every, most time.Duration) (status int, took time.Duration, err error) {
	begin := time.Now()
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		return 0, 0, err
	}
	defer func() { _ = conn.Close() }()
	if err := conn.SetDeadline(begin.Add(most)); err != nil {
		return 0, 0, err
	}
	if _, err := io.WriteString(conn, request); err != nil {
		return 0, 0, err
	}
	closed := make(chan struct{})
	go func() {
		for request != "" && every > 0 {
			select {
			case <-closed:
				return
			case <-time.After(every):
				_, _ = io.WriteString(conn, "x")
			}
		}
	}()
	answer := bufio.NewReader(conn)
	if resp, err := http.ReadResponse(answer, nil); err == nil {
		status = resp.StatusCode
		_, _ = io.Copy(io.Discard, resp.Body)
		_ = resp.Body.Close()
	}
	_, err = io.Copy(io.Discard, answer)
	close(closed)
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return status, time.Since(begin), fmt.Errorf("still open after %s", most)
	}
	return status, time.Since(begin), nil
}

// uploadWithin takes its time over a receipt: longer than any other request may.
func (p *person) uploadWithin(pause time.Duration, wallet, category string) (status int, err error) {
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
	req, err := http.NewRequest(http.MethodPost, p.base+"/api/v1/transaction/receipt", body)
	if err != nil {
		return 0, err
	}
	req.Header.Set("Content-Type", form.FormDataContentType())
	req.Header.Set("Authorization", "Bearer "+p.token)
	resp, err := browser.Do(req)
	if err != nil {
		return 0, err
	}
	return resp.StatusCode, resp.Body.Close()
}
