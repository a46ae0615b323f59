package main

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strings"
)

// lineWidth is the width up to which an object or array stays on one line.
const lineWidth = 240

// printed returns a value as JSON that is compact and readable in a review: an object or array is
// on one line if it fits. An example and the content of a body always are, because examples.json
// and the schemas have them for reviews. Objects are sorted by key, so that the document is the
// same every time.
func printed(value any) ([]byte, error) {
	var compact bytes.Buffer
	encoder := json.NewEncoder(&compact)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		return nil, err
	}
	decoder := json.NewDecoder(&compact)
	decoder.UseNumber()
	var plain any
	if err := decoder.Decode(&plain); err != nil {
		return nil, err
	}
	var out bytes.Buffer
	writeJSON(&out, plain, 0)
	return append(out.Bytes(), '\n'), nil
}

// writeJSON appends a value that consists of the types of encoding/json, at a depth of nesting.
func writeJSON(out *bytes.Buffer, value any, depth int) {
	line := oneLine(value)
	if len(line)+depth <= lineWidth {
		out.Write(line)
		return
	}
	indent := "\n" + strings.Repeat(" ", depth+1)
	separator := ""
	switch value := value.(type) {
	case object:
		out.WriteByte('{')
		for _, key := range slices.Sorted(maps.Keys(value)) {
			out.WriteString(separator + indent)
			out.Write(oneLine(key))
			out.WriteString(": ")
			separator = ","
			if key == "example" || key == "content" {
				out.Write(oneLine(value[key]))
				continue
			}
			writeJSON(out, value[key], depth+1)
		}
		out.WriteString(indent[:depth+1] + "}")
	case []any:
		out.WriteByte('[')
		for _, element := range value {
			out.WriteString(separator + indent)
			writeJSON(out, element, depth+1)
			separator = ","
		}
		out.WriteString(indent[:depth+1] + "]")
	default:
		out.Write(line)
	}
}

// oneLine returns a value on one line. Encoding cannot fail, because printed has decoded the value.
func oneLine(value any) []byte {
	var line bytes.Buffer
	encoder := json.NewEncoder(&line)
	encoder.SetEscapeHTML(false)
	_ = encoder.Encode(value)
	return bytes.TrimSuffix(line.Bytes(), []byte("\n"))
}
