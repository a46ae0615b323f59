package gateway

import (
	"fmt"
	"net/http"
)

// recorder records the status and size of the response, for the log.
type recorder struct {
	http.ResponseWriter
	status int
	bytes  int
	wrote  bool
}

// WriteHeader implements http.ResponseWriter.
func (r *recorder) WriteHeader(status int) {
	if !r.wrote && status >= 200 {
		r.status, r.wrote = status, true
	}
	r.ResponseWriter.WriteHeader(status)
}

// Write implements http.ResponseWriter.
func (r *recorder) Write(p []byte) (int, error) {
	if !r.wrote {
		r.WriteHeader(http.StatusOK)
	}
	n, err := r.ResponseWriter.Write(p)
	r.bytes += n
	if err != nil {
		return n, fmt.Errorf("answering: %w", err)
	}
	return n, nil
}

// Unwrap is used by http.ResponseController.
func (r *recorder) Unwrap() http.ResponseWriter { return r.ResponseWriter }

// statusWriter sends the success status of the RPC instead of 200. grpc-gateway sets no status, and an option that calls
// WriteHeader would do so before the length of the body is known. statusWriter also hides write errors of a closed connection from
// grpc-gateway, which would log them.
type statusWriter struct {
	http.ResponseWriter
	status int
}

// Write implements http.ResponseWriter.
func (s *statusWriter) Write(p []byte) (int, error) {
	if s.status != 0 {
		s.WriteHeader(s.status)
		s.status = 0
	}
	_, _ = s.ResponseWriter.Write(p)
	return len(p), nil
}

// Unwrap is used by http.ResponseController.
func (s *statusWriter) Unwrap() http.ResponseWriter { return s.ResponseWriter }
