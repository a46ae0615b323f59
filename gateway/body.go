package gateway

import (
	"bufio"
	"io"
	"mime"
	"net/http"
	"strings"

	"github.com/coffer-budget/coffer/internal/apierr"
)

// limitBody rejects a body with the wrong media type or a Content-Length above the route's limit, and limits what can be read of
// the others.
func limitBody(w http.ResponseWriter, r *http.Request, route *route) error {
	if !route.body {
		return nil
	}
	if r.ContentLength < 0 {
		// With chunked encoding, only the first byte shows whether there is a body.
		buffered := bufio.NewReader(r.Body)
		if _, err := buffered.Peek(1); err == io.EOF {
			r.Body = http.NoBody
			r.ContentLength = 0
		} else {
			r.Body = readCloser{buffered, r.Body}
		}
	}
	if r.ContentLength == 0 {
		return nil
	}
	if !acceptable(r.Header, route.multipart) {
		return errMediaType
	}
	if r.ContentLength > route.bodyLimit() {
		return apierr.PayloadTooLarge
	}
	r.Body = http.MaxBytesReader(w, r.Body, route.bodyLimit())
	return nil
}

type readCloser struct {
	io.Reader
	io.Closer
}

func acceptable(h http.Header, multipart bool) bool {
	if encoding := h.Get("Content-Encoding"); encoding != "" && !strings.EqualFold(encoding, "identity") {
		return false
	}
	types := h.Values("Content-Type")
	if len(types) != 1 {
		return false
	}
	mediaType, params, err := mime.ParseMediaType(types[0])
	if err != nil {
		return false
	}
	if multipart {
		return mediaType == "multipart/form-data"
	}
	charset, given := params["charset"]
	return mediaType == jsonType && (!given || strings.EqualFold(charset, "utf-8"))
}
