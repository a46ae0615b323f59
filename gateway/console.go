package gateway

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

	"github.com/coffer-budget/coffer/web"
)

const (
	// indexPage is the page of the console. Its router shows the screen that belongs to the path.
	indexPage = "index.html"
	// hashedNames is the folder of the files whose names contain a hash of their contents.
	hashedNames = "assets/"

	// consolePolicy permits the console no inline code, no eval and no other origin. Charts are SVG
	// and set their styles through the CSSOM. Receipts are shown from blobs and data URLs.
	consolePolicy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob: data:; connect-src 'self'; " +
		"worker-src 'self'; manifest-src 'self'; font-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'; " +
		"require-trusted-types-for 'script'"
)

// mediaTypes maps the extensions of the console's files to their media types. The table of package
// mime depends on the machine.
var mediaTypes = map[string]string{
	".html": "text/html; charset=utf-8", ".js": "text/javascript; charset=utf-8", ".css": "text/css; charset=utf-8",
	".json": "application/json", ".webmanifest": "application/manifest+json", ".map": "application/json", ".txt": "text/plain; charset=utf-8",
	".svg": "image/svg+xml", ".png": "image/png", ".webp": "image/webp", ".ico": "image/x-icon", ".woff2": "font/woff2",
}

// encodings are the content codings of precompressed variants with the extensions of their files,
// the smallest first.
var encodings = []struct{ coding, extension string }{{"br", ".br"}, {"gzip", ".gz"}}

// console holds the files of the web application by their names. It is nil if the application is
// switched off. It is read once at the start and never changes, so requests share it without a
// lock.
type console map[string]*consoleFile

// consoleFile is a file of the console.
type consoleFile struct {
	mediaType string
	// cacheControl permits a year for files with a hash in their name, and requires the comparison of
	// the ETag for all others.
	cacheControl string
	// variants are the precompressed variants and finally the file as it is. Each client accepts at
	// least the last one.
	variants []consoleVariant
}

// consoleVariant is one representation of a file. Its ETag is a hash of exactly these bytes.
type consoleVariant struct {
	coding string
	etag   string
	body   []byte
}

// openConsole returns the embedded console, or nil if it is switched off.
func openConsole(on bool) (console, error) {
	if !on {
		return nil, nil
	}
	files, err := fs.Sub(web.Dist, "dist")
	if err != nil {
		return nil, fmt.Errorf("opening the console: %w", err)
	}
	return newConsole(files)
}

// newConsole reads all files into memory. It returns an error if there is no index page, or a file
// whose media type is unknown. The files were compressed at build time, so that requests cost no
// processor time for it.
func newConsole(files fs.FS) (console, error) {
	c := console{}
	err := fs.WalkDir(files, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || strings.HasSuffix(name, ".br") || strings.HasSuffix(name, ".gz") {
			return err
		}
		c[name], err = newConsoleFile(files, name)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("reading the console: %w", err)
	}
	if c[indexPage] == nil {
		return nil, fmt.Errorf("the console has no %s", indexPage)
	}
	return c, nil
}

// newConsoleFile reads a file and its variants.
func newConsoleFile(files fs.FS, name string) (*consoleFile, error) {
	f := &consoleFile{mediaType: mediaTypes[path.Ext(name)], cacheControl: "no-cache"}
	if f.mediaType == "" {
		return nil, fmt.Errorf("the media type of %s is unknown", name)
	}
	if strings.HasPrefix(name, hashedNames) {
		f.cacheControl = "public, max-age=31536000, immutable"
	}
	for _, e := range encodings {
		body, err := fs.ReadFile(files, name+e.extension)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		f.variants = append(f.variants, newConsoleVariant(e.coding, body))
	}
	body, err := fs.ReadFile(files, name)
	if err != nil {
		return nil, err
	}
	f.variants = append(f.variants, newConsoleVariant("", body))
	return f, nil
}

// newConsoleVariant returns a variant with its ETag.
func newConsoleVariant(coding string, body []byte) consoleVariant {
	sum := sha256.Sum256(body)
	return consoleVariant{coding: coding, etag: `"` + hex.EncodeToString(sum[:16]) + `"`, body: body}
}

// serve sends the file, or 304 if the client has it. camera=(self) permits the console to
// photograph receipts.
func (f *consoleFile) serve(w http.ResponseWriter, r *http.Request) {
	v := f.accepted(r.Header)
	h := w.Header()
	h.Set("Content-Security-Policy", consolePolicy)
	h.Set("Permissions-Policy", "camera=(self)")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cache-Control", f.cacheControl)
	h.Set("ETag", v.etag)
	// Compression during the response would change the bytes that the ETag belongs to.
	h.Set(gzhttp.HeaderNoCompression, "1")
	if matchesETag(r.Header, v.etag) {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	if v.coding != "" {
		h.Set("Content-Encoding", v.coding)
	}
	h.Set("Content-Type", f.mediaType)
	h.Set("Content-Length", strconv.Itoa(len(v.body)))
	// If this fails, the connection is closed and no client is left to inform.
	_, _ = w.Write(v.body)
}

// accepted returns the smallest variant that the client accepts. It ignores qualities except q=0,
// because a browser that accepts a coding is able to decode it.
func (f *consoleFile) accepted(h http.Header) consoleVariant {
	for _, v := range f.variants[:len(f.variants)-1] {
		if acceptsCoding(h, v.coding) {
			return v
		}
	}
	return f.variants[len(f.variants)-1]
}

// acceptsCoding reports whether Accept-Encoding names the coding and does not exclude it with q=0.
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
