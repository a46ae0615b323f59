package decode

import (
	"bufio"
	"compress/gzip"
	"errors"
	"io"
	"mime"
	"net/http"
	"strings"

	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/coffer-budget/coffer/internal/apierr"
	"github.com/coffer-budget/coffer/internal/rpc"
)

// Limits of bodies in bytes.
const (
	jsonLimit = 1 << 20
	fileLimit = rpc.MaxFile
	// uploadLimit is the limit of an upload, before and after decompression. Services have lower
	// limits for their files.
	uploadLimit = 64<<20 + multipartSlack
	// multipartSlack is the size of boundaries, part headers and the other fields around the file,
	// in bytes.
	multipartSlack = maxFormJSON + 64<<10
	// maxRatio limits the bytes after decompression to a multiple of those before, and ratioSlack
	// is the number that any body may have. They apply to the parts before the file, which the
	// gateway alone reads: 64 KiB would be as much work as 64 MiB. Services limit the work for
	// files.
	maxRatio   = 200
	ratioSlack = 1 << 20
)

// body is the body of a request. Its reader fails with http.MaxBytesError at the limit, which
// applies before and after decompression. boundary is that of the parts of a form.
type body struct {
	io.Reader
	boundary string
	// inflater decompresses the body, nil if it is not compressed.
	inflater *inflater
}

// openBody returns the body of a request, nil if there is none or the RPC takes none. It rejects a
// wrong media type, and a Content-Length above the limit before anything is read.
func (p *Plan) openBody(r *http.Request) (*body, error) {
	if !p.hasBody || r.ContentLength == 0 {
		return nil, nil
	}
	content := r.Body
	if r.ContentLength < 0 {
		// With chunked encoding, only the first byte shows whether there is a body.
		buffered := bufio.NewReader(content)
		if _, err := buffered.Peek(1); err == io.EOF {
			return nil, nil
		}
		content = io.NopCloser(buffered)
	}
	boundary, ok := p.acceptable(r.Header)
	limit := p.bodyLimit()
	switch {
	case !ok:
		return nil, errMediaType
	case r.ContentLength > limit:
		return nil, apierr.PayloadTooLarge
	}
	limited := http.MaxBytesReader(nil, content, limit)
	if !isCompressed(r.Header) {
		return &body{limited, boundary, nil}, nil
	}
	unpacked, err := newInflater(limited)
	if err != nil {
		return nil, malformed(err)
	}
	return &body{http.MaxBytesReader(nil, unpacked, limit), boundary, unpacked}, nil
}

// inflater decompresses a body. Until inFile is set, it fails with http.MaxBytesError beyond
// maxRatio and ratioSlack.
type inflater struct {
	*gzip.Reader
	packed *countingReader
	n      int64
	inFile bool
}

func newInflater(packed io.Reader) (*inflater, error) {
	counting := &countingReader{Reader: packed}
	unpacked, err := gzip.NewReader(counting)
	if err != nil {
		return nil, err
	}
	return &inflater{Reader: unpacked, packed: counting}, nil
}

func (r *inflater) Read(p []byte) (int, error) {
	n, err := r.Reader.Read(p)
	r.n += int64(n)
	if limit := ratioSlack + maxRatio*r.packed.n; r.n > limit && !r.inFile {
		return 0, &http.MaxBytesError{Limit: limit}
	}
	return n, err
}

type countingReader struct {
	io.Reader
	n int64
}

func (r *countingReader) Read(p []byte) (int, error) {
	n, err := r.Reader.Read(p)
	r.n += int64(n)
	return n, err
}

func (p *Plan) bodyLimit() int64 {
	switch {
	case p.file != nil:
		return uploadLimit
	case p.multipart:
		return fileLimit + multipartSlack
	}
	return jsonLimit
}

func isCompressed(h http.Header) bool {
	return strings.EqualFold(h.Get("Content-Encoding"), "gzip")
}

// acceptable reports whether the body has the media type that the RPC takes. Only the body of an
// upload may be compressed, with gzip. It returns the boundary of a form.
func (p *Plan) acceptable(header http.Header) (boundary string, ok bool) {
	encoding := strings.Join(header.Values("Content-Encoding"), ",")
	plain := encoding == "" || strings.EqualFold(encoding, "identity")
	if !plain && (p.file == nil || !strings.EqualFold(encoding, "gzip")) {
		return "", false
	}
	types := header.Values("Content-Type")
	if len(types) != 1 {
		return "", false
	}
	mediaType, params, err := mime.ParseMediaType(types[0])
	switch {
	case err != nil:
		return "", false
	case p.multipart, p.file != nil:
		return params["boundary"], mediaType == "multipart/form-data"
	}
	charset, given := params["charset"]
	return "", mediaType == "application/json" && (!given || strings.EqualFold(charset, "utf-8"))
}

// decodeBody sets the fields of the body, which is nil if there is none. A JSON body is read as a
// whole, because the decoder first checks its syntax.
func (p *Plan) decodeBody(
	r *http.Request, content *body, message protoreflect.Message, bad *problems,
) error {
	switch {
	case p.multipart:
		return p.decodeForm(r, content, message, bad)
	case content == nil:
		return nil
	}
	text, err := io.ReadAll(content)
	if err != nil {
		return unread(err)
	}
	return p.decodeJSON(r.Context(), text, message, bad)
}

// unread returns the public error for a body that could not be read to its end: PAYLOAD_TOO_LARGE,
// a timeout of a slow client, or an interrupted connection, whose client receives nothing anyway.
func unread(err error) error {
	if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return apierr.PayloadTooLarge
	}
	if timeout, ok := errors.AsType[interface {
		error
		Timeout() bool
	}](err); ok && timeout.Timeout() {
		return apierr.DeadlineExceeded
	}
	return errBodyInterrupted
}
