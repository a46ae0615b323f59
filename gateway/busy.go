package gateway

import (
	"net/http"
	"strings"

	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/coffer-budget/coffer/internal/apierr"
	"github.com/coffer-budget/coffer/internal/rpc"
)

// busy is how much each service has to do. Each has a limit of its own: one that hangs must not stop the others.
type busy struct {
	// services are by package, and paths the same by the part of a path that says what it is about.
	services map[protoreflect.FullName]*rpc.Limit
	paths    map[string]*rpc.Limit
}

func newBusy(routes []*route) *busy {
	b := &busy{services: map[protoreflect.FullName]*rpc.Limit{}, paths: map[string]*rpc.Limit{}}
	for _, r := range routes {
		service := r.method.ParentFile().Package()
		if b.services[service] == nil {
			b.services[service] = rpc.NewLimit()
		}
		// A stream does nothing most of the time, and has a limit of its own.
		if !r.method.IsStreamingServer() {
			b.paths[topic(r.template)] = b.services[service]
		}
	}
	return b
}

// topic is "wallet" of /api/v1/wallet/{id}.
func topic(path string) string {
	rest, _ := strings.CutPrefix(path, "/api/v1/")
	first, _, _ := strings.Cut(rest, "/")
	return first
}

// shed refuses requests to a service that has enough to do. It is outermost, because under overload most requests get no
// further, and what they cost is taken from the others.
func (f *front) shed(next http.Handler) http.Handler {
	refuse := secure(f.crossOrigin(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		id := rpc.NewRequestID(r.Header.Get(requestIDHeader))
		w.Header().Set(requestIDHeader, id)
		f.fail(rpc.WithRequestID(r.Context(), id), w, apierr.Unavailable)
	})))
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if limit := f.busy.paths[topic(r.URL.Path)]; limit != nil && limit.Full() {
			refuse.ServeHTTP(w, r)
			return
		}
		next.ServeHTTP(w, r)
	})
}
