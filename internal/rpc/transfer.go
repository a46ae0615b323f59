package rpc

import (
	"bytes"
	"context"
	"io"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/coffer-budget/coffer/internal/apierr"
	restv1 "github.com/coffer-budget/coffer/proto/gen/coffer/rest/v1"
)

const (
	UploadTimeout   = 5 * time.Minute
	DownloadTimeout = 15 * time.Minute
)

// MaxPiece is the maximum size of a piece of a file in bytes. It is a quarter of the flow-control
// window, so that a sender can be a few pieces ahead of the receiver, and not more.
const MaxPiece = 64 << 10

// maxTransfers is the maximum number of open transfers of a server. Each may use a few hundred
// kilobytes of buffers.
const maxTransfers = 500

// IsUpload and IsDownload report whether a method has the option of the name.
func IsUpload(m protoreflect.MethodDescriptor) bool {
	return proto.GetExtension(m.Options(), restv1.E_Upload).(bool)
}

// IsDownload reports whether a method has the option download.
func IsDownload(m protoreflect.MethodDescriptor) bool {
	return proto.GetExtension(m.Options(), restv1.E_Download).(bool)
}

// transferTimeout returns the maximum duration of a transfer, and 0 for a method that is none. It
// exceeds the gateway's deadline, so that this deadline decides.
func transferTimeout(method protoreflect.MethodDescriptor) time.Duration {
	switch {
	case method == nil:
		return 0
	case IsUpload(method):
		return UploadTimeout + 30*time.Second
	case IsDownload(method):
		return DownloadTimeout + 30*time.Second
	}
	return 0
}

// NewEncodedStream opens a stream whose replies are stored in an Encoded by RecvMsg. SendMsg takes
// a message.
func NewEncodedStream(
	ctx context.Context, conn grpc.ClientConnInterface, m protoreflect.MethodDescriptor,
	fullMethod string,
) (grpc.ClientStream, error) {
	desc := &grpc.StreamDesc{
		ClientStreams: m.IsStreamingClient(), ServerStreams: m.IsStreamingServer(),
	}
	return conn.NewStream(ctx, desc, fullMethod, encodedReplies())
}

// FileReader reads the file of an upload from its stream. Read returns io.EOF after the last piece:
// only then the upload is complete, and the RPC may make it visible.
type FileReader struct {
	receive func() ([]byte, error)
	rest    []byte
	left    int64
}

// NewFileReader returns a reader of the pieces that receive returns. Its Read returns
// apierr.PayloadTooLarge at the first byte beyond limit.
func NewFileReader(limit int64, receive func() ([]byte, error)) *FileReader {
	return &FileReader{receive: receive, left: limit}
}

// Read implements io.Reader.
func (r *FileReader) Read(into []byte) (int, error) {
	for len(r.rest) == 0 {
		piece, err := r.receive()
		if err != nil {
			return 0, err
		}
		if r.left -= int64(len(piece)); r.left < 0 {
			return 0, apierr.PayloadTooLarge
		}
		r.rest = piece
	}
	n := copy(into, r.rest)
	r.rest = r.rest[n:]
	return n, nil
}

// FileWriter sends the file of a download in pieces. The caller must call Flush at the end.
type FileWriter struct {
	send  func(piece []byte) error
	piece bytes.Buffer
}

// NewFileWriter returns a writer that passes pieces to send. The function may keep them.
func NewFileWriter(send func(piece []byte) error) *FileWriter { return &FileWriter{send: send} }

// Write implements io.Writer.
func (w *FileWriter) Write(p []byte) (int, error) {
	written := 0
	for len(p) > 0 {
		n, _ := w.piece.Write(p[:min(len(p), MaxPiece-w.piece.Len())])
		p, written = p[n:], written+n
		if w.piece.Len() == MaxPiece {
			if err := w.Flush(); err != nil {
				return written, err
			}
		}
	}
	return written, nil
}

// Flush sends the last piece.
func (w *FileWriter) Flush() error {
	if w.piece.Len() == 0 {
		return nil
	}
	// gRPC may read a message after sending it, so each piece has its own memory.
	piece := bytes.Clone(w.piece.Bytes())
	w.piece.Reset()
	return w.send(piece)
}

var (
	_ io.Reader = (*FileReader)(nil)
	_ io.Writer = (*FileWriter)(nil)
)
