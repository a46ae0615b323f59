package main

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
)

// recorded has requests and responses of a running Coffer. TestExamples in test/ writes the file
// and compares it with real answers.
//
//go:embed examples.json
var recorded []byte

// example is a request of an operation, and the responses to it by status.
type example struct {
	// Parameters are the values in path, query and headers, by name.
	Parameters map[string]any `json:"parameters"`
	// Request is the JSON body, nil without one.
	Request any `json:"request"`
	// Responses maps a status, such as "201", to the JSON body.
	Responses map[string]any `json:"responses"`
	// Also maps a status to a further body. It only gives examples to schemas.
	Also map[string]any `json:"also"`
}

// examples returns the recorded examples by operation. Numbers keep their digits: 12.30 would
// otherwise become 12.3.
func examples() (map[string]example, error) {
	var all map[string]example
	decoder := json.NewDecoder(bytes.NewReader(recorded))
	decoder.UseNumber()
	if err := decoder.Decode(&all); err != nil {
		return nil, fmt.Errorf("reading examples.json: %w", err)
	}
	return all, nil
}

// addExamples adds the recorded examples to the operations and to the schemas of their bodies. A
// new operation has none until TestExamples records it.
func (g *generator) addExamples() error {
	all, err := examples()
	if err != nil {
		return err
	}
	found := map[string]object{}
	for _, path := range slices.Sorted(maps.Keys(g.paths)) {
		operations := g.paths[path].(object)
		for _, verb := range slices.Sorted(maps.Keys(operations)) {
			operation := operations[verb].(object)
			e := all[operation["operationId"].(string)]
			parameters, _ := operation["parameters"].([]any)
			for _, parameter := range parameters {
				if value, ok := e.Parameters[parameter.(object)["name"].(string)]; ok {
					if parameter.(object)["schema"].(object)["type"] == "array" {
						value = []any{value}
					}
					parameter.(object)["example"] = value
				}
			}
			if body, ok := operation["requestBody"].(object); ok {
				g.addExample(body, e.Request, found)
			}
			responses := operation["responses"].(object)
			for _, status := range slices.Sorted(maps.Keys(responses)) {
				g.addExample(responses[status].(object), e.Responses[status], found)
				g.collectBody(responses[status].(object), e.Also[status], found)
			}
		}
	}
	for name, value := range found {
		if !repeatsID(value, map[string]object{}) {
			g.schemas[name].(object)["example"] = value
		}
	}
	return nil
}

// addExample adds an example to the content of a request or response, and collects the examples of
// the schemas in it.
func (g *generator) addExample(body object, value any, found map[string]object) {
	if value == nil {
		return
	}
	for _, content := range body["content"].(object) {
		content.(object)["example"] = value
	}
	g.collectBody(body, value, found)
}

// collectBody collects the examples of the schemas below the content of a request or response. The
// example of the content is the one of its own schema, which is not repeated.
func (g *generator) collectBody(body object, value any, found map[string]object) {
	if value == nil {
		return
	}
	for _, content := range body["content"].(object) {
		schema := content.(object)["schema"].(object)
		if name, ok := schema["$ref"].(string); ok {
			schema = g.schemas[strings.TrimPrefix(name, schemas)].(object)
		}
		g.collect(schema, value, found)
	}
}

// repeatsID reports whether an example contains two versions of one resource. Validators of JSON
// Schema read the member id of an example as the identity of a schema, and reject two schemas with
// one identity.
func repeatsID(value any, seen map[string]object) bool {
	switch value := value.(type) {
	case object:
		id, _ := value["id"].(string)
		if other, ok := seen[id]; ok && id != "" && !reflect.DeepEqual(other, value) {
			return true
		}
		seen[id] = value
		return slices.ContainsFunc(slices.Collect(maps.Values(value)),
			func(v any) bool { return repeatsID(v, seen) })
	case []any:
		return slices.ContainsFunc(value, func(v any) bool { return repeatsID(v, seen) })
	}
	return false
}

// collect finds the values of named schemas in an example. If a schema has several, it keeps the
// one with the most fields.
func (g *generator) collect(schema, value any, found map[string]object) {
	s, _ := schema.(object)
	if name, ok := s["$ref"].(string); ok {
		name = strings.TrimPrefix(name, schemas)
		if fields, ok := value.(object); ok && len(fields) > len(found[name]) {
			found[name] = fields
		}
		g.collect(g.schemas[name], value, found)
		return
	}
	parts, _ := s["allOf"].([]any)
	for _, part := range parts {
		g.collect(part, value, found)
	}
	switch value := value.(type) {
	case object:
		properties, _ := s["properties"].(object)
		for _, name := range slices.Sorted(maps.Keys(value)) {
			g.collect(properties[name], value[name], found)
		}
	case []any:
		for _, item := range value {
			g.collect(s["items"], item, found)
		}
	}
}
