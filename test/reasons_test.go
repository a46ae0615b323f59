package test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"

	restv1 "github.com/coffer-budget/coffer/proto/gen/coffer/rest/v1"
)

// anyRPC has the reasons that every RPC may return without declaring them. INSUFFICIENT_PERMISSIONS
// is the response to a service that is not one of the RPC's callers.
var anyRPC = []string{
	"VALIDATION_ERROR", "UNAUTHORIZED", "TOKEN_EXPIRED", "INSUFFICIENT_SCOPE",
	"INSUFFICIENT_PERMISSIONS", "RATE_LIMITED", "PAYLOAD_TOO_LARGE", "CANCELED", "INTERNAL",
	"SERVICE_UNAVAILABLE", "DEADLINE_EXCEEDED",
}

// undeclared returns the errors in the services' log that an RPC returned, but does not declare.
// The OpenAPI document has only the RPCs with a REST path. The log has those between services too.
func (r *record) undeclared() ([]string, error) {
	if _, err := r.file.Seek(0, io.SeekStart); err != nil {
		return nil, err
	}
	found := map[string]bool{}
	lines := bufio.NewScanner(r.file)
	lines.Buffer(nil, 16<<20)
	for lines.Scan() {
		var call struct{ Msg, Method, Reason string }
		// Spans and events are not JSON.
		if json.Unmarshal(lines.Bytes(), &call) != nil || call.Msg != "rpc" || call.Reason == "OK" {
			continue
		}
		name := strings.ReplaceAll(strings.TrimPrefix(call.Method, "/"), "/", ".")
		d, err := protoregistry.GlobalFiles.FindDescriptorByName(protoreflect.FullName(name))
		if err != nil {
			return nil, fmt.Errorf("finding the RPC %s: %w", call.Method, err)
		}
		if !slices.Contains(declared(d.(protoreflect.MethodDescriptor)), call.Reason) {
			found[call.Method+" "+call.Reason] = true
		}
	}
	return slices.Sorted(maps.Keys(found)), lines.Err()
}

// declared returns the reasons that an RPC may return: the values of the option errors, and the
// reasons that follow from its other options and its fields, as the comment of the option says.
func declared(method protoreflect.MethodDescriptor) []string {
	reasons := slices.Clone(anyRPC)
	for _, reason := range proto.GetExtension(method.Options(), restv1.E_Errors).([]restv1.Reason) {
		reasons = append(reasons, reason.String())
	}
	fields := method.Input().Fields()
	if fields.ByName("cursor") != nil {
		reasons = append(reasons, "INVALID_CURSOR")
	}
	for i := range fields.Len() {
		switch proto.GetExtension(fields.Get(i).Options(), restv1.E_Header).(string) {
		case "If-Match":
			reasons = append(reasons, "VERSION_MISMATCH")
		case "Idempotency-Key":
			reasons = append(reasons, "IDEMPOTENCY_KEY_CONFLICT")
		}
	}
	return reasons
}
