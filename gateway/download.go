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
	"time"

	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/coffer-budget/coffer/internal/restjson"
	"github.com/coffer-budget/coffer/internal/rpc"
	restv1 "github.com/coffer-budget/coffer/proto/gen/coffer/rest/v1"
)

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

// send answers a download. An error is returned only if nothing has been sent. After an error in
// the middle of the file the connection is closed without the end of the response, so that no
// client takes a part for the whole file. w is the response without compression, because most files
// are compressed and the others would wait in its buffer.
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

// setFileHeaders sets the headers of a download. With a known size net/http rejects a response that
// has another one.
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

// percentEncode encodes a text as RFC 5987 requires: everything but letters, digits and a few
// signs.
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
