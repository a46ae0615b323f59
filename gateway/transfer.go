package gateway

import (
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"path"
	"strconv"
	"strings"
	"sync"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/coffer-budget/coffer/internal/apierr"
	"github.com/coffer-budget/coffer/internal/restjson"
	"github.com/coffer-budget/coffer/internal/rpc"
	restv1 "github.com/coffer-budget/coffer/proto/gen/coffer/rest/v1"
)

// transferLimits are the limits of uploads and downloads, which stream a file without keeping it in memory (ADR 79).
type transferLimits struct {
	// upload and download are the deadlines of a request.
	upload, download time.Duration
	// idle is the time within which a client must send or accept the next bytes.
	idle time.Duration
	// total and perCaller limit the simultaneous transfers of this gateway. Each uses a few hundred kilobytes of buffers.
	total, perCaller int
}

// usualTransfers are the limits outside of tests.
var usualTransfers = transferLimits{
	upload: rpc.UploadTimeout, download: rpc.DownloadTimeout, idle: 30 * time.Second, total: 200, perCaller: 20,
}

// transfers counts the open transfers by caller: a user, or an address without one. It is safe for concurrent use.
type transfers struct {
	transferLimits
	mu   sync.Mutex
	open map[string]int
	all  int
}

// newTransfers returns the counter of a gateway without transfers.
func newTransfers(limits transferLimits) *transfers {
	return &transfers{transferLimits: limits, open: map[string]int{}}
}

// enter counts a transfer that begins. It returns a function that the caller must call at the end, or an error if too many are open.
// A gateway at its total limit answers 503, and a caller at the own limit 429.
func (t *transfers) enter(who string) (leave func(), err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case t.all >= t.total:
		return nil, apierr.Unavailable
	case t.open[who] >= t.perCaller:
		return nil, errRateLimited.WithMessage(fmt.Sprintf("At most %d uploads and downloads may run at the same time", t.perCaller)).After(time.Second)
	}
	t.all++
	t.open[who]++
	return func() { t.leave(who) }, nil
}

// leave ends a transfer that enter counted.
func (t *transfers) leave(who string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.all--
	if t.open[who]--; t.open[who] == 0 {
		delete(t.open, who)
	}
}

// enterTransfer counts a transfer that begins, unless its service or the transfers are at their limit. A transfer does
// not count as a concurrent request of its service, because it lasts as long as the client needs.
func (h *rpcHandler) enterTransfer(r *http.Request, entry *logEntry) (leave func(), err error) {
	if h.limiter.Full() {
		h.limiter.countShed(r.Context())
		entry.shed = true
		return nil, apierr.Unavailable
	}
	return h.transfers.enter(h.bucket(r, entry.user))
}

// pacedBody is the body of an upload. Each Read must return within idle, and all of them before end. Without it, a client
// that sends nothing would keep an upload open until its deadline.
type pacedBody struct {
	io.ReadCloser
	control *http.ResponseController
	idle    time.Duration
	end     time.Time
	// read is set when the body has been read to its end.
	read bool
}

// Read implements io.Reader.
func (b *pacedBody) Read(p []byte) (int, error) {
	until := time.Now().Add(b.idle)
	if until.After(b.end) {
		until = b.end
	}
	if err := b.control.SetReadDeadline(until); err != nil {
		return 0, fmt.Errorf("extending the time to read: %w", err)
	}
	n, err := b.ReadCloser.Read(p)
	if err == io.EOF {
		b.read = true
		// net/http cancels a request at its read deadline, even if all of it has been read.
		_ = b.control.SetReadDeadline(time.Time{})
	}
	return n, err
}

// receive answers an upload: it forwards the form to the service as it arrives, and then stores the reply. The connection of a client
// whose form was not read to its end cannot be reused.
func (h *rpcHandler) receive(w http.ResponseWriter, r *http.Request, path map[string]string, reply *rpc.Encoded) error {
	body := &pacedBody{
		ReadCloser: r.Body, control: http.NewResponseController(w), idle: h.transfers.idle, end: time.Now().Add(h.transfers.upload + readReserve),
	}
	r.Body = body
	if err := body.control.SetWriteDeadline(body.end.Add(h.transfers.idle)); err != nil {
		return fmt.Errorf("extending the time to write: %w", err)
	}
	err := h.forward(r, path, reply)
	if err != nil && !body.read {
		logEntryOf(r.Context()).unread = true
		w.Header().Set("Connection", "close")
	}
	return err
}

// forward sends the form of an upload to the service and stores the reply. If the form is not complete or the client disconnects, the
// service sees a canceled stream instead of its end, and discards the file.
func (h *rpcHandler) forward(r *http.Request, path map[string]string, reply *rpc.Encoded) error {
	upload, err := h.route.request.DecodeUpload(r, path)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(h.outgoing(r.Context(), r))
	defer cancel()
	stream, err := rpc.NewEncodedStream(ctx, h.conn, h.route.method, h.route.fullMethod)
	if err != nil {
		return err
	}
	for message := upload.First; err == nil; message, err = upload.Next() {
		if err := stream.SendMsg(message); errors.Is(err, io.EOF) {
			// The service has ended the stream. RecvMsg returns its error.
			return endedEarly(stream, reply)
		} else if err != nil {
			return err
		}
	}
	if !errors.Is(err, io.EOF) {
		return err
	}
	if err := stream.CloseSend(); err != nil {
		return err
	}
	return stream.RecvMsg(reply)
}

// endedEarly returns the error with which a service ended an upload. A service that has not read the whole file must not succeed.
func endedEarly(stream grpc.ClientStream, reply *rpc.Encoded) error {
	if err := stream.RecvMsg(reply); err != nil {
		return err
	}
	return errors.New("the service has answered before the end of the upload")
}

// download is a response that streams a file.
type download struct {
	w       http.ResponseWriter
	control *http.ResponseController
	stream  grpc.ClientStream
	message rpc.Encoded
	// header and content are the fields of the messages.
	header, content protoreflect.FieldDescriptor
	idle            time.Duration
}

// send answers a download. An error is returned only if nothing has been sent. After an error in the middle of the file the connection is
// closed without the end of the response, so that no client takes a part for the whole file. w is the response without compression,
// because most files are compressed and the others would wait in its buffer.
func (h *rpcHandler) send(w http.ResponseWriter, r *http.Request, request proto.Message) error {
	ctx, cancel := context.WithCancel(h.outgoing(r.Context(), r))
	defer cancel()
	d := &download{w: w, control: http.NewResponseController(w), header: h.route.fileHeader, content: h.route.file, idle: h.transfers.idle}
	// The request has been read. The deadline for reading it must not end the response.
	if err := d.control.SetReadDeadline(time.Time{}); err != nil {
		return fmt.Errorf("clearing the read deadline: %w", err)
	}
	var err error
	if d.stream, err = rpc.NewEncodedStream(ctx, h.conn, h.route.method, h.route.fullMethod); err != nil {
		return err
	}
	if err := d.stream.SendMsg(request); err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	if err := d.stream.CloseSend(); err != nil {
		return err
	}
	header, err := d.begin()
	if err != nil {
		return err
	}
	setFileHeaders(w.Header(), header)
	w.WriteHeader(http.StatusOK)
	if r.Method == http.MethodHead {
		return nil
	}
	if err := d.copy(); err != nil {
		logEntryOf(r.Context()).cut = true
		if r.Context().Err() == nil {
			h.log.WarnContext(ctx, "failed to send a file to its end", "route", h.route.template, "error", err)
		}
		// All later writes of net/http fail, so it closes the connection.
		_ = d.control.SetWriteDeadline(time.Unix(1, 0))
	}
	return nil
}

// begin receives the header and the first piece, so that an error before it gets an error response.
func (d *download) begin() (*restv1.FileHeader, error) {
	if err := d.stream.RecvMsg(&d.message); err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	header := &restv1.FileHeader{}
	if err := proto.Unmarshal(restjson.Value(d.message, d.header).Bytes(), header); err != nil {
		return nil, fmt.Errorf("decoding a file header: %w", err)
	}
	if header.GetMediaType() == "" {
		return nil, errors.New("the first message of a download has no file header")
	}
	switch err := d.stream.RecvMsg(&d.message); {
	case errors.Is(err, io.EOF):
		d.message = d.message[:0]
	case err != nil:
		return nil, err
	}
	return header, nil
}

// copy writes the pieces until the stream ends.
func (d *download) copy() error {
	for {
		if piece := restjson.Value(d.message, d.content).Bytes(); len(piece) > 0 {
			if err := d.control.SetWriteDeadline(time.Now().Add(d.idle)); err != nil {
				return fmt.Errorf("extending the time to write: %w", err)
			}
			if _, err := d.w.Write(piece); err != nil {
				return err
			}
		}
		if err := d.stream.RecvMsg(&d.message); err != nil {
			if errors.Is(err, io.EOF) {
				return d.control.SetWriteDeadline(time.Now().Add(d.idle))
			}
			return err
		}
	}
}

// filePolicy keeps a browser from running a file, should it ever show one.
const filePolicy = "default-src 'none'; frame-ancestors 'none'; sandbox"

// setFileHeaders sets the headers of a download. With a known size net/http rejects a response that has another one.
func setFileHeaders(h http.Header, file *restv1.FileHeader) {
	h.Set("Content-Type", file.GetMediaType())
	h.Set("Content-Disposition", disposition(file.GetFileName()))
	h.Set("Content-Security-Policy", filePolicy)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Cache-Control", "no-store")
	// A reverse proxy that buffers would hide how fast the client reads.
	h.Set("X-Accel-Buffering", "no")
	if file.GetSize() > 0 {
		h.Set("Content-Length", strconv.FormatInt(file.GetSize(), 10))
	}
}

// disposition returns the Content-Disposition of a download: an ASCII name for every client and, if it differs, the whole name as RFC 6266
// defines it.
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

// percentEncode encodes a text as RFC 5987 requires: everything but letters, digits and a few signs.
func percentEncode(s string) string {
	var b strings.Builder
	for i := range len(s) {
		c := s[i]
		if c < 0x80 && (c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.IndexByte("!#$&+-.^_`|~", c) >= 0) {
			b.WriteByte(c)
			continue
		}
		fmt.Fprintf(&b, "%%%02X", c)
	}
	return b.String()
}
