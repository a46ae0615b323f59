package transcoding

import (
	"fmt"
	"mime"
	"net/http"
	"path"
	"strconv"
	"strings"

	restv1 "github.com/coffer-budget/coffer/proto/gen/coffer/rest/v1"
)

// filePolicy keeps a browser from running a file, should it ever show one.
const filePolicy = "default-src 'none'; frame-ancestors 'none'; sandbox"

// setFileHeaders sets the headers of a download. With a known size net/http rejects a response that
// has another one.
func setFileHeaders(header http.Header, file *restv1.FileHeader) {
	header.Set("Content-Type", file.GetMediaType())
	header.Set("Content-Disposition", disposition(file.GetFileName()))
	header.Set("Content-Security-Policy", filePolicy)
	header.Set("X-Content-Type-Options", "nosniff")
	header.Set("Cache-Control", "no-store")
	// A reverse proxy that buffers would hide how fast the client reads.
	header.Set("X-Accel-Buffering", "no")
	if file.GetSize() > 0 {
		header.Set("Content-Length", strconv.FormatInt(file.GetSize(), 10))
	}
}

// disposition returns the Content-Disposition of a download: an ASCII name for every client and, if
// it differs, the whole name as RFC 6266 defines it.
func disposition(name string) string {
	name = strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f || r == '/' || r == '\\' {
			return '_'
		}
		return r
	}, path.Base(name))
	if name == "." || name == "" || name == "_" {
		name = "file"
	}
	plain := strings.Map(func(r rune) rune {
		if r > '~' || r == '"' || r == '%' {
			return '_'
		}
		return r
	}, name)
	value := mime.FormatMediaType("attachment", map[string]string{"filename": plain})
	if plain == name {
		return value
	}
	return value + "; filename*=utf-8''" + percentEncode(name)
}

// unencoded are the characters that RFC 5987 permits in a value as they are.
const unencoded = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789!#$&+-.^_`|~"

func percentEncode(s string) string {
	var b strings.Builder
	for i := range len(s) {
		c := s[i]
		if strings.IndexByte(unencoded, c) >= 0 {
			b.WriteByte(c)
			continue
		}
		fmt.Fprintf(&b, "%%%02X", c)
	}
	return b.String()
}
