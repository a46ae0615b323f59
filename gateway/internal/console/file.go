package console

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"path"
	"strconv"
	"strings"

	"github.com/klauspost/compress/gzhttp"

	"github.com/coffer-budget/coffer/gateway/internal/response"
)

const (
	hashedNames = "assets/"

	// policy permits the console no inline code, no eval and no other origin. Charts are SVG
	// and set their styles through the CSSOM. Receipts are shown from blobs and data URLs.
	policy = "default-src 'none'; script-src 'self'; style-src 'self'; " +
		"img-src 'self' blob: data:; connect-src 'self'; worker-src 'self'; manifest-src 'self'; " +
		"font-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'; " +
		"require-trusted-types-for 'script'"
)

// mediaTypes maps the extensions of the console's files to their media types. The table of package
// mime depends on the machine.
var mediaTypes = map[string]string{
	".html": "text/html; charset=utf-8", ".js": "text/javascript; charset=utf-8",
	".css": "text/css; charset=utf-8", ".txt": "text/plain; charset=utf-8",
	".json": "application/json", ".map": "application/json",
	".webmanifest": "application/manifest+json", ".woff2": "font/woff2",
	".svg": "image/svg+xml", ".png": "image/png", ".webp": "image/webp", ".ico": "image/x-icon",
}

// encodings are the content codings of precompressed variants with the extensions of their files,
// the smallest first.
var encodings = []struct{ coding, extension string }{{"br", ".br"}, {"gzip", ".gz"}}

type file struct {
	mediaType string
	// cacheControl permits a year for files with a hash in their name, and requires the comparison
	// of the ETag for all others.
	cacheControl string
	// variants are the precompressed variants and finally the file as it is. Each client accepts at
	// least the last one.
	variants []variant
}

// variant is one representation of a file. Its ETag is a hash of exactly these bytes.
type variant struct {
	coding string
	etag   string
	body   []byte
}

func newFile(files fs.FS, name string) (*file, error) {
	file := &file{mediaType: mediaTypes[path.Ext(name)], cacheControl: "no-cache"}
	if file.mediaType == "" {
		return nil, fmt.Errorf("the media type of %s is unknown", name)
	}
	if strings.HasPrefix(name, hashedNames) {
		file.cacheControl = "public, max-age=31536000, immutable"
	}
	for _, e := range encodings {
		body, err := fs.ReadFile(files, name+e.extension)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		file.variants = append(file.variants, newVariant(e.coding, body))
	}
	body, err := fs.ReadFile(files, name)
	if err != nil {
		return nil, err
	}
	file.variants = append(file.variants, newVariant("", body))
	return file, nil
}

func newVariant(coding string, body []byte) variant {
	sum := sha256.Sum256(body)
	return variant{coding: coding, etag: `"` + hex.EncodeToString(sum[:16]) + `"`, body: body}
}

// serve sends the file, or 304 if the client has it. camera=(self) permits the console to
// photograph receipts.
func (f *file) serve(w http.ResponseWriter, r *http.Request) {
	variant := f.accepted(r.Header)
	header := w.Header()
	header.Set("Content-Security-Policy", policy)
	header.Set("Permissions-Policy", "camera=(self)")
	header.Set("Cross-Origin-Opener-Policy", "same-origin")
	header.Set("Cache-Control", f.cacheControl)
	header.Set("ETag", variant.etag)
	// Compression during the response would change the bytes that the ETag belongs to.
	header.Set(gzhttp.HeaderNoCompression, "1")
	if response.MatchesETag(r.Header, variant.etag) {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	if variant.coding != "" {
		header.Set("Content-Encoding", variant.coding)
	}
	header.Set("Content-Type", f.mediaType)
	header.Set("Content-Length", strconv.Itoa(len(variant.body)))
	// If this fails, the connection is closed and no client is left to inform.
	_, _ = w.Write(variant.body)
}

// accepted returns the smallest variant that the client accepts. It ignores qualities except q=0,
// because a browser that accepts a coding is able to decode it.
func (f *file) accepted(h http.Header) variant {
	for _, v := range f.variants[:len(f.variants)-1] {
		if acceptsCoding(h, v.coding) {
			return v
		}
	}
	return f.variants[len(f.variants)-1]
}

func acceptsCoding(h http.Header, coding string) bool {
	for offer := range strings.SplitSeq(strings.Join(h.Values("Accept-Encoding"), ","), ",") {
		name, parameters, _ := strings.Cut(offer, ";")
		if !strings.EqualFold(strings.TrimSpace(name), coding) {
			continue
		}
		_, quality, found := strings.Cut(parameters, "=")
		q, err := strconv.ParseFloat(strings.TrimSpace(quality), 64)
		return !found || err == nil && q > 0
	}
	return false
}
