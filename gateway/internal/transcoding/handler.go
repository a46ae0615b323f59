// Package transcoding translates between REST and gRPC: it decodes an HTTP request to the request
// message of an RPC, calls the RPC, and encodes the reply. It contains no code for a single
// resource, except for events: it reads everything from the options in the protos.
//
//  1. handler.go runs the steps of a request.
//  2. Package decode makes the request message from path, headers, query and body.
//  3. call.go calls the service. events.go streams events instead, upload.go and download.go files.
//  4. encode.go makes status, headers and body from the reply.
//
// routes.go and route.go read the options. paths.go makes the header Allow, location.go the header
// Location of a created resource, and fileheader.go the headers of a download. Nothing is written
// before all conversions have succeeded, so a failure still gets an error response.
package transcoding

import (
	"fmt"
	"net/http"
	"time"

	"github.com/coffer-budget/coffer/gateway/internal/response"
	"github.com/coffer-budget/coffer/internal/rpc"
	restv1 "github.com/coffer-budget/coffer/proto/gen/coffer/rest/v1"
)

// Handler handles the requests of one RPC.
type Handler struct{ operation }

// NewHandler returns the handler of a route. service is the one that has the route's RPC.
func NewHandler(route *Route, service *Service) *Handler {
	return &Handler{operation{route, service}}
}

// Handle answers a request. grpc-gateway's mux calls it with the fields of the path.
func (h *Handler) Handle(w http.ResponseWriter, r *http.Request, path map[string]string) {
	entry := response.EntryOf(r.Context())
	entry.Route = h.route.Template
	ctx, cancel := h.route.withDeadline(r.Context(), &h.Gate.Transfers.TransferLimits)
	defer cancel()
	if err := h.serve(w, r.WithContext(ctx), path, entry); err != nil {
		response.Fail(ctx, h.Log, w, err)
	}
}

// serve runs the steps of a request in their order. An error ends them before anything is written.
func (h *Handler) serve(
	w http.ResponseWriter, r *http.Request, path map[string]string, entry *response.Entry,
) (err error) {
	public := h.route.access != restv1.Access_ACCESS_UNSPECIFIED
	if entry.User, err = h.Gate.Admit(r, public, h.route.weight, w.Header()); err != nil {
		return err
	}
	if h.route.isTransfer() {
		leave, err := h.enterTransfer(r, entry)
		if err != nil {
			return err
		}
		defer leave()
	}
	reply, buffer := newBuffer(), newBuffer()
	defer release(reply, buffer)
	if h.route.Upload {
		if err := (upload{h.operation}).receive(w, r, path, reply); err != nil {
			return err
		}
		return h.respond(w, r, reply, buffer)
	}
	if h.route.Multipart {
		h.extendRead(w, r)
	}
	request, err := h.route.request.Decode(r, path)
	switch {
	case err != nil:
		return err
	case h.route.Download:
		return (&download{operation: h.operation}).send(entry, r, request)
	case h.route.IsEvents():
		return events{h.operation}.send(entry.Plain, r, request)
	}
	if err := h.call(r, request, reply, entry); err != nil {
		return err
	}
	return h.respond(w, r, reply, buffer)
}

func (h *Handler) extendRead(w http.ResponseWriter, r *http.Request) {
	until := time.Now().Add(multipartDeadline + readReserve)
	if err := http.NewResponseController(w).SetReadDeadline(until); err != nil {
		h.Log.WarnContext(r.Context(), "failed to extend the time to read", "error", err)
	}
}

func (h *Handler) respond(
	w http.ResponseWriter, r *http.Request, reply, buffer *rpc.Encoded,
) error {
	status, body, err := encode(h.route, reply, buffer, w.Header())
	if err != nil {
		return fmt.Errorf("encoding the reply of %s: %w", h.route.Method.FullName(), err)
	}
	if err := setCookies(h.route, *reply, r, w.Header()); err != nil {
		return err
	}
	if h.route.conditional && response.Unchanged(r, body, w.Header()) {
		w.WriteHeader(http.StatusNotModified)
		return nil
	}
	response.Write(w, status, body)
	return nil
}
