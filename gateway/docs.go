package gateway

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"fmt"
	"io/fs"
	"log/slog"
	"net/http"
	"net/url"
	"regexp"
	"strings"

	"github.com/swaggest/swgui/v5/static"
	"github.com/swaggest/swgui/v5emb"

	"github.com/coffer-budget/coffer/gateway/internal/response"
	"github.com/coffer-budget/coffer/internal/apierr"
	restv1 "github.com/coffer-budget/coffer/proto/gen/coffer/rest/v1"
)

const (
	docsPath    = "/docs"
	openAPIPath = "/api/v1/openapi.json"

	// docsPolicy permits Swagger UI its own scripts and styles, and connections to this gateway
	// only. The verb stands for the hashes of the scripts in its page: the page is on the origin of
	// the console, where no other inline script may run.
	docsPolicy = "default-src 'self'; script-src 'self'%s; style-src 'self' 'unsafe-inline'; " +
		"img-src 'self' data:; frame-ancestors 'none'"
)

var errRouteNotFound = apierr.New(restv1.Reason_ROUTE_NOT_FOUND)

// openAPI is the OpenAPI document, which `make generate` creates from the protos.
//
//go:embed openapi.json
var openAPI []byte

func serveOpenAPI(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", response.JSON)
	w.Header().Set("Cache-Control", "no-cache")
	_, _ = w.Write(openAPI)
}

func docs(log *slog.Logger) http.HandlerFunc {
	ui := v5emb.New("Coffer", openAPIPath, docsPath+"/")
	policy := fmt.Sprintf(docsPolicy, scriptHashes(ui))
	return func(w http.ResponseWriter, r *http.Request) {
		if file := strings.TrimPrefix(r.URL.Path, docsPath+"/"); file != "" && !isAsset(file) {
			response.Fail(r.Context(), log, w, errRouteNotFound)
			return
		}
		w.Header().Set("Content-Security-Policy", policy)
		w.Header().Set("Cache-Control", "public, max-age=3600")
		ui.ServeHTTP(w, r)
	}
}

var inlineScript = regexp.MustCompile(`(?s)<script>(.*?)</script>`)

// scriptHashes returns the sources of a Content-Security-Policy that permit the inline scripts of
// Swagger UI's page. The page is the same for each request.
func scriptHashes(ui http.Handler) string {
	page := &pageBuffer{header: http.Header{}}
	ui.ServeHTTP(page, &http.Request{Method: http.MethodGet, URL: &url.URL{Path: docsPath + "/"}})
	var sources strings.Builder
	for _, script := range inlineScript.FindAllSubmatch(page.Bytes(), -1) {
		hash := sha256.Sum256(script[1])
		sources.WriteString(" 'sha256-" + base64.StdEncoding.EncodeToString(hash[:]) + "'")
	}
	return sources.String()
}

type pageBuffer struct {
	bytes.Buffer
	header http.Header
}

func (b *pageBuffer) Header() http.Header { return b.header }

func (b *pageBuffer) WriteHeader(int) {}

// isAsset reports whether Swagger UI contains the file. Most files are stored compressed. For
// another name, Swagger UI would answer 404 in its own format.
func isAsset(name string) bool {
	_, plain := fs.Stat(static.FS, name)
	_, packed := fs.Stat(static.FS, name+".gz")
	return plain == nil || packed == nil
}
