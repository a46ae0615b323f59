package decode

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"google.golang.org/genproto/googleapis/api/annotations"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"

	"github.com/coffer-budget/coffer/gateway/internal/cookie"
	"github.com/coffer-budget/coffer/internal/restjson"
	restv1 "github.com/coffer-budget/coffer/proto/gen/coffer/rest/v1"
)

// Plan maps the fields of an RPC's request message to the parts of the HTTP request. It is computed
// once per RPC and safe for concurrent use.
type Plan struct {
	// message creates requests of the generated Go type. Streams of events use its fields.
	message protoreflect.MessageType
	// hasBody is set if requests have a body. Otherwise all fields except those in the path and
	// headers are in the query.
	hasBody bool
	// isChange is set for a PATCH, whose absent fields stay as they are.
	isChange bool
	// multipart is set if the body is a form that is decoded as a whole, such as that of a receipt.
	// An upload has file instead.
	multipart bool
	// file holds the pieces of an upload's file, and fileHeader describes it. Both are nil for
	// other RPCs, and fileHeader if the service does not need it.
	file, fileHeader protoreflect.FieldDescriptor
	// path holds the fields in the path. The mux passes their values by the names in the proto.
	path    []protoreflect.FieldDescriptor
	headers []restjson.Header
	// cookies are the fields of cookies, and site the field of this site's origin, or nil.
	cookies map[cookie.Kind]protoreflect.FieldDescriptor
	site    protoreflect.FieldDescriptor
	// query and body hold the fields in the query and in the body, by JSON name. A form accepts the
	// fields of the query, too.
	query, body fields
	// anyQuery is set if unknown query parameters are ignored.
	anyQuery bool
}

type fields map[string]*field

type field struct {
	protoreflect.FieldDescriptor
	// decimal is set for a string field that takes a JSON number and keeps its digits.
	decimal bool
	// nullEmpties is set for a field that null sets to its empty value.
	nullEmpties bool
	// forwardInvalid replaces an invalid value of a string by invalidText, so that the service
	// reports it.
	forwardInvalid bool
	fields         fields
	// values is the only field of a message that wraps a list. In JSON the message is the bare
	// array. The message distinguishes an empty list from an absent one.
	values *field
}

// NewPlan returns the plan for an RPC, according to the options in its proto. template is the RPC's
// path with the names of fields in braces.
func NewPlan(method protoreflect.MethodDescriptor, template string) (*Plan, error) {
	message, err := protoregistry.GlobalTypes.FindMessageByName(method.Input().FullName())
	if err != nil {
		return nil, fmt.Errorf("finding the Go type of %s: %w", method.Input().FullName(), err)
	}
	rule := proto.GetExtension(method.Options(), annotations.E_Http).(*annotations.HttpRule)
	plan := &Plan{
		message:   message,
		hasBody:   rule.GetBody() == "*",
		isChange:  rule.GetPatch() != "",
		multipart: proto.GetExtension(method.Options(), restv1.E_Multipart).(bool),
		anyQuery:  proto.GetExtension(method.Options(), restv1.E_AnyQuery).(bool),
		cookies:   map[cookie.Kind]protoreflect.FieldDescriptor{},
		query:     fields{}, body: fields{},
	}
	for i := range method.Input().Fields().Len() {
		plan.place(method.Input().Fields().Get(i), template)
	}
	if proto.GetExtension(method.Options(), restv1.E_Upload).(bool) {
		return plan, plan.takeFile(method)
	}
	return plan, nil
}

// takeFile removes the fields of an upload's file from the fields of the form, because the file is
// read in pieces. It returns an error unless the upload has exactly one file, so that the gateway
// does not start with another proto.
func (p *Plan) takeFile(method protoreflect.MethodDescriptor) error {
	fileHeader := (&restv1.FileHeader{}).ProtoReflect().Descriptor()
	for name, field := range p.body {
		switch {
		case field.Kind() == protoreflect.BytesKind && p.file != nil:
			return fmt.Errorf("%s is an upload of more than one file", method.FullName())
		case field.Kind() == protoreflect.BytesKind:
			p.file = field.FieldDescriptor
			delete(p.body, name)
		case field.Message() == fileHeader:
			p.fileHeader = field.FieldDescriptor
			delete(p.body, name)
		}
	}
	if p.file == nil || !method.IsStreamingClient() {
		return fmt.Errorf("%s is an upload without a stream of bytes", method.FullName())
	}
	return nil
}

// place assigns a field to exactly one part of the HTTP request. The order of the cases is the
// order of precedence.
func (p *Plan) place(descriptor protoreflect.FieldDescriptor, template string) {
	header := proto.GetExtension(descriptor.Options(), restv1.E_Header).(string)
	switch {
	case strings.Contains(template, "{"+string(descriptor.Name())+"}"):
		p.path = append(p.path, descriptor)
	case cookie.KindOf(descriptor) != cookie.None:
		p.cookies[cookie.KindOf(descriptor)] = descriptor
	case proto.GetExtension(descriptor.Options(), restv1.E_Site).(bool):
		p.site = descriptor
	case header != "":
		p.headers = append(p.headers, restjson.Header{Name: header, Field: descriptor})
	case !p.hasBody || proto.GetExtension(descriptor.Options(), restv1.E_Query).(bool):
		p.query[descriptor.JSONName()] = newField(descriptor)
		if p.multipart {
			// Accept the parameter in the form, too: a client that asks for a preview there must
			// not create transactions.
			p.body[descriptor.JSONName()] = newField(descriptor)
		}
	default:
		p.body[descriptor.JSONName()] = newField(descriptor)
	}
}

func newField(descriptor protoreflect.FieldDescriptor) *field {
	field := &field{
		FieldDescriptor: descriptor,
		decimal:         proto.GetExtension(descriptor.Options(), restv1.E_Number).(bool),
		nullEmpties:     proto.GetExtension(descriptor.Options(), restv1.E_NullEmpties).(bool),
		forwardInvalid:  proto.GetExtension(descriptor.Options(), restv1.E_ForwardInvalid).(bool),
	}
	if descriptor.Message() == nil {
		return field
	}
	field.fields = fieldsOf(descriptor.Message())
	if values := field.fields["values"]; len(field.fields) == 1 && values != nil &&
		values.IsList() {
		field.values = values
	}
	return field
}

func fieldsOf(d protoreflect.MessageDescriptor) fields {
	all := make(fields, d.Fields().Len())
	for i := range d.Fields().Len() {
		f := newField(d.Fields().Get(i))
		all[f.JSONName()] = f
	}
	return all
}

func (f fields) names() []string { return slices.Sorted(maps.Keys(f)) }
