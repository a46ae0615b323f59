package transcoding

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"

	"github.com/coffer-budget/coffer/gateway/internal/response"
	"github.com/coffer-budget/coffer/internal/restjson"
	"github.com/coffer-budget/coffer/internal/rpc"
	restv1 "github.com/coffer-budget/coffer/proto/gen/coffer/rest/v1"
)

type download struct {
	operation

	w       http.ResponseWriter
	control *http.ResponseController
	stream  grpc.ClientStream
	message rpc.Encoded
}

// send answers a download. An error is returned only if nothing has been sent. After an error in
// the middle of the file the connection is closed without the end of the response, so that no
// client takes a part for the whole file. The response has no compression, because most files are
// compressed and the others would wait in its buffer.
func (d *download) send(entry *response.Entry, r *http.Request, request proto.Message) error {
	ctx, cancel := context.WithCancel(d.outgoing(r.Context(), r))
	defer cancel()
	d.w, d.control = entry.Plain, http.NewResponseController(entry.Plain)
	// The request has been read. The deadline for reading it must not end the response.
	if err := d.control.SetReadDeadline(time.Time{}); err != nil {
		return fmt.Errorf("clearing the read deadline: %w", err)
	}
	var err error
	if d.stream, err = d.open(ctx); err != nil {
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
	setFileHeaders(d.w.Header(), header)
	d.w.WriteHeader(http.StatusOK)
	if r.Method == http.MethodHead {
		return nil
	}
	if err := d.copy(); err != nil {
		entry.Cut = true
		if r.Context().Err() == nil {
			d.Log.WarnContext(ctx, "failed to send a file to its end",
				"route", entry.Route, "error", err)
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
	encoded := restjson.Value(d.message, d.route.fileHeader).Bytes()
	if err := proto.Unmarshal(encoded, header); err != nil {
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

func (d *download) copy() error {
	for {
		if piece := restjson.Value(d.message, d.route.file).Bytes(); len(piece) > 0 {
			if err := d.extendWrite(); err != nil {
				return fmt.Errorf("extending the time to write: %w", err)
			}
			if _, err := d.w.Write(piece); err != nil {
				return err
			}
		}
		if err := d.stream.RecvMsg(&d.message); err != nil {
			if errors.Is(err, io.EOF) {
				return d.extendWrite()
			}
			return err
		}
	}
}

func (d *download) extendWrite() error {
	return d.control.SetWriteDeadline(time.Now().Add(d.Gate.Transfers.Idle))
}
