package rpc

import (
	"context"
	"crypto/subtle"
	"strings"
	"sync"

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

// authorize is the interceptor that checks the options access, callers, scopes and step_up in the
// proto.
func (s *Server) authorize(
	ctx context.Context, req any, info *grpc.UnaryServerInfo, next grpc.UnaryHandler,
) (any, error) {
	if infrastructure(info.FullMethod) {
		return next(ctx, req)
	}
	ctx, err := s.admit(ctx, info.FullMethod)
	if err != nil {
		return nil, err
	}
	return next(ctx, req)
}

var (
	// errInsufficientScope is returned for a personal access token without a scope of the method.
	errInsufficientScope = apierr.New(restv1.Reason_INSUFFICIENT_SCOPE)
	// errReauthenticationRequired is returned for a method with step_up if the user has not proved
	// the identity recently.
	errReauthenticationRequired = apierr.New(restv1.Reason_REAUTHENTICATION_REQUIRED)
)

// admit checks the caller's credentials and returns ctx with the user's identity, if the method
// takes users. With certificates, the peer must be in the method's list of callers, and needs no
// service key. This is the only place that checks the scope of a token (ADR 130) and the time of
// the sign-in (ADR 133).
func (s *Server) admit(ctx context.Context, fullMethod string) (context.Context, error) {
	encrypted, rule := s.config.TLS.On(), ruleOf(fullMethod)
	if encrypted && !mtls.IsCaller(ctx, rule.callers) {
		return nil, apierr.ServiceOnly
	}
	switch rule.access {
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
	if !id.Scope.Opens(rule.scopes) {
		return nil, errInsufficientScope
	}
	if rule.stepUp && !s.verifier.IsRecent(id) {
		return nil, errReauthenticationRequired
	}
	return caller.With(ctx, id), nil
}

func (s *Server) hasServiceKey(ctx context.Context) bool {
	keys := metadata.ValueFromIncomingContext(ctx, metadataService)
	return len(keys) == 1 && equalKeys(keys[0], s.config.ServiceKey)
}

// equalKeys compares two keys in constant time.
func equalKeys(given, key string) bool {
	return subtle.ConstantTimeCompare([]byte(given), []byte(key)) == 1
}

// bearer returns the token of the authorization metadata. It rejects calls with several values,
// because they are ambiguous.
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

// rule holds the options of a method that define its permitted callers and scopes, and whether it
// carries a file.
type rule struct {
	access  restv1.Access
	callers []string
	// scopes open the method to a personal access token; without one, no such token is accepted.
	scopes []string
	// stepUp requires a recent sign-in.
	stepUp bool
	// transfer is set if the method has the option upload or download.
	transfer bool
}

var rules sync.Map

// ruleOf returns the rule of a method. An unknown method, like a method without options, requires a
// user's token of a session and, if services have certificates, the gateway as its caller.
func ruleOf(fullMethod string) rule {
	if known, ok := rules.Load(fullMethod); ok {
		return known.(rule)
	}
	rule := rule{callers: []string{"gateway"}}
	method := Method(fullMethod)
	if method == nil {
		return rule
	}
	rule.transfer = IsUpload(method) || IsDownload(method)
	rule.access = proto.GetExtension(method.Options(), restv1.E_Access).(restv1.Access)
	rule.scopes = proto.GetExtension(method.Options(), restv1.E_Scopes).([]string)
	rule.stepUp = proto.GetExtension(method.Options(), restv1.E_StepUp).(bool)
	if listed := proto.GetExtension(method.Options(),
		restv1.E_Callers).([]string); len(listed) > 0 {
		rule.callers = listed
	}
	rules.Store(fullMethod, rule)
	return rule
}

// Method returns the descriptor of a method such as "/coffer.ledger.v1.LedgerService/GetWallet",
// nil if it is unknown.
func Method(fullMethod string) protoreflect.MethodDescriptor {
	name := protoreflect.FullName(strings.ReplaceAll(strings.TrimPrefix(fullMethod, "/"), "/", "."))
	d, err := protoregistry.GlobalFiles.FindDescriptorByName(name)
	if err != nil {
		return nil
	}
	m, _ := d.(protoreflect.MethodDescriptor)
	return m
}
