package gateway

import (
	"bytes"
	"context"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io/fs"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"sync"
	"time"

	"github.com/swaggest/swgui/v5/static"
	"github.com/swaggest/swgui/v5emb"
	"google.golang.org/grpc"

	"github.com/coffer-budget/coffer/internal/app"
	"github.com/coffer-budget/coffer/internal/rpc"
)

// Paths of the endpoints.
const (
	livePath    = "/livez"
	readyPath   = "/readyz"
	docsPath    = "/docs"
	openAPIPath = "/api/v1/openapi.json"

	// docsPolicy permits Swagger UI its own scripts and styles, and connections to this gateway only.
	// The verb stands for the hashes of the scripts in its page: the page is on the origin of the
	// console, where no other inline script may run.
	docsPolicy = "default-src 'self'; script-src 'self'%s; style-src 'self' 'unsafe-inline'; img-src 'self' data:; frame-ancestors 'none'"

	// probeTime limits the time to check the services for readiness.
	probeTime = time.Second
)

// openAPI is the OpenAPI document, which `make generate` creates from the protos.
//
//go:embed openapi.json
var openAPI []byte

// endpoint is a path that the gateway serves itself. Its method is GET, and clients need no token.
type endpoint struct {
	path    string
	handler http.HandlerFunc
}

// endpoints returns the endpoints of the gateway: the console's page, probes, version, OpenAPI
// document and Swagger UI.
func (s *restServer) endpoints(conns connections) []endpoint {
	ui := v5emb.New("Coffer", openAPIPath, docsPath+"/")
	policy := fmt.Sprintf(docsPolicy, scriptHashes(ui))
	docs := func(w http.ResponseWriter, r *http.Request) {
		if file := strings.TrimPrefix(r.URL.Path, docsPath+"/"); file != "" && !isAsset(file) {
			s.fail(r.Context(), w, errRouteNotFound)
			return
		}
		w.Header().Set("Content-Security-Policy", policy)
		w.Header().Set("Cache-Control", "public, max-age=3600")
		ui.ServeHTTP(w, r)
	}
	return []endpoint{
		{"/", s.home},
		{livePath, func(w http.ResponseWriter, _ *http.Request) {
			writeJSON(w, http.StatusOK, map[string]string{"status": "ok"})
		}},
		{readyPath, s.readiness(conns)},
		{"/version", func(w http.ResponseWriter, _ *http.Request) {
			writeJSON(w, http.StatusOK, map[string]string{"version": app.Version()})
		}},
		{openAPIPath, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", jsonType)
			w.Header().Set("Cache-Control", "no-cache")
			_, _ = w.Write(openAPI)
		}},
		{docsPath, func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, docsPath+"/", http.StatusFound) }},
		{docsPath + "/**", docs},
	}
}

// inlineScript matches a script in a page.
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

// pageBuffer is a response that keeps the body.
type pageBuffer struct {
	bytes.Buffer
	header http.Header
}

// Header implements http.ResponseWriter.
func (b *pageBuffer) Header() http.Header { return b.header }

// WriteHeader implements http.ResponseWriter.
func (b *pageBuffer) WriteHeader(int) {}

// isAsset reports whether Swagger UI contains the file. Most files are stored compressed. For
// another name, Swagger UI would answer 404 in its own format.
func isAsset(name string) bool {
	_, plain := fs.Stat(static.FS, name)
	_, packed := fs.Stat(static.FS, name+".gz")
	return plain == nil || packed == nil
}

// readiness handles the readiness probe by checking the health of every service. The gateway is
// ready without budget, because the other operations still work, but not without auth or the
// ledger. The response also names the engine that reads receipts, and states whether the database
// has space for files. The keys of services are auth, ledger and budget, and their values ok or
// unavailable. All probes run at once within probeTime.
func (s *restServer) readiness(conns connections) http.HandlerFunc {
	services := map[string]grpc.ClientConnInterface{"auth": conns.auth, "ledger": conns.ledger, "budget": conns.budget}
	return func(w http.ResponseWriter, r *http.Request) {
		ctx, cancel := context.WithTimeout(r.Context(), probeTime)
		defer cancel()
		states := map[string]string{}
		var mu sync.Mutex
		var probes sync.WaitGroup
		for name, conn := range services {
			probes.Go(func() {
				state := "ok"
				if !rpc.Serving(ctx, conn, "") {
					state = "unavailable"
				}
				mu.Lock()
				defer mu.Unlock()
				states[name] = state
			})
		}
		reader, space := "", ""
		probes.Go(func() { space = storage(ctx, conns.ledger) })
		probes.Go(func() { reader = receiptReader(ctx, conns.ledger) })
		probes.Wait()
		status, httpStatus := "ok", http.StatusOK
		if states["auth"] != "ok" || states["ledger"] != "ok" || s.verifier.Ready() != nil {
			status, httpStatus = "unavailable", http.StatusServiceUnavailable
		}
		writeJSON(w, httpStatus, map[string]any{"status": status, "services": states, "receipts": reader, "storage": space})
	}
}

// receiptReader returns the engine that reads receipts, as the ledger reports it: "neural",
// "fallback" (Tesseract or a vision endpoint) or "unavailable".
func receiptReader(ctx context.Context, ledger grpc.ClientConnInterface) string {
	switch {
	case rpc.Serving(ctx, ledger, rpc.HealthNeuralReceipts):
		return "neural"
	case rpc.Serving(ctx, ledger, rpc.HealthReceipts):
		return "fallback"
	}
	return "unavailable"
}

// storage returns the free space of the database's volume, as the ledger reports it: "ok", "low"
// (less than 5 %: files are rejected) or "unknown".
func storage(ctx context.Context, ledger grpc.ClientConnInterface) string {
	switch free, known := rpc.Reported(ctx, ledger, rpc.HealthStorage); {
	case !known:
		return "unknown"
	case !free:
		return "low"
	}
	return "ok"
}

// writeJSON sends the response of an endpoint.
func writeJSON(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", jsonType)
	w.WriteHeader(status)
	// If this fails, the connection is closed and no client is left to inform.
	_ = json.NewEncoder(w).Encode(body)
}
