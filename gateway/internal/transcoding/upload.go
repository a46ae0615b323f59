package transcoding

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"google.golang.org/grpc"

	"github.com/coffer-budget/coffer/internal/rpc"
)

type upload struct{ operation }

// receive answers an upload: it forwards the form to the service as it arrives, and then stores the
// reply. The connection of a client whose form was not read to its end cannot be reused.
func (u upload) receive(
	w http.ResponseWriter, r *http.Request, path map[string]string, reply *rpc.Encoded,
) error {
	limits := &u.Gate.Transfers.TransferLimits
	body := &pacedBody{
		ReadCloser: r.Body, control: http.NewResponseController(w),
		idle: limits.Idle, end: time.Now().Add(limits.Upload + readReserve),
	}
	r.Body = body
	if err := body.control.SetWriteDeadline(body.end.Add(limits.Idle)); err != nil {
		return fmt.Errorf("extending the time to write: %w", err)
	}
	err := u.forward(r, path, reply)
	if err != nil && !body.read {
		w.Header().Set("Connection", "close")
	}
	return err
}

// forward sends the form of an upload to the service and stores the reply. If the form is not
// complete, the service sees a canceled stream instead of its end, and discards the file.
func (u upload) forward(r *http.Request, path map[string]string, reply *rpc.Encoded) error {
	form, err := u.route.request.DecodeUpload(r, path)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(u.outgoing(r.Context(), r))
	defer cancel()
	stream, err := u.open(ctx)
	if err != nil {
		return err
	}
	for message := form.First; err == nil; message, err = form.Next() {
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

// endedEarly returns the error with which a service ended an upload. A service that has not read
// the whole file must not succeed.
func endedEarly(stream grpc.ClientStream, reply *rpc.Encoded) error {
	if err := stream.RecvMsg(reply); err != nil {
		return err
	}
	return errors.New("the service has answered before the end of the upload")
}

// pacedBody is the body of an upload. Each Read must return within idle, and all of them before
// end, so that a client that sends nothing is disconnected.
type pacedBody struct {
	io.ReadCloser
	control *http.ResponseController
	idle    time.Duration
	end     time.Time
	// read is set when the body has been read to its end.
	read bool
}

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
