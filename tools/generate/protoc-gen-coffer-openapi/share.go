package main

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"strings"
)

// maxNamedCodes limits the codes in the name of a shared error response. Responses with more codes
// are rarely equal.
const maxNamedCodes = 3

// use is an object in the document that may become a reference to a component.
type use struct {
	value object
	// replace writes the reference over the object.
	replace func(reference object)
	// name is the name of the component, and tag the tag of the operation.
	name, tag string
}

// share moves headers, error responses and parameters that several operations have into components,
// and returns the components. Without it, the errors of all operations are two thirds of the
// document, and code generators declare types for each of them. Objects that are used once stay
// where they are. Headers come first, because responses contain them.
func (g *generator) share() (object, error) {
	components := object{"schemas": g.schemas}
	for _, kind := range []string{"headers", "responses", "parameters"} {
		shared, err := g.components(kind)
		if err != nil {
			return nil, err
		}
		components[kind] = shared
	}
	return components, nil
}

// components replaces the objects of a kind that are used more than once by references, and returns
// them by name. The name of a parameter id begins with the tag, because it has another meaning for
// each resource. Of two objects with one name, the more frequent one is shared. A parameter cannot
// have the name of a schema, because generators declare a type for both.
func (g *generator) components(kind string) (object, error) {
	equal := map[string][]use{}
	for _, u := range g.uses[kind] {
		text, err := json.Marshal(u.value)
		if err != nil {
			return nil, err
		}
		equal[string(text)] = append(equal[string(text)], u)
	}
	texts := slices.SortedFunc(maps.Keys(equal), func(a, b string) int {
		return cmp.Or(cmp.Compare(len(equal[b]), len(equal[a])), cmp.Compare(a, b))
	})
	shared := object{}
	for _, text := range texts {
		group := equal[text]
		name := group[0].name
		if name == "Id" {
			name = pascal(group[0].tag, "-") + name
		}
		taken := shared[name] != nil || kind == "parameters" && g.schemas[name] != nil
		if len(group) < 2 || name == "" || taken {
			continue
		}
		shared[name] = group[0].value
		for _, u := range group {
			u.replace(object{"$ref": "#/components/" + kind + "/" + name})
		}
	}
	return shared, nil
}

// useHeaders records the headers of a response for share.
func (g *generator) useHeaders(headers object) {
	for name, header := range headers {
		g.uses["headers"] = append(g.uses["headers"], use{
			value: header.(object), replace: func(r object) { headers[name] = r }, name: name,
		})
	}
}

// failureName returns the name of an error response as a component, for example
// InvalidRuleIdOrValidationError. It is empty for a response with many codes, which is never
// shared.
func failureName(codes []string) string {
	if len(codes) > maxNamedCodes {
		return ""
	}
	names := make([]string, len(codes))
	for i, code := range codes {
		names[i] = pascal(strings.ToLower(code), "_")
	}
	return strings.Join(names, "Or")
}

// pascal joins ASCII words with capital letters: If-Match becomes IfMatch.
func pascal(name, separator string) string {
	words := strings.Split(name, separator)
	for i, word := range words {
		words[i] = strings.ToUpper(word[:1]) + word[1:]
	}
	return strings.Join(words, "")
}
