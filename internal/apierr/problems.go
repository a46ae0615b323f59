package apierr

import (
	"errors"
	"slices"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// Problems collects the problems of a request, so that one error names all of them. The zero value
// is ready to use.
type Problems struct {
	fields   []Field
	specific []*Error
}

// Field adds the problem of a field without a separate code. It ignores nil, and a second problem
// of the same field.
func (p *Problems) Field(f *Field) {
	same := func(known Field) bool { return known.Name == f.Name }
	if f != nil && !slices.ContainsFunc(p.fields, same) {
		p.fields = append(p.fields, *f)
	}
}

// Invalid adds the problem of a field without a separate code, as Field does.
func (p *Problems) Invalid(field, message string) { p.Field(&Field{Name: field, Message: message}) }

// Add adds a problem with a separate code.
func (p *Problems) Add(e *Error) { p.specific = append(p.specific, e) }

// Include adds the public error of a part of the request.
func (p *Problems) Include(e *Error) {
	if e.Is(validation) {
		p.fields = append(p.fields, e.Fields...)
		return
	}
	p.Add(e)
}

// Has reports whether a problem like e was added.
func (p *Problems) Has(e *Error) bool {
	return slices.ContainsFunc(p.specific, func(s *Error) bool { return errors.Is(s, e) })
}

// Err returns nil if there are no problems, otherwise one error that names every bad field. Its
// code is VALIDATION_ERROR if Field added a problem, otherwise the code of the first problem that
// Add added.
func (p *Problems) Err() error {
	if len(p.fields) == 0 && len(p.specific) == 0 {
		return nil
	}
	failure := &Error{}
	if len(p.fields) > 0 {
		failure = Validation(p.fields)
	} else {
		*failure = *p.specific[0]
		failure.Fields = nil
	}
	for _, s := range p.specific {
		failure.Fields = append(failure.Fields, s.Fields...)
	}
	return failure
}

// CheckChange returns EmptyUpdate if a PATCH sets none of the fields that it can change. These are
// the fields with presence in the proto: optional fields and messages. A request with an optional
// query parameter, such as UpdateTagRequest, needs a check of its own.
func CheckChange(req proto.Message) error {
	changes := false
	req.ProtoReflect().Range(func(f protoreflect.FieldDescriptor, _ protoreflect.Value) bool {
		changes = f.HasPresence()
		return !changes
	})
	if !changes {
		return EmptyUpdate
	}
	return nil
}
