package rpc

import (
	"context"
	"crypto/subtle"
	"strings"

	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"

	"github.com/coffer-budget/coffer/internal/apierr"
	"github.com/coffer-budget/coffer/internal/caller"
	"github.com/coffer-budget/coffer/internal/mtls"
	restv1 "github.com/coffer-budget/coffer/proto/gen/coffer/rest/v1"
)

// authorize lets a call through when the identity that its method option asks for is there and genuine.
func (s *Server) authorize(ctx context.Context, req any, info *grpc.UnaryServerInfo, next grpc.UnaryHandler) (any, error) {
	if infrastructure(info.FullMethod) {
		return next(ctx, req)
	}
	ctx, err := s.admit(ctx, info.FullMethod)
	if err != nil {
		return nil, err
	}
	return next(ctx, req)
}

// admit returns the context that acts for the caller. With certificates, the method's list of callers counts first, and
// stands in for the service key.
func (s *Server) admit(ctx context.Context, fullMethod string) (context.Context, error) {
	encrypted := s.config.TLS.On()
	if encrypted && !mtls.IsCaller(ctx, callers(fullMethod)) {
		return nil, apierr.ServiceOnly
	}
	switch access(fullMethod) {
	case restv1.Access_ACCESS_UNSPECIFIED:
	case restv1.Access_ACCESS_PUBLIC:
		return ctx, nil
	case restv1.Access_ACCESS_SERVICE:
		if !encrypted && !s.hasServiceKey(ctx) {
			return nil, apierr.ServiceOnly
		}
		return ctx, nil
	}
	token, err := bearer(ctx)
	if err != nil {
		return nil, err
	}
	id, err := s.verifier.Verify(ctx, token)
	if err != nil {
		return nil, err
	}
	if seen, ok := ctx.Value(actingKey{}).(*acting); ok {
		seen.Identity, seen.known = id, true
	}
	return caller.With(ctx, id), nil
}

func (s *Server) hasServiceKey(ctx context.Context) bool {
	keys := metadata.ValueFromIncomingContext(ctx, metadataService)
	return len(keys) == 1 && subtle.ConstantTimeCompare([]byte(keys[0]), []byte(s.config.ServiceKey)) == 1
}

// bearer refuses more than one token: which of them would count?
func bearer(ctx context.Context) (string, error) {
	values := metadata.ValueFromIncomingContext(ctx, metadataToken)
	if len(values) != 1 {
		return "", apierr.Unauthorized
	}
	scheme, token, ok := strings.Cut(values[0], " ")
	if !ok || !strings.EqualFold(scheme, "Bearer") || token == "" {
		return "", apierr.Unauthorized
	}
	return token, nil
}

// access reads the method's option. An unknown method takes a user's token, like one without the option.
func access(fullMethod string) restv1.Access {
	m := Method(fullMethod)
	if m == nil {
		return restv1.Access_ACCESS_UNSPECIFIED
	}
	return proto.GetExtension(m.Options(), restv1.E_Access).(restv1.Access)
}

// byGateway is who calls what has no list of callers.
var byGateway = []string{"gateway"}

// callers are the services that may call a method.
func callers(fullMethod string) []string {
	m := Method(fullMethod)
	if m == nil {
		return byGateway
	}
	if listed := proto.GetExtension(m.Options(), restv1.E_Callers).([]string); len(listed) > 0 {
		return listed
	}
	return byGateway
}

// Method finds the descriptor of "/coffer.ledger.v1.LedgerService/GetWallet", or nil.
func Method(fullMethod string) protoreflect.MethodDescriptor {
	name := protoreflect.FullName(strings.ReplaceAll(strings.TrimPrefix(fullMethod, "/"), "/", "."))
	d, err := protoregistry.GlobalFiles.FindDescriptorByName(name)
	if err != nil {
		return nil
	}
	m, _ := d.(protoreflect.MethodDescriptor)
	return m
}
