package decode

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"mime/multipart"
	"net/http"
	"unicode/utf8"

	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/coffer-budget/coffer/internal/apierr"
)

const (
	// maxFormText limits a text field of a form, and maxFormJSON a field that holds a JSON object,
	// in bytes.
	maxFormText = 4 << 10
	maxFormJSON = 256 << 10
	// maxParts limits the parts of a form: mime/multipart spends kilobytes on each, even on an
	// empty one.
	maxParts = 32
	// maxBoundary is the limit of RFC 2046. mime/multipart accepts longer boundaries and searches
	// for them.
	maxBoundary = 70
)

// form is the state of decoding a form. Its parts are read one after the other, so only the file
// and one text are in memory.
type form struct {
	fields  fields
	message protoreflect.Message
	// seen counts the values of each field, in the query and in the form.
	seen map[string]int
	bad  *problems
}

// decodeForm fills message from a form, part by part in any order: bytes fields are files, messages
// are JSON objects, the others are text. A file that is missing or repeated stays empty, so that
// the service reports it with the other problems. If the gateway has found other problems, it
// reports the file itself.
func (p *Plan) decodeForm(
	r *http.Request, content *body, message protoreflect.Message, bad *problems,
) error {
	form := &form{fields: p.body, message: message, seen: map[string]int{}, bad: bad}
	query := r.URL.Query()
	for name := range p.query {
		form.seen[name] = len(query[name])
	}
	if content != nil {
		if _, _, err := form.readParts(r.Context(), content, ""); err != nil {
			return err
		}
	}
	for name, field := range p.body {
		if field.Kind() != protoreflect.BytesKind {
			continue
		}
		if form.seen[name] != 1 {
			message.Clear(field.FieldDescriptor)
		}
		if len(message.Get(field.FieldDescriptor).Bytes()) == 0 && len(bad.fields) > 0 {
			bad.add(name, "must be exactly one non-empty file")
			e := *errReceiptFileRequired
			e.Fields = bad.fields
			return &e
		}
	}
	return nil
}

// readParts reads the parts of a form up to the file with the name last, and returns that part and
// the reader of the parts after it. Without such a file it reads the whole form, and both are nil.
func (f *form) readParts(
	ctx context.Context, content *body, last string,
) (*multipart.Reader, *multipart.Part, error) {
	if content.boundary == "" || len(content.boundary) > maxBoundary {
		return nil, nil, errInvalidMultipart
	}
	parts := multipart.NewReader(content, content.boundary)
	for n := 0; ; n++ {
		part, err := parts.NextPart()
		// A form that ends before its last boundary returns a wrapped io.EOF. That is an error.
		if err == io.EOF {
			return parts, nil, nil
		}
		switch {
		case err != nil:
			return nil, nil, malformed(err)
		case n == maxParts:
			return nil, nil, errTooManyParts
		case ctx.Err() != nil:
			return nil, nil, ctx.Err()
		case last != "" && part.FormName() == last && isFile(part):
			return parts, part, nil
		}
		if err := f.read(ctx, part); err != nil {
			return nil, nil, err
		}
	}
}

// isFile reports whether a part is a file: it has a file name or a media type. A text field with
// the name of the file is not a file.
func isFile(part *multipart.Part) bool {
	return part.FileName() != "" || part.Header.Get("Content-Type") != ""
}

// read sets the field of a part. An unknown part is discarded, and counts as a part. Problems of
// fields are collected; an error ends decoding.
func (f *form) read(ctx context.Context, part *multipart.Part) error {
	name := part.FormName()
	field := f.fields[name]
	if field == nil {
		if _, err := io.Copy(io.Discard, part); err != nil {
			return malformed(err)
		}
		return nil
	}
	limit := int64(maxFormText)
	switch field.Kind() {
	case protoreflect.BytesKind:
		limit = fileLimit
	case protoreflect.MessageKind:
		limit = maxFormJSON
	}
	content, err := io.ReadAll(io.LimitReader(part, limit+1))
	if err != nil {
		return malformed(err)
	}
	f.seen[name]++
	switch tooLong := int64(len(content)) > limit; {
	case field.Kind() == protoreflect.BytesKind && tooLong:
		return apierr.PayloadTooLarge
	case field.Kind() == protoreflect.BytesKind:
		if isFile(part) {
			f.message.Set(field.FieldDescriptor, protoreflect.ValueOfBytes(content))
		}
	case f.seen[name] == 2:
		f.bad.add(name, problemTwice)
	case tooLong:
		f.bad.add(name, "is too long")
	case f.seen[name] == 1 && field.Kind() == protoreflect.MessageKind:
		return f.object(ctx, field, name, content)
	case f.seen[name] == 1:
		setText(f.message, field, name, string(content), f.bad)
	}
	return nil
}

// object sets the field of a part that holds a JSON object, by the rules of decodeJSON. An empty
// part means that the field is absent.
func (f *form) object(ctx context.Context, field *field, name string, content []byte) error {
	content = bytes.TrimLeft(content, " \t\r\n")
	switch {
	case len(content) == 0:
		return nil
	case !utf8.Valid(content):
		f.bad.add(name, problemUTF8)
		return nil
	case content[0] != '{' || !json.Valid(content):
		f.bad.add(name, problemJSON)
		return nil
	}
	path := []segment{{name: name, index: -1}}
	d := &jsonDecoder{rest: content, bad: f.bad, path: path, interrupted: ctx.Err}
	d.object(field.fields, f.message.Mutable(field.FieldDescriptor).Message())
	return d.err
}

func malformed(err error) error {
	if unread := unread(err); !errors.Is(unread, errBodyInterrupted) {
		return unread
	}
	return errInvalidMultipart
}
