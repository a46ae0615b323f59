package test

import (
	"context"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/encoding/prototext"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/dynamicpb"

	"github.com/coffer-budget/coffer/internal/apierr"
	restv1 "github.com/coffer-budget/coffer/proto/gen/coffer/rest/v1"
)

// rpcs attacks every RPC of the services directly, because their security must not depend on the
// gateway.
func (s *attackRun) rpcs(t *testing.T) {
	t.Helper()
	forged := s.forgeries(t)
	conns := map[string]*grpc.ClientConn{}
	for service, addr := range s.stack.GRPC {
		conn, err := grpc.NewClient("passthrough:///"+addr,
			grpc.WithTransportCredentials(insecure.NewCredentials()))
		require.NoError(t, err)
		t.Cleanup(func() { _ = conn.Close() })
		conns[service] = conn
	}
	eachRPC(func(service string, method protoreflect.MethodDescriptor) {
		t.Run(string(method.Name()), func(t *testing.T) {
			access := proto.GetExtension(method.Options(), restv1.E_Access).(restv1.Access)
			if access != restv1.Access_ACCESS_PUBLIC {
				want := map[restv1.Access]codes.Code{
					restv1.Access_ACCESS_SERVICE: codes.PermissionDenied,
				}[access]
				if want == 0 {
					want = codes.Unauthenticated
				}
				// The tokens attack sends all forgeries through the gateway, so a selection is
				// enough here.
				for _, what := range []string{
					"alg none", "HS256 with the public key", "an unknown key in the header",
					"another user's claims", "expired", "another audience", "no session",
				} {
					require.Contains(t, forged, what)
					_, err := s.ask(t, conns[service], method, nil,
						"authorization", "Bearer "+forged[what])
					require.Equal(t, want, status.Code(err), "%s: %v", what, err)
				}
				for _, pairs := range [][]string{
					{"coffer-service-key", "guess"},
					{"coffer-service-key", ""},
					{"x-user-id", s.victimIDs["user"]},
					{"grpc-metadata-authorization", "Bearer " + s.victim.token},
				} {
					_, err := s.ask(t, conns[service], method, nil, pairs...)
					require.Equal(t, want, status.Code(err), "%v: %v", pairs, err)
				}
			}
			asUser := []string{"authorization", "Bearer " + s.attacker.token}
			if method.Name() == "Logout" || method.Name() == "StreamEvents" {
				return // Logout would end the attacker's session, and the stream does not end.
			}
			for kind, id := range s.victimIDs {
				resp, err := s.ask(t, conns[service], method, s.attackRequest(t, method, id),
					asUser...)
				requireHarmless(t, method, resp, err, kind)
			}
			for _, text := range texts {
				if !strings.Contains(text, "\xff") { // Protobuf cannot encode invalid UTF-8.
					request := filledMessage(method.Input(), text, 0)
					resp, err := s.ask(t, conns[service], method, request, asUser...)
					requireHarmless(t, method, resp, err, text[:min(40, len(text))])
				}
			}
		})
	})
}

// ask calls any RPC. A nil request is replaced by an empty one.
func (s *attackRun) ask(
	t *testing.T, conn *grpc.ClientConn, method protoreflect.MethodDescriptor, req proto.Message,
	pairs ...string,
) (proto.Message, error) {
	t.Helper()
	s.count.Add(1)
	if req == nil {
		req = dynamicpb.NewMessage(method.Input())
	}
	ctx := metadata.NewOutgoingContext(t.Context(), metadata.Pairs(pairs...))
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	resp := dynamicpb.NewMessage(method.Output())
	stream, err := conn.NewStream(ctx, &grpc.StreamDesc{ServerStreams: method.IsStreamingServer()},
		"/"+string(method.Parent().FullName())+"/"+string(method.Name()))
	if err == nil {
		err = stream.SendMsg(req)
	}
	if err == nil || err == io.EOF { //nolint:errorlint // SendMsg documents this very value
		err = stream.RecvMsg(resp)
	}
	return resp, err
}

// requireHarmless requires that a response contains no data of the victim, or that an error is a
// declared one.
func requireHarmless(
	t *testing.T, method protoreflect.MethodDescriptor, resp proto.Message, err error, what string,
) {
	t.Helper()
	if err == nil {
		require.NotContains(t, prototext.Format(resp), victimMark, "%s with %s", method.Name(),
			what)
		return
	}
	require.NotContains(t, []codes.Code{
		codes.Internal, codes.Unknown, codes.Unavailable, codes.DeadlineExceeded,
	}, status.Code(err), "%s with %s: %v", method.Name(), what, err)
	require.NotNil(t, apierr.From(err), "%s with %s: %v", method.Name(), what, err)
	require.NotRegexp(t, internalText, status.Convert(err).Message(), "%s with %s", method.Name(),
		what)
}

// filledMessage returns a message with the text in each of its fields.
func filledMessage(d protoreflect.MessageDescriptor, text string, depth int) *dynamicpb.Message {
	message := dynamicpb.NewMessage(d)
	for i := range d.Fields().Len() {
		field := d.Fields().Get(i)
		value := message.NewField(field)
		switch {
		case field.IsMap() || depth > 3:
			continue
		case field.IsList() && field.Kind() == protoreflect.StringKind:
			value.List().Append(protoreflect.ValueOfString(text))
		case field.IsList() && field.Kind() == protoreflect.MessageKind:
			value.List().
				Append(protoreflect.ValueOfMessage(filledMessage(field.Message(), text, depth+1)))
		case field.IsList():
			continue
		case field.Kind() == protoreflect.StringKind:
			value = protoreflect.ValueOfString(text)
		case field.Kind() == protoreflect.BytesKind:
			value = protoreflect.ValueOfBytes([]byte(text))
		case field.Kind() == protoreflect.Int32Kind:
			value = protoreflect.ValueOfInt32(-1 << 31)
		case field.Kind() == protoreflect.Int64Kind:
			value = protoreflect.ValueOfInt64(-1 << 63)
		case field.Kind() == protoreflect.MessageKind:
			value = protoreflect.ValueOfMessage(filledMessage(field.Message(), text, depth+1))
		default:
			continue
		}
		message.Set(field, value)
	}
	return message
}

// attackRequest returns a request with an id of the victim in each field for an id, and valid
// values in the other fields.
func (s *attackRun) attackRequest(
	t *testing.T, method protoreflect.MethodDescriptor, id string,
) proto.Message {
	t.Helper()
	request := filledMessage(method.Input(), id, 0)
	valid := map[string]string{
		"name": "Thing", "currency": "EUR", "limit": "100", "period": "monthly",
		"start_date": "2026-03-01", "amount": "1", "date": "2026-03-14", "type": "expense",
		"status": "accepted", "role": "viewer", "url": "https://example.com/x",
		"description": "Lunch",
	}
	for i := range method.Input().Fields().Len() {
		field := method.Input().Fields().Get(i)
		name := string(field.Name())
		isID := name == "id" || name == "ids" || strings.HasSuffix(name, "_id") ||
			strings.HasSuffix(name, "_ids")
		text, known := valid[name]
		switch {
		case known && field.Kind() == protoreflect.StringKind && !field.IsList():
			request.Set(field, protoreflect.ValueOfString(text))
		case !isID:
			request.Clear(field)
		}
	}
	return request
}
