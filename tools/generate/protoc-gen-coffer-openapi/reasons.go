package main

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"

	"google.golang.org/protobuf/compiler/protogen"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	restv1 "github.com/coffer-budget/coffer/proto/gen/coffer/rest/v1"
)

// derived are the errors that follow from an operation's options and fields. The comment of the
// option errors in rest.proto lists the same rules for authors of protos. A change needs both.
var derived = []struct {
	applies func(*operation) bool
	reasons []string
}{
	{
		func(*operation) bool { return true },
		[]string{
			"VALIDATION_ERROR", "RATE_LIMITED", "INTERNAL", "SERVICE_UNAVAILABLE",
			"DEADLINE_EXCEEDED",
		},
	},
	{
		func(o *operation) bool { return o.body },
		[]string{"PAYLOAD_TOO_LARGE", "UNSUPPORTED_MEDIA_TYPE"},
	},
	{
		func(o *operation) bool { return !o.public },
		[]string{"UNAUTHORIZED", "TOKEN_EXPIRED", "INSUFFICIENT_SCOPE"},
	},
	{
		func(o *operation) bool {
			return proto.GetExtension(o.method.Desc.Options(), restv1.E_StepUp).(bool)
		},
		[]string{"REAUTHENTICATION_REQUIRED"},
	},
	{
		func(o *operation) bool { return o.method.Input.Desc.Fields().ByName("cursor") != nil },
		[]string{"INVALID_CURSOR"},
	},
	{func(o *operation) bool { return o.takesHeader("If-Match") }, []string{"VERSION_MISMATCH"}},
	{
		func(o *operation) bool { return o.takesHeader("Idempotency-Key") },
		[]string{"IDEMPOTENCY_KEY_CONFLICT"},
	},
}

// takesHeader reports whether a field of the request is the HTTP header with this name.
func (o *operation) takesHeader(name string) bool {
	return slices.ContainsFunc(o.method.Input.Fields,
		func(f *protogen.Field) bool { return stringOption(f, restv1.E_Header) == name })
}

// reason is a value of the enum Reason. The enum is read from the compiled files and not from the
// generated Go code, because only the compiled files have comments.
type reason struct {
	// statuses are the HTTP statuses. Reasons with also_invalid_argument have 400 as a second one.
	statuses []int
	// meaning is the comment of the value, which says when the error is returned.
	meaning string
}

// reasons returns the declared reasons by name, and their names by number. The option errors of an
// RPC holds the numbers. It skips the first value of the enum, REASON_UNSPECIFIED, because no error
// has it.
func reasons(files []*protogen.File) (map[string]reason, map[protoreflect.EnumNumber]string) {
	declared, names := map[string]reason{}, map[protoreflect.EnumNumber]string{}
	for _, file := range files {
		for _, enum := range file.Enums {
			if enum.Desc.FullName() != restv1.Reason_REASON_UNSPECIFIED.Descriptor().FullName() {
				continue
			}
			for _, value := range enum.Values[1:] {
				options := value.Desc.Options()
				status := proto.GetExtension(options, restv1.E_HttpStatus).(int32)
				r := reason{
					statuses: []int{int(status)}, meaning: comment(value.Comments.Leading),
				}
				if proto.GetExtension(options, restv1.E_AlsoInvalidArgument).(bool) {
					r.statuses = append(r.statuses, http.StatusBadRequest)
				}
				name := string(value.Desc.Name())
				declared[name], names[value.Desc.Number()] = r, name
			}
		}
	}
	return declared, names
}

// errors returns the names of the errors that an operation may return: the ones in the option
// errors, and the derived ones. It is an error to list a derived one.
func (g *generator) errors(o *operation) ([]string, error) {
	all := map[string]bool{}
	for _, d := range derived {
		if d.applies(o) {
			for _, name := range d.reasons {
				all[name] = true
			}
		}
	}
	options := o.method.Desc.Options()
	for _, listed := range proto.GetExtension(options, restv1.E_Errors).([]restv1.Reason) {
		name := g.reasonNames[protoreflect.EnumNumber(listed)]
		if all[name] {
			return nil, fmt.Errorf(
				"%s is listed twice, or follows from the other options and fields", name)
		}
		all[name] = true
	}
	return slices.Sorted(maps.Keys(all)), nil
}

// failures adds the error responses of an operation, by status. OpenAPI has one response per
// status, so errors with the same status share one. A reason with two statuses is in both.
func (g *generator) failures(o *operation, responses object) error {
	names, err := g.errors(o)
	if err != nil {
		return err
	}
	byStatus := map[int][]string{}
	for _, name := range names {
		for _, status := range g.reasons[name].statuses {
			byStatus[status] = append(byStatus[status], name)
		}
	}
	for status, names := range byStatus {
		failure := g.failure(status, names)
		responses[fmt.Sprint(status)] = failure
		g.uses["responses"] = append(g.uses["responses"], use{
			value: failure, replace: func(r object) { responses[fmt.Sprint(status)] = r },
			name: failureName(names),
		})
	}
	return nil
}

// failure returns the response with a status. Its description says when each code is returned, and
// its schema is Error with only these codes. The headers are those that the gateway adds to this
// status.
func (g *generator) failure(status int, names []string) object {
	var lines []string
	for _, name := range names {
		lines = append(lines, fmt.Sprintf("- `%s`: %s", name, g.reasons[name].meaning))
	}
	headers := object{"X-Request-Id": requestIDHeader()}
	switch status {
	case http.StatusUnauthorized:
		headers["WWW-Authenticate"] = object{
			"description": "Always Bearer.", "schema": object{"type": "string"},
		}
	case http.StatusTooManyRequests, http.StatusServiceUnavailable:
		headers["Retry-After"] = object{
			"description": "Seconds after which the client may retry.",
			"schema":      object{"type": "integer"},
		}
	}
	g.useHeaders(headers)
	return object{
		"description": strings.Join(lines, "\n"), "headers": headers,
		"content": object{"application/json": object{"schema": object{"allOf": []any{
			reference("Error"),
			object{"properties": object{"code": object{"type": "string", "enum": names}}},
		}}}},
	}
}
