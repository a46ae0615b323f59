// Package response has what all responses of the gateway share: the format of errors, the ETags of
// conditional requests, and the request id and access log entry of each request.
package response

import (
	"encoding/json"
	"net/http"
	"strconv"
)

// JSON is the media type of all responses except files, event streams and the documentation.
const JSON = "application/json"

// Write sends a response. It ignores errors: the connection is closed then, and no client is left
// to inform.
func Write(w http.ResponseWriter, status int, body []byte) {
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(status)
	_, _ = w.Write(body)
}

// WriteJSON sends a response without a proto. It ignores errors as Write does.
func WriteJSON(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", JSON)
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body)
}
