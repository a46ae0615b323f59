package decode

import (
	"errors"
	"io"
	"mime/multipart"
	"net/http"
	"path"
	"strings"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/coffer-budget/coffer/internal/apierr"
	"github.com/coffer-budget/coffer/internal/rpc"
	restv1 "github.com/coffer-budget/coffer/proto/gen/coffer/rest/v1"
)

const (
	problemFile = "must be exactly one non-empty file"
	problemLast = "must be the last part"
	// maxFileName limits the name of a file in bytes. Services may have lower limits.
	maxFileName = 1000
)

// Upload is an upload whose fields have been read, and whose file follows. Only one piece of the
// file is in memory.
type Upload struct {
	// First is the first message: all fields of the request except the file.
	First proto.Message

	plan    *Plan
	content *body
	parts   *multipart.Reader
	part    *multipart.Part
	// piece is the first piece of the file, which DecodeUpload has read to know that the file is
	// not empty.
	piece []byte
}

// DecodeUpload reads a request for an upload up to the first piece of its file. path has the values
// of the fields in the path by their names in the proto. The errors are like those of Decode.
func (p *Plan) DecodeUpload(r *http.Request, path map[string]string) (*Upload, error) {
	content, err := p.openBody(r)
	if err != nil {
		return nil, err
	}
	message := p.message.New()
	p.setPath(message, path)
	p.setHeaders(message, r)
	bad := &problems{}
	if err := p.decodeQuery(r.URL.RawQuery, message, bad); err != nil {
		return nil, err
	}
	upload := &Upload{First: message.Interface(), plan: p, content: content}
	if content != nil {
		form := &form{fields: p.body, message: message, seen: map[string]int{}, bad: bad}
		upload.parts, upload.part, err = form.readParts(r.Context(), content, p.file.JSONName())
		if err != nil {
			return nil, err
		}
	}
	if upload.part != nil {
		if content.inflater != nil {
			content.inflater.inFile = true
		}
		if upload.piece, err = upload.read(); err != nil && !errors.Is(err, io.EOF) {
			return nil, err
		}
		upload.describe(message)
	}
	if len(upload.piece) == 0 {
		bad.add(p.file.JSONName(), problemFile)
	}
	return upload, bad.err()
}

// describe sets the field that describes the file, to the client's claims.
func (u *Upload) describe(m protoreflect.Message) {
	if u.plan.fileHeader == nil {
		return
	}
	header := &restv1.FileHeader{
		MediaType: cleanHeader(u.part.Header.Get("Content-Type")), FileName: fileName(u.part),
	}
	m.Set(u.plan.fileHeader, protoreflect.ValueOfMessage(header.ProtoReflect()))
}

// fileName returns the name of a file without folders. Browsers on Windows may send a path with
// backslashes.
func fileName(part *multipart.Part) string {
	name := path.Base(strings.ReplaceAll(part.FileName(), `\`, "/"))
	if name == "." || name == "/" {
		return ""
	}
	return cleanHeader(name)
}

// cleanHeader removes characters that protobuf or PostgreSQL cannot store from a header of a part,
// and shortens it.
func cleanHeader(value string) string {
	value = strings.ReplaceAll(toValidUTF8(value), "\x00", "")
	if len(value) > maxFileName {
		value = strings.ToValidUTF8(value[:maxFileName], "")
	}
	return value
}

// Next returns the next message, with a piece of the file, and io.EOF at the end of the form. After
// any other error the service must not receive the end of the stream.
func (u *Upload) Next() (proto.Message, error) {
	piece := u.piece
	u.piece = nil
	if piece == nil {
		var err error
		if piece, err = u.read(); err != nil {
			return nil, err
		}
	}
	m := u.plan.message.New()
	m.Set(u.plan.file, protoreflect.ValueOfBytes(piece))
	return m.Interface(), nil
}

// read returns the next piece of the file. After the last one it checks that the form ends, and
// returns io.EOF.
func (u *Upload) read() ([]byte, error) {
	piece, total := make([]byte, rpc.MaxPiece), 0
	for total < len(piece) {
		more, err := u.part.Read(piece[total:])
		total += more
		if errors.Is(err, io.EOF) { // A form that is cut off returns another error.
			break
		}
		if err != nil {
			return nil, malformed(err)
		}
	}
	if total > 0 {
		return piece[:total], nil
	}
	switch _, err := u.parts.NextPart(); {
	case err == nil:
		return nil, apierr.Invalid(u.plan.file.JSONName(), problemLast)
	case err != io.EOF:
		return nil, malformed(err)
	}
	// The end of the body proves that it is complete: chunked encoding has a last chunk, and gzip a
	// checksum.
	if _, err := io.Copy(io.Discard, u.content); err != nil {
		return nil, malformed(err)
	}
	return nil, io.EOF
}
