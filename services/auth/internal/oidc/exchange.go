package oidc

import (
	"bytes"
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"strings"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/coffer-budget/coffer/internal/apierr"
	"github.com/coffer-budget/coffer/internal/idem"
	"github.com/coffer-budget/coffer/internal/pg"
	"github.com/coffer-budget/coffer/internal/text"
	authv1 "github.com/coffer-budget/coffer/proto/gen/coffer/auth/v1"
	"github.com/coffer-budget/coffer/services/auth/internal/browser"
	"github.com/coffer-budget/coffer/services/auth/internal/mail"
)

// maxIdentities is the maximum number of identities of a user.
const maxIdentities = 10

const codeLinked = "OIDC_LINKED"

// ExchangeOidc ends a flow with its code and the cookie of the browser. A request that fails leaves
// the code valid, because nothing has changed.
//
// Errors: INVALID_OIDC_CODE, OIDC_ACCOUNT_EXISTS, OIDC_ALREADY_LINKED, OIDC_UNAVAILABLE,
// LIMIT_REACHED, FORBIDDEN_ORIGIN, and those of starting a session.
func (s *Server) ExchangeOidc(
	ctx context.Context, req *authv1.ExchangeOidcRequest,
) (*authv1.ExchangeOidcResponse, error) {
	if err := parseExchange(req); err != nil {
		return nil, err
	}
	if err := idem.CheckKey(req.GetIdempotencyKey()); err != nil {
		return nil, err
	}
	if browser.IsFromOtherSite(req) {
		return nil, errForbiddenOrigin
	}
	f, ok := s.open(req.GetCookie())
	if !ok {
		return nil, errInvalidCode
	}
	call := idem.Call{
		Scope: "oidc:" + hex.EncodeToString(hash(f.State)), Key: req.GetIdempotencyKey(),
		Request: req,
	}
	resp := &authv1.ExchangeOidcResponse{}
	var user uuid.UUID
	var err error
	resp.Replayed, err = idem.InTx(ctx, s.DB, call, resp, func(tx pgx.Tx) error {
		var err error
		user, err = s.exchange(ctx, tx, f, req, resp)
		return err
	})
	if err != nil {
		return nil, s.Failed(ctx, user, err)
	}
	s.Wake()
	return resp, nil
}

// exchange returns the user who signs in or has linked an identity, also if that fails, or uuid.Nil
// if it is not known.
func (s *Server) exchange(
	ctx context.Context, tx pgx.Tx, f flow, req *authv1.ExchangeOidcRequest,
	resp *authv1.ExchangeOidcResponse,
) (uuid.UUID, error) {
	found, err := s.use(ctx, tx, f, req.GetCode())
	if err != nil {
		return uuid.Nil, err
	}
	if f.UserID != uuid.Nil {
		resp.Code = codeLinked
		if err := s.link(ctx, tx, f, found, req.GetUserAgent()); err != nil {
			return f.UserID, err
		}
		return f.UserID, clearResult(ctx, tx, hash(f.State), f.UserID)
	}
	user, err := useIdentity(ctx, tx, found, s.Now().UTC())
	if errors.Is(err, pgx.ErrNoRows) {
		user, err = s.register(ctx, tx, found, req)
	}
	if err != nil {
		return user, err
	}
	if err := clearResult(ctx, tx, hash(f.State), user); err != nil {
		return user, err
	}
	return user, s.SignIn(ctx, tx, user, req, resp)
}

// use uses the result of a flow and returns its identity.
func (s *Server) use(ctx context.Context, tx pgx.Tx, f flow, code string) (identity, error) {
	sealed, err := useResult(ctx, tx, hash(f.State), s.Now())
	if err != nil {
		return identity{}, pg.IfNoRows(err, errInvalidCode)
	}
	opened, err := s.sealer.Open(sealed, f.State)
	if err != nil {
		return identity{}, errInvalidCode
	}
	var got result
	if err := json.Unmarshal(opened, &got); err != nil {
		return identity{}, err
	}
	switch {
	case !bytes.Equal(got.CodeHash, hash(code)), !s.Now().Before(got.ExpiresAt):
		return identity{}, errInvalidCode
	case got.Unavailable:
		return identity{}, errUnavailable
	case got.Identity == nil:
		return identity{}, errInvalidCode
	}
	return *got.Identity, nil
}

// register creates an account for an identity. It reads no user unless the installation creates
// accounts and the provider has verified the e-mail. Otherwise a stranger with a provider that
// accepts any e-mail would learn which e-mails have an account, and would take theirs.
func (s *Server) register(
	ctx context.Context, tx pgx.Tx, found identity, req *authv1.ExchangeOidcRequest,
) (uuid.UUID, error) {
	if !s.SignUp || !found.EmailVerified {
		return uuid.Nil, ErrAccountExists
	}
	name, problem := text.Name("name", found.Name)
	if problem != nil {
		name, _, _ = strings.Cut(found.Email, "@")
	}
	user, err := s.Register(ctx, tx, User{
		Name: name, Email: found.Email, Language: mail.Language(req.GetAcceptLanguage()),
		Agent: req.GetUserAgent(),
	})
	if err != nil {
		return uuid.Nil, err
	}
	err = insertIdentity(ctx, tx, s.NewID(), user, found, s.Now().UTC())
	// A simultaneous request has linked it.
	if pg.IsViolation(err, subjectKey) {
		err = errAlreadyLinked
	}
	return user, err
}

// link links an identity to the user who has started the flow. The session must be live: it may
// have ended since, because the user has changed the password.
func (s *Server) link(ctx context.Context, tx pgx.Tx, f flow, found identity, agent string) error {
	err := lockUserInSession(ctx, tx, f.UserID, f.SessionID, s.Now())
	if err != nil {
		return pg.IfNoRows(err, errInvalidCode)
	}
	has, err := selectIdentities(ctx, tx, f.UserID)
	if err != nil {
		return err
	}
	if len(has) >= maxIdentities {
		return errLimit
	}
	err = insertIdentity(ctx, tx, s.NewID(), f.UserID, found, s.Now().UTC())
	if pg.IsViolation(err, subjectKey) {
		return errAlreadyLinked
	}
	if err != nil {
		return err
	}
	return s.Changed(ctx, tx, Change{
		Kind: Linked, Label: s.labelOf(found.Issuer), UserID: f.UserID, SessionID: f.SessionID,
		Agent: agent,
	})
}

func parseExchange(req *authv1.ExchangeOidcRequest) error {
	var p apierr.Problems
	if req.GetCode() == "" {
		p.Invalid("code", "is required")
	}
	p.Field(browser.CheckMode(req.GetSession()))
	return p.Err()
}
