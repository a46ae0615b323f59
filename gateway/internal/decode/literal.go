package decode

import (
	"bytes"
	"encoding/json"
	"strconv"

	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/coffer-budget/coffer/internal/restjson"
)

// maxNumberLength limits the digits of a number. Amounts have at most 15, and longer numbers are
// only work for the services.
const maxNumberLength = 1000

func (d *jsonDecoder) literal() []byte {
	depth := 1
	if d.rest[0] == '"' {
		for ; d.rest[depth] != '"'; depth++ {
			if d.rest[depth] == '\\' {
				depth++
			}
		}
		depth++
	} else {
		for depth < len(d.rest) && bytes.IndexByte(literalEnd, d.rest[depth]) < 0 {
			depth++
		}
	}
	raw := d.rest[:depth]
	d.rest = d.rest[depth:]
	return raw
}

// literalEnd has the bytes that end a number, true, false or null.
var literalEnd = []byte(" \t\r\n,]}")

// unquote returns the text of a string literal. raw includes the quotes. A string without escapes
// needs no second parser.
func unquote(raw []byte) string {
	if bytes.IndexByte(raw, '\\') < 0 {
		return string(raw[1 : len(raw)-1])
	}
	var s string
	// The literal is valid, so this cannot fail.
	_ = json.Unmarshal(raw, &s)
	return s
}

// parseLiteral reads a value as written. An empty raw stands for an object or array, which no
// scalar field accepts.
func parseLiteral(field *field, raw []byte) (value protoreflect.Value, problem string) {
	isText := len(raw) > 0 && raw[0] == '"'
	switch {
	case field.Kind() == protoreflect.StringKind && !field.decimal:
		if !isText {
			return value, problemString
		}
		if loneSurrogate(raw) {
			return value, problemUTF8
		}
		text := unquote(raw)
		return protoreflect.ValueOfString(text), textProblem(text)
	case field.Kind() == protoreflect.BoolKind:
		is := string(raw) == "true"
		if !is && string(raw) != "false" {
			return value, problemBool
		}
		return protoreflect.ValueOfBool(is), ""
	case isText || len(raw) == 0:
		return value, problemNumber
	case len(raw) > maxNumberLength:
		return value, problemRange
	case !restjson.IsNumber(string(raw)):
		return value, problemNumber
	case field.decimal:
		return protoreflect.ValueOfString(string(raw)), ""
	}
	return parseNumber(field, string(raw))
}

// loneSurrogate reports whether a JSON string escapes half of a surrogate pair. encoding/json would
// replace it with U+FFFD without an error.
func loneSurrogate(raw []byte) bool {
	for index := 0; index+1 < len(raw); index++ {
		if raw[index] != '\\' {
			continue
		}
		index++
		if raw[index] != 'u' {
			continue
		}
		unit := codeUnit(raw[index+1:])
		index += 4
		switch {
		case unit < 0xd800 || unit > 0xdfff:
		case unit >= 0xdc00 || !bytes.HasPrefix(raw[index+1:], []byte(`\u`)):
			return true
		default:
			if low := codeUnit(raw[index+3:]); low < 0xdc00 || low > 0xdfff {
				return true
			}
			index += 6
		}
	}
	return false
}

func codeUnit(hex []byte) uint64 {
	unit, _ := strconv.ParseUint(string(hex[:min(4, len(hex))]), 16, 16)
	return unit
}
