package response

import (
	"fmt"
	"net/http"
	"strings"

	"github.com/cespare/xxhash/v2"
)

// Unchanged sets the ETag of a response and reports whether the client has this response, which
// then gets 304. It is for RPCs with the option conditional, such as lists and dashboards that
// clients read again and again.
//
// The ETag is a hash of the body. The services do the same work as for a complete response, but the
// client does not receive and decode the body again. The ETag is weak, because compression changes
// the bytes. A cryptographic hash is not necessary: a collision would only show a user an outdated
// list of the same user.
func Unchanged(r *http.Request, body []byte, header http.Header) bool {
	etag := fmt.Sprintf(`W/"%016x"`, xxhash.Sum64(body))
	header.Set("ETag", etag)
	if !MatchesETag(r.Header, etag) {
		return false
	}
	header.Del("Content-Type")
	return true
}

// MatchesETag reports whether If-None-Match names the ETag. The comparison is the weak one, because
// a proxy that compresses turns a strong ETag into a weak one.
func MatchesETag(h http.Header, etag string) bool {
	for listed := range strings.SplitSeq(strings.Join(h.Values("If-None-Match"), ","), ",") {
		listed = strings.TrimSpace(listed)
		if listed == "*" || strings.TrimPrefix(listed, "W/") == strings.TrimPrefix(etag, "W/") {
			return true
		}
	}
	return false
}
