// Package admission decides which requests the gateway serves. A request passes these files in this
// order, and the cheapest check comes first:
//
//  1. drain.go is outside of all limits. If a request was rejected before its body was read, it
//     reads the rest of the body.
//  2. loadshed.go rejects requests to a service at its concurrency limit, even before telemetry.
//  3. gate.go verifies the token, and counts the request for its user or address (address.go) with
//     ratelimit.go.
//  4. transfers.go limits the simultaneous uploads and downloads.
package admission

import (
	"io"
	"net/http"
	"time"
)

const (
	// drainableBody is the size in bytes from which Drain reads the rest of a body. net/http itself
	// reads 256 KiB.
	drainableBody = 128 << 10
	// drainPatience is the time that a client may send nothing, and drainRate the number of bytes
	// that it must send per second.
	drainPatience = 2 * time.Second
	drainRate     = 256 << 10
	// MaxDrain is the maximum time of draining.
	MaxDrain = 30 * time.Second
)

// Drain reads the rest of a body after an early response, such as 401 or 413. Many clients send the
// whole body before they read the response. If the connection is closed while they send, the kernel
// resets it, and they never see the response. The response is sent first, for clients that read
// while they send. A slow client is disconnected. Drain runs outside of all limits of concurrency,
// so that draining takes no place of another request.
func Drain(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		control := http.NewResponseController(w)
		// Without full duplex, net/http closes the body when the response starts.
		short := r.ContentLength >= 0 && r.ContentLength < drainableBody
		if short || control.EnableFullDuplex() != nil {
			next.ServeHTTP(w, r)
			return
		}
		body := &watchedBody{ReadCloser: r.Body}
		// net/http decides by the body of its own request whether the connection can be reused.
		watched := r.WithContext(r.Context())
		watched.Body = body
		next.ServeHTTP(w, watched)
		// A client that expects 100 Continue has sent nothing, if nothing was read.
		if body.ended || !body.started && r.Header.Get("Expect") != "" {
			return
		}
		if control.Flush() == nil {
			discard(body, control)
		}
	})
}

func discard(body io.Reader, control *http.ResponseController) {
	buffer := make([]byte, 32<<10)
	began := time.Now()
	received := 0
	for {
		allowed := drainPatience + time.Duration(received)*time.Second/drainRate
		if control.SetReadDeadline(began.Add(min(allowed, MaxDrain))) != nil {
			return
		}
		read, err := body.Read(buffer)
		received += read
		if err == io.EOF {
			// net/http cancels a request at its read deadline, even if all of it has been read.
			_ = control.SetReadDeadline(time.Time{})
		}
		if err != nil {
			return
		}
	}
}

type watchedBody struct {
	io.ReadCloser
	started, ended bool
}

func (b *watchedBody) Read(p []byte) (int, error) {
	b.started = true
	n, err := b.ReadCloser.Read(p)
	if err != nil {
		b.ended = true
	}
	return n, err
}
