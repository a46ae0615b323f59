package chaos

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strings"
	"time"
)

// response is the response to a request. status is 0 if there was none.
type response struct {
	status int
	etag   string
	raw    []byte
	body   object
}

const (
	// maxResponseTime is longer than any deadline of the gateway, with a margin for a busy machine.
	maxResponseTime = 20 * time.Second
	maxReceiptTime  = 70 * time.Second
)

// marks matches the mark of a user. Next to letters, digits or hyphens it is ignored, because
// random tokens may contain it.
var marks = regexp.MustCompile(`[^\w-](u\d{3})[^\w-]`)

// call sends a request and inspects the response. headers are alternating names and values.
func (u *user) call(
	ctx context.Context, method, path string, body any, headers ...string,
) response {
	// Requests are not canceled at the end of the load, so that their results are known.
	ctx = context.WithoutCancel(ctx)
	var sent []byte
	switch b := body.(type) {
	case nil:
	case []byte:
		sent = b
	default:
		var err error
		if sent, err = json.Marshal(b); err != nil {
			u.reportf("encoding a request: %v", err)
			return response{}
		}
	}
	// Reading a receipt takes longer, especially after a fault of the engine.
	limit := maxResponseTime
	if strings.Contains(path, "receipt") {
		limit = maxReceiptTime
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, method, u.stack.URL+path, bytes.NewReader(sent))
	if err != nil {
		u.reportf("%v", err)
		return response{}
	}
	req.Header.Set("Content-Type", "application/json")
	if u.token != "" {
		req.Header.Set("Authorization", "Bearer "+u.token)
	}
	for i := 0; i+1 < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	a, err := u.send(req)
	if errors.Is(err, context.DeadlineExceeded) {
		u.reportf("%s %s hung", method, path)
	}
	if a.status != 0 {
		u.inspect(method+" "+path, a)
	}
	return a
}

// send sends a request and reads the complete response. A response that is cut off is an error.
func (u *user) send(req *http.Request) (response, error) {
	resp, err := u.client.Do(req)
	if err != nil {
		return response{}, err
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(resp.Body)
	if err != nil {
		return response{}, err
	}
	reply := response{status: resp.StatusCode, etag: resp.Header.Get("ETag"), raw: raw}
	if strings.HasPrefix(resp.Header.Get("Content-Type"), "application/json") {
		decoder := json.NewDecoder(bytes.NewReader(raw))
		// Amounts are compared exactly.
		decoder.UseNumber()
		if err := decoder.Decode(&reply.body); err != nil {
			return response{}, err
		}
	}
	return reply, nil
}

// inspect checks the guarantees that hold for every response, also during faults: it contains no
// data of other users, except of the partner, it is not an undeclared error, and a valid token is
// accepted even while auth is unavailable.
func (u *user) inspect(request string, reply response) {
	for _, found := range marks.FindAllStringSubmatch(string(reply.raw), -1) {
		mark := found[1]
		if mark != u.mark && (u.partner == nil || mark != u.partner.mark) {
			u.reportf("%s: %s received data of %s: %s", request, u.mark, mark, reply.raw)
			return
		}
	}
	switch code := reply.text("code"); {
	case reply.status < 500:
	// The errors that faults may cause. Every other 5xx is a defect.
	case code == "SERVICE_UNAVAILABLE", code == "DEADLINE_EXCEEDED", code == "OCR_RESPONSE_FAILED",
		strings.HasSuffix(request, "/readyz"):
	default:
		u.reportf("%s returned %d %s", request, reply.status, bytes.TrimSpace(reply.raw))
	}
	if reply.status == http.StatusUnauthorized {
		u.reportf("%s: a valid token was rejected: %s", request, reply.raw)
	}
}

// text returns the value at a path like "transaction.id", or "" if there is none.
func (a response) text(path string) string {
	v := a.at(path)
	if v == nil {
		return ""
	}
	return fmt.Sprint(v)
}

func (a response) at(path string) any {
	var v any = a.body
	for step := range strings.SplitSeq(path, ".") {
		o, ok := v.(object)
		if !ok {
			return nil
		}
		v = o[step]
	}
	return v
}

func (a response) list(path string) []any {
	l, _ := a.at(path).([]any)
	return l
}
