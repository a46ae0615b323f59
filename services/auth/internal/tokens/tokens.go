// Package tokens owns personal access tokens, with which scripts use the API without the password
// of their user.
//
// Only the SHA-256 of a token is stored. The gateway and clients of gRPC exchange a token for an
// access token that is valid for a few minutes and has the token's scopes (exchange.go). Its
// session id is the id of the personal access token. Deleting the token stores this id as an ended
// session, so that every service rejects the access tokens as it does those of an ended session
// (ADR 130).
//
// tokens.go has the RPCs with which users manage their tokens, expiry.go the rules for lifetimes.
package tokens

import (
	"context"
	"net/netip"
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/coffer-budget/coffer/internal/apierr"
	"github.com/coffer-budget/coffer/internal/calendar"
	"github.com/coffer-budget/coffer/internal/caller"
	"github.com/coffer-budget/coffer/internal/idem"
	"github.com/coffer-budget/coffer/internal/personaltoken"
	"github.com/coffer-budget/coffer/internal/pg"
	"github.com/coffer-budget/coffer/internal/text"
	authv1 "github.com/coffer-budget/coffer/proto/gen/coffer/auth/v1"
	restv1 "github.com/coffer-budget/coffer/proto/gen/coffer/rest/v1"
	"github.com/coffer-budget/coffer/services/auth/internal/mail"
	"github.com/coffer-budget/coffer/services/auth/internal/signing"
)

// maxTokens is the maximum number of tokens of a user.
const maxTokens = 20

// Kinds of audit entries. They are stored and public: never rename one.
const (
	AuditCreated = mail.TokenCreated
	AuditDeleted = mail.TokenDeleted
)

var (
	errLimitReached = apierr.New(restv1.Reason_LIMIT_REACHED).
			WithMessage("A user may have at most 20 personal access tokens")
	errInvalidTokenID = apierr.New(restv1.Reason_INVALID_TOKEN_ID)
	errTokenNotFound  = apierr.New(restv1.Reason_TOKEN_NOT_FOUND)
	errInvalidToken   = apierr.New(restv1.Reason_INVALID_PERSONAL_TOKEN)
)

// Config has the parts of the service that the package uses.
type Config struct {
	DB   *pgxpool.Pool
	Keys *signing.Ring
	// User returns the user of the acting session, or apierr.Unauthorized if it has ended.
	User func(ctx context.Context) (uuid.UUID, error)
	// CheckCreator returns the error for a user who may not create tokens, such as one whose e-mail
	// is not verified.
	CheckCreator func(ctx context.Context, id uuid.UUID) error
	// Audit writes an audit entry of the acting session about the token with this name, and queues
	// the mail that reports the change.
	Audit func(ctx context.Context, tx pgx.Tx, kind, name, agent string) error
	// Wake sends queued mails soon.
	Wake func()
	// ClientAddress returns the address of the client; invalid if it is unknown.
	ClientAddress func(ctx context.Context) netip.Addr
	Now           func() time.Time
	NewID         func() uuid.UUID
}

// Server implements TokenService.
type Server struct {
	authv1.UnsafeTokenServiceServer
	Config
}

var _ authv1.TokenServiceServer = (*Server)(nil)

// CreatePersonalToken stores a new token and returns it. No other RPC returns it again. The lock of
// the user counts simultaneous creates one after the other, and the lock of the session makes its
// end wait for the create, so that an ended session creates no token.
//
// Errors: EMAIL_NOT_VERIFIED, LIMIT_REACHED, and UNAUTHORIZED if the session has ended.
func (s *Server) CreatePersonalToken(
	ctx context.Context, req *authv1.CreatePersonalTokenRequest,
) (*authv1.CreatePersonalTokenResponse, error) {
	id, _ := caller.From(ctx)
	secret := personaltoken.New()
	created, err := s.parseCreate(req, id.UserID, secret)
	if err != nil {
		return nil, err
	}
	if err := s.CheckCreator(ctx, id.UserID); err != nil {
		return nil, err
	}
	resp := &authv1.CreatePersonalTokenResponse{Token: secret, PersonalToken: created.proto()}
	call := idem.Call{Scope: id.UserID.String(), Key: req.GetIdempotencyKey(), Request: req}
	resp.Replayed, err = idem.InTx(ctx, s.DB, call, resp, func(tx pgx.Tx) error {
		err := lockUserInSession(ctx, tx, id.UserID, id.SessionID, created.CreatedAt)
		if err != nil {
			return pg.IfNoRows(err, apierr.Unauthorized)
		}
		err = deleteExpiredAtLimit(ctx, tx, id.UserID, created.CreatedAt, maxTokens)
		if err != nil {
			return err
		}
		n, err := countTokens(ctx, tx, id.UserID)
		if err != nil {
			return err
		}
		if n >= maxTokens {
			return errLimitReached
		}
		if err := insertToken(ctx, tx, created); err != nil {
			return err
		}
		return s.Audit(ctx, tx, AuditCreated, created.Name, req.GetUserAgent())
	})
	if err != nil {
		return nil, err
	}
	s.Wake()
	return resp, nil
}

// ListPersonalTokens returns the tokens of the acting user, newest first, also expired ones.
func (s *Server) ListPersonalTokens(
	ctx context.Context, _ *authv1.ListPersonalTokensRequest,
) (*authv1.ListPersonalTokensResponse, error) {
	user, err := s.User(ctx)
	if err != nil {
		return nil, err
	}
	tokens, err := s.All(ctx, user)
	if err != nil {
		return nil, err
	}
	return &authv1.ListPersonalTokensResponse{Tokens: tokens}, nil
}

// All returns the tokens of a user, newest first, as the API shows them.
func (s *Server) All(ctx context.Context, user uuid.UUID) ([]*authv1.PersonalToken, error) {
	rows, err := selectTokens(ctx, s.DB, user)
	if err != nil {
		return nil, err
	}
	var tokens []*authv1.PersonalToken
	for _, t := range rows {
		tokens = append(tokens, t.proto())
	}
	return tokens, nil
}

// DeletePersonalToken deletes a token of the acting user. All services reject the access tokens
// that were issued for it within a minute. For tokens of other users it returns TOKEN_NOT_FOUND.
func (s *Server) DeletePersonalToken(
	ctx context.Context, req *authv1.DeletePersonalTokenRequest,
) (*authv1.DeletePersonalTokenResponse, error) {
	id, ok := text.ID(req.GetId())
	if !ok {
		return nil, errInvalidTokenID
	}
	user, err := s.User(ctx)
	if err != nil {
		return nil, err
	}
	err = pg.InTx(ctx, s.DB, func(tx pgx.Tx) error {
		name, err := deleteToken(ctx, tx, user, id)
		if err != nil {
			return pg.IfNoRows(err, errTokenNotFound)
		}
		if err := insertEndedSession(ctx, tx, user, id, s.Now().UTC()); err != nil {
			return err
		}
		return s.Audit(ctx, tx, AuditDeleted, name, req.GetUserAgent())
	})
	if err != nil {
		return nil, err
	}
	s.Wake()
	return &authv1.DeletePersonalTokenResponse{Id: id.String()}, nil
}

// DeleteAll deletes all tokens of a user and returns their names. Call it in a transaction that has
// locked the user, so that no session that is about to end creates another one.
func (s *Server) DeleteAll(ctx context.Context, tx pgx.Tx, user uuid.UUID) ([]string, error) {
	return deleteTokensOf(ctx, tx, user, s.Now().UTC())
}

// Expire deletes the tokens that expired long ago.
func (s *Server) Expire(ctx context.Context) error {
	return deleteTokens(ctx, s.DB, s.Now().Add(-expiredKept))
}

func (s *Server) parseCreate(
	req *authv1.CreatePersonalTokenRequest, user uuid.UUID, secret string,
) (token, error) {
	hash := personaltoken.Hash(secret)
	now := s.Now().UTC().Truncate(time.Millisecond)
	t := token{ID: s.NewID(), UserID: user, Hash: hash[:], CreatedAt: now}
	var p apierr.Problems
	var problem *apierr.Field
	t.Name, problem = text.Name("name", req.GetName())
	p.Field(problem)
	t.Scopes, problem = parseScopes(req.GetScopes())
	p.Field(problem)
	t.ExpiresAt, problem = parseExpiry(req.ExpiresAt, now)
	p.Field(problem)
	return t, p.Err()
}

// parseScopes returns the scopes in the order of caller.Scopes, each once.
func parseScopes(given []string) ([]string, *apierr.Field) {
	known := func(s string) bool { return slices.Contains(caller.Scopes, s) }
	switch {
	case len(given) == 0:
		return nil, &apierr.Field{Name: "scopes", Message: "at least one scope is required"}
	case len(given) > len(caller.Scopes):
		return nil, &apierr.Field{Name: "scopes", Message: "must be at most 7"}
	case slices.ContainsFunc(given, func(s string) bool { return !known(s) }):
		return nil, &apierr.Field{Name: "scopes", Message: "must be known scopes"}
	}
	var scopes []string
	for _, scope := range caller.Scopes {
		if slices.Contains(given, scope) {
			scopes = append(scopes, scope)
		}
	}
	return scopes, nil
}

// proto converts the token. The message does not contain the hash.
func (t token) proto() *authv1.PersonalToken {
	m := &authv1.PersonalToken{
		Id: t.ID.String(), Name: t.Name, Scopes: t.Scopes,
		CreatedAt: calendar.FormatTime(t.CreatedAt), ExpiresAt: calendar.FormatTime(t.ExpiresAt),
	}
	if t.LastUsedAt != nil {
		m.LastUsedAt = new(calendar.FormatTime(*t.LastUsedAt))
	}
	if t.LastAddress != "" {
		m.LastAddress = &t.LastAddress
	}
	return m
}
