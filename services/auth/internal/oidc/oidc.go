// Package oidc signs users in with OpenID Connect providers. It owns the table oidc_identities.
//
// A flow starts in a browser (StartOidc, LinkOidc). Its state is in a sealed cookie. The provider
// sends the browser back with a code of its own (FinishOidc), which the package redeems once for an
// ID token with PKCE. It checks the token, stores the result sealed, and sends the browser to the
// console with a code of Coffer. ExchangeOidc needs that code and the cookie, so a link with the
// code of another user has no effect. It signs the user in, creates an account, or links the
// identity (ADR 140).
//
// An account is found by issuer and subject only, never by the e-mail. Whether an e-mail has an
// account is revealed only to a user whose e-mail the provider has verified, and only if the
// installation creates accounts. Package auth starts the sessions and creates the users.
//
// oidc.go has the steps of a flow, exchange.go its end, and identities.go the RPCs with which users
// manage their identities. client.go talks to providers, flow.go has the state in the cookie.
package oidc

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/coffer-budget/coffer/internal/apierr"
	"github.com/coffer-budget/coffer/internal/caller"
	"github.com/coffer-budget/coffer/internal/seal"
	authv1 "github.com/coffer-budget/coffer/proto/gen/coffer/auth/v1"
	restv1 "github.com/coffer-budget/coffer/proto/gen/coffer/rest/v1"
	"github.com/coffer-budget/coffer/services/auth/internal/mail"
)

// Kinds of changes. They are types of audit entries and templates of mails, stored and public:
// never rename one.
const (
	Linked   = mail.OidcLinked
	Unlinked = mail.OidcUnlinked
)

// maxLogged is the maximum length of the text of an error in the log, in bytes.
const maxLogged = 500

// Public errors.
var (
	errProviderNotFound = apierr.New(restv1.Reason_OIDC_PROVIDER_NOT_FOUND)
	errIdentityNotFound = apierr.New(restv1.Reason_OIDC_IDENTITY_NOT_FOUND)
	errAlreadyLinked    = apierr.New(restv1.Reason_OIDC_ALREADY_LINKED)
	errUnavailable      = apierr.New(restv1.Reason_OIDC_UNAVAILABLE)
	// The message does not distinguish codes that are unknown, used, expired, or of another
	// browser, and sign-ins that failed.
	errInvalidCode = apierr.New(restv1.Reason_INVALID_OIDC_CODE)
	errLastFactor  = apierr.New(restv1.Reason_LAST_FACTOR)
	errLimit       = apierr.New(restv1.Reason_LIMIT_REACHED).
			WithMessage("A user may have at most 10 identities")
	errForbiddenOrigin = apierr.New(restv1.Reason_FORBIDDEN_ORIGIN)
	// ErrAccountExists is returned for an identity that is not linked and creates no account.
	ErrAccountExists = apierr.New(restv1.Reason_OIDC_ACCOUNT_EXISTS)

	// errRejected is wrapped by the errors of a response of a provider that proves no identity.
	errRejected = errors.New("the response of the provider was rejected")
)

// User is a user to create.
type User struct {
	Name, Email string
	// Language is a result of mail.Language.
	Language string
	Agent    string
}

// Options has the parts of the service that the package uses.
type Options struct {
	Config

	DB         *pgxpool.Pool
	ServiceKey string
	// PublicURL is the URL of the console.
	PublicURL string
	// User returns the user of the acting session, or apierr.Unauthorized if it has ended.
	User func(ctx context.Context) (uuid.UUID, error)
	// SignIn starts a session of a user and fills the response, which has the second step of the
	// sign-in if the user has a second factor.
	SignIn func(ctx context.Context, tx pgx.Tx, user uuid.UUID, req *authv1.ExchangeOidcRequest,
		resp *authv1.ExchangeOidcResponse) error
	// Failed returns the error for the client of a request whose transaction failed with err. The
	// user is uuid.Nil if it is not known.
	Failed func(ctx context.Context, user uuid.UUID, err error) error
	// Register creates a user whose e-mail the provider has verified. It returns ErrAccountExists
	// if another user has the e-mail.
	Register func(ctx context.Context, tx pgx.Tx, user User) (uuid.UUID, error)
	// Changed writes the audit entry of a change of a user's identities, queues the mail that
	// reports it, and ends sessions. The transaction has locked the user.
	Changed func(ctx context.Context, tx pgx.Tx, change Change) error
	// Wake sends queued mails soon.
	Wake  func()
	Now   func() time.Time
	NewID func() uuid.UUID
	Log   *slog.Logger
}

// Change is a change of the identities of a user in a session.
type Change struct {
	Kind string
	// Label is the name of the provider.
	Label             string
	UserID, SessionID uuid.UUID
	// Agent is the header User-Agent of the request.
	Agent string
	// EndsSessions is set if the other sessions of the user end, because they may have been started
	// with the identity.
	EndsSessions bool
}

// Server implements OidcService.
type Server struct {
	authv1.UnsafeOidcServiceServer
	Options

	clients map[string]*client
	sealer  seal.Key
}

var _ authv1.OidcServiceServer = (*Server)(nil)

// New returns a server.
func New(options Options) *Server {
	s := &Server{
		Options: options, clients: map[string]*client{},
		sealer: seal.NewKey(options.ServiceKey, "oidc"),
	}
	for name, config := range options.Providers.Of {
		s.clients[name] = newClient(name, config, options.PublicURL, options.Now)
	}
	return s
}

// ListOidcProviders returns the providers in the order of the configuration.
func (s *Server) ListOidcProviders(
	context.Context, *authv1.ListOidcProvidersRequest,
) (*authv1.ListOidcProvidersResponse, error) {
	resp := &authv1.ListOidcProvidersResponse{}
	for _, name := range s.Providers.Names {
		resp.Providers = append(resp.Providers,
			&authv1.OidcProvider{Name: name, Label: s.clients[name].label()})
	}
	return resp, nil
}

// label returns the name of a provider for users.
func (c *client) label() string {
	if c.Label != "" {
		return c.Label
	}
	return c.name
}

// StartOidc redirects the browser to the provider. It stores nothing. Errors:
// OIDC_PROVIDER_NOT_FOUND and OIDC_UNAVAILABLE.
func (s *Server) StartOidc(
	ctx context.Context, req *authv1.StartOidcRequest,
) (*authv1.StartOidcResponse, error) {
	url, cookie, err := s.start(ctx, newFlow(req.GetProvider(), req.GetReturnTo(), s.Now()))
	if err != nil {
		return nil, err
	}
	return &authv1.StartOidcResponse{Location: url, Cookie: cookie}, nil
}

// LinkOidc starts a flow that links an identity to the acting user. Errors:
// OIDC_PROVIDER_NOT_FOUND and OIDC_UNAVAILABLE.
func (s *Server) LinkOidc(
	ctx context.Context, req *authv1.LinkOidcRequest,
) (*authv1.LinkOidcResponse, error) {
	if _, err := s.User(ctx); err != nil {
		return nil, err
	}
	f := newFlow(req.GetProvider(), req.GetReturnTo(), s.Now())
	id, _ := caller.From(ctx)
	f.UserID, f.SessionID = id.UserID, id.SessionID
	url, cookie, err := s.start(ctx, f)
	if err != nil {
		return nil, err
	}
	return &authv1.LinkOidcResponse{Url: url, Cookie: cookie}, nil
}

func (s *Server) start(ctx context.Context, f flow) (string, *restv1.Cookie, error) {
	provider, ok := s.clients[f.Provider]
	if !ok {
		return "", nil, errProviderNotFound
	}
	url, err := provider.authURL(ctx, f)
	if err != nil {
		s.Log.WarnContext(ctx, "failed to reach an identity provider", "provider", f.Provider,
			"error", logged(err))
		return "", nil, errUnavailable
	}
	cookie, err := s.cookie(f, flowTTL)
	return url, cookie, err
}

// logged returns the text of an error with at most maxLogged bytes. The errors of the libraries
// contain whole responses of providers.
func logged(err error) string {
	text := err.Error()
	if len(text) <= maxLogged {
		return text
	}
	return strings.ToValidUTF8(text[:maxLogged], "")
}

// result is the end of a flow: an identity, or no identity with the reason in Unavailable.
type result struct {
	// CodeHash is the hash of the code that the browser received.
	CodeHash  []byte
	ExpiresAt time.Time
	Identity  *identity
	// Unavailable is set if the provider was not available. Otherwise a result without identity is
	// a failed sign-in.
	Unavailable bool
}

// FinishOidc receives the response of the provider and redirects the browser. It reads no user, so
// neither the response nor its time reveals whether the identity or the e-mail has an account. The
// redirect of a sign-in that failed looks like any other. Errors: OIDC_PROVIDER_NOT_FOUND.
func (s *Server) FinishOidc(
	ctx context.Context, req *authv1.FinishOidcRequest,
) (*authv1.FinishOidcResponse, error) {
	if s.clients[req.GetProvider()] == nil {
		return nil, errProviderNotFound
	}
	code := "oidc_" + random()
	f, ok := s.open(req.GetCookie())
	// Without the state of the cookie, another page has sent the browser here, or the provider has
	// answered too late.
	if !ok || !s.Now().Before(f.ExpiresAt) || f.Provider != req.GetProvider() ||
		f.State != req.GetState() {
		return &authv1.FinishOidcResponse{Location: "/#oidc=" + code}, nil
	}
	if err := s.finish(ctx, f, req, hash(code)); err != nil {
		return nil, err
	}
	cookie, err := s.cookie(f, codeTTL)
	if err != nil {
		return nil, err
	}
	return &authv1.FinishOidcResponse{Location: f.ReturnTo + "#oidc=" + code, Cookie: cookie}, nil
}

// finish redeems the code of the provider, once per flow, and stores the result.
func (s *Server) finish(
	ctx context.Context, f flow, req *authv1.FinishOidcRequest, codeHash []byte,
) error {
	first, err := insertState(ctx, s.DB, hash(f.State), f.end())
	if err != nil || !first {
		return err
	}
	got := result{CodeHash: codeHash}
	if req.GetError() == "" {
		found, err := s.clients[f.Provider].redeem(ctx, f, req.GetCode())
		switch {
		case err == nil && !s.clients[f.Provider].allows(found.Email, found.EmailVerified):
			s.Log.InfoContext(ctx, "rejected a sign-in: the domain of the e-mail is not allowed",
				"provider", f.Provider)
		case err == nil:
			got.Identity = &found
		default:
			got.Unavailable = !errors.Is(err, errRejected)
			s.Log.WarnContext(ctx, "failed to sign a user in with an identity provider",
				"provider", f.Provider, "error", logged(err))
		}
	}
	got.ExpiresAt = s.Now().Add(codeTTL)
	text, err := json.Marshal(got)
	if err != nil {
		return err
	}
	sealed, err := s.sealer.Seal(text, f.State)
	if err != nil {
		return err
	}
	return updateResult(ctx, s.DB, hash(f.State), sealed)
}
