package decode

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/coffer-budget/coffer/internal/apierr"
	"github.com/coffer-budget/coffer/internal/restjson"
)

// These are the messages for invalid fields. They state the allowed values.
const (
	problemString  = "must be a string"
	problemNumber  = "must be a number"
	problemInteger = "must be an integer"
	problemRange   = "is out of range"
	problemBool    = "must be true or false"
	problemList    = "must be an array"
	problemObject  = "must be an object"
	problemJSON    = "must be a JSON object"
	problemNull    = "must not be null"
	problemTwice   = "must be given only once"
	problemUTF8    = "must be valid UTF-8"
	problemNUL     = "must not contain NUL"
)

const (
	// maxProblems limits the problems in an error response. A body of a megabyte can have very
	// many.
	maxProblems = 50
	// maxFieldLength limits the name of a field in an error response, in bytes.
	maxFieldLength = 100
)

type problems struct{ fields []apierr.Field }

func (p *problems) full() bool { return len(p.fields) >= maxProblems }

func (p *problems) add(field, message string) {
	if !p.full() {
		p.fields = append(p.fields, apierr.Field{Name: shorten(field), Message: message})
	}
}

// sort sorts the problems by field, so that the response does not depend on the order of a map.
func (p *problems) sort() {
	slices.SortFunc(p.fields, func(a, b apierr.Field) int { return cmp.Compare(a.Name, b.Name) })
}

// err returns one error for all problems, or nil if there are none. It returns an untyped nil,
// because a nil *apierr.Error would be an error that is not nil.
func (p *problems) err() error {
	if invalid := apierr.Validation(p.fields); invalid != nil {
		return invalid
	}
	return nil
}

func parseNumber(field *field, text string) (value protoreflect.Value, problem string) {
	switch field.Kind() {
	case protoreflect.Int32Kind, protoreflect.Int64Kind:
		bits := 64
		if field.Kind() == protoreflect.Int32Kind {
			bits = 32
		}
		if !restjson.IsNumber(text) || strings.ContainsAny(text, ".eE") {
			return value, problemInteger
		}
		// ParseInt returns the nearest value for a number out of range. Every field has narrower
		// limits, so the service rejects it.
		n, _ := strconv.ParseInt(text, 10, bits)
		if bits == 32 {
			return protoreflect.ValueOfInt32(int32(n)), ""
		}
		return protoreflect.ValueOfInt64(n), ""
	case protoreflect.DoubleKind:
		if !restjson.IsNumber(text) {
			return value, problemNumber
		}
		f, err := strconv.ParseFloat(text, 64)
		if err != nil || math.IsInf(f, 0) {
			return value, problemRange
		}
		return protoreflect.ValueOfFloat64(f), ""
	}
	return value, "cannot be given here"
}

// textProblem returns the problem of a text that protobuf or PostgreSQL cannot store, or "".
func textProblem(text string) string {
	switch {
	case !utf8.ValidString(text):
		return problemUTF8
	case strings.IndexByte(text, 0) >= 0:
		return problemNUL
	}
	return ""
}

func shorten(name string) string {
	if len(name) <= maxFieldLength {
		return name
	}
	return strings.ToValidUTF8(name[:maxFieldLength], "") + "..."
}
