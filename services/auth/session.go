package auth

import (
	"context"
	"encoding/hex"
	"errors"
	"net/netip"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/coffer-budget/coffer/internal/apierr"
	"github.com/coffer-budget/coffer/internal/caller"
	"github.com/coffer-budget/coffer/internal/idem"
	"github.com/coffer-budget/coffer/internal/page"
	"github.com/coffer-budget/coffer/internal/pg"
	"github.com/coffer-budget/coffer/internal/text"
	authv1 "github.com/coffer-budget/coffer/proto/gen/coffer/auth/v1"
)

const (
	tokenType    = "Bearer"
	maxUserAgent = 255
)

// tokens are what a client gets to act for its user.
type tokens struct {
	access  string
	refresh string
}

// Login does the same work for an e-mail without an account as for a wrong password.
func (s *server) Login(ctx context.Context, req *authv1.LoginRequest) (*authv1.LoginResponse, error) {
	email, err := parseLogin(req)
	if err != nil {
		return nil, err
	}
	u, err := selectUserByEmail(ctx, s.db, email)
	if errors.Is(err, pgx.ErrNoRows) {
		u, err = user{PasswordHash: s.hasher.dummy}, nil
	}
	if err != nil {
		return nil, err
	}
	address := s.config.ClientAddress(ctx)
	from := clientOf(address, req.GetUserAgent())
	try := loginAttempt(email, u, address, s.entry(auditLoginFailed, u.ID, uuid.Nil, from))
	if err := s.admit(ctx, try); err != nil {
		return nil, err
	}
	call := idem.Call{Scope: "login:" + email, Key: req.GetIdempotencyKey(), Request: req}
	resp := &authv1.LoginResponse{}
	if replayed, err := idem.Replay(ctx, s.db, call, resp); err != nil || replayed {
		return s.replayedLogin(ctx, try, resp, err)
	}
	if err := s.prove(ctx, try, u.PasswordHash, req.GetPassword()); err != nil {
		return nil, err
	}
	replayed, err := idem.InTx(ctx, s.db, call, resp, func(tx pgx.Tx) error {
		u, t, err := s.startSession(ctx, tx, u, from, try.network)
		if err != nil {
			return err
		}
		resp.AccessToken, resp.Token, resp.TokenType, resp.RefreshToken = t.access, t.access, tokenType, t.refresh
		resp.ExpiresIn, resp.User = s.expiresIn(), u.proto()
		return nil
	})
	if err != nil {
		return nil, err
	}
	resp.Replayed = replayed
	return resp, nil
}

// replayedLogin counts a request that differs from the first one as a failure: an idempotency key that is known would
// otherwise allow guessing without end, as the right password alone gets the first answer.
func (s *server) replayedLogin(ctx context.Context, try attempt, resp *authv1.LoginResponse, err error) (*authv1.LoginResponse, error) {
	if errors.Is(err, apierr.IdempotencyKeyUsed) {
		if err := s.fail(ctx, try); err != nil {
			return nil, err
		}
	}
	if err != nil {
		return nil, err
	}
	resp.Replayed = true
	return resp, nil
}

// startSession returns errInvalidCredentials if the password was changed since it was proved: that change has ended all
// sessions but one, and must not miss this one.
func (s *server) startSession(ctx context.Context, tx pgx.Tx, proved user, from client, network netip.Prefix) (user, tokens, error) {
	u, err := lockPassword(ctx, tx, proved.ID, proved.PasswordHash)
	if errors.Is(err, pgx.ErrNoRows) {
		return user{}, tokens{}, errInvalidCredentials
	}
	if err != nil {
		return user{}, tokens{}, err
	}
	now := s.now().UTC()
	started := session{
		ID: s.newID(), UserID: u.ID, CreatedAt: now, LastUsedAt: now, ExpiresAt: now.Add(s.config.RefreshTTL),
		UserAgent: from.agent, IPAddress: from.address,
	}
	if err := insertSession(ctx, tx, started); err != nil {
		return user{}, tokens{}, err
	}
	if err := upsertKnownAddress(ctx, tx, u.ID, network, now); err != nil {
		return user{}, tokens{}, err
	}
	if err := insertAudit(ctx, tx, s.entry(auditLoginSucceeded, u.ID, started.ID, from)); err != nil {
		return user{}, tokens{}, err
	}
	t, err := s.issue(ctx, tx, caller.Identity{UserID: u.ID, SessionID: started.ID}, now)
	return u, t, err
}

func (s *server) issue(ctx context.Context, tx pgx.Tx, id caller.Identity, now time.Time) (tokens, error) {
	refresh, err := newRefreshToken()
	if err != nil {
		return tokens{}, err
	}
	if err := insertRefreshToken(ctx, tx, hashRefreshToken(refresh), id.SessionID, now.Add(s.config.RefreshTTL)); err != nil {
		return tokens{}, err
	}
	signer, err := s.keys.signer()
	if err != nil {
		return tokens{}, err
	}
	access, err := signAccessToken(signer, id, s.newID(), now, s.config.AccessTTL)
	return tokens{access: access, refresh: refresh}, err
}

func (s *server) expiresIn() int32 { return int32(s.config.AccessTTL / time.Second) }

// Refresh answers a repeated Idempotency-Key before it looks at the token, which is used by then.
func (s *server) Refresh(ctx context.Context, req *authv1.RefreshRequest) (*authv1.RefreshResponse, error) {
	if req.GetRefreshToken() == "" {
		return nil, apierr.Validation([]apierr.Field{{Name: "refreshToken", Message: "is required"}})
	}
	hash := hashRefreshToken(req.GetRefreshToken())
	call := idem.Call{Scope: "refresh:" + hex.EncodeToString(hash), Key: req.GetIdempotencyKey(), Request: req}
	resp := &authv1.RefreshResponse{}
	replayed, err := idem.InTx(ctx, s.db, call, resp, func(tx pgx.Tx) error {
		u, t, err := s.continueSession(ctx, tx, hash)
		if err != nil {
			return err
		}
		resp.AccessToken, resp.Token, resp.TokenType, resp.RefreshToken = t.access, t.access, tokenType, t.refresh
		resp.ExpiresIn, resp.User = s.expiresIn(), u.proto()
		return nil
	})
	if errors.Is(err, errInvalidRefreshToken) {
		// One of the two who had the token stole it, and there is no telling which. A used token stays used, so that this
		// need not share the transaction that was rolled back with the refusal.
		if err := s.endReusedSession(ctx, hash, s.newClient(ctx, req.GetUserAgent())); err != nil {
			return nil, err
		}
	}
	if err != nil {
		return nil, err
	}
	resp.Replayed = replayed
	return resp, nil
}

func (s *server) endReusedSession(ctx context.Context, hash []byte, from client) error {
	return pg.InTx(ctx, s.db, func(tx pgx.Tx) error {
		ended, err := revokeSessionOfUsedToken(ctx, tx, hash, s.now().UTC())
		if errors.Is(err, pgx.ErrNoRows) {
			return nil
		}
		if err != nil {
			return err
		}
		e := s.entry(auditRefreshReused, ended.UserID, ended.ID, from)
		e.Outcome = failure
		return insertAudit(ctx, tx, e)
	})
}

func (s *server) continueSession(ctx context.Context, tx pgx.Tx, hash []byte) (user, tokens, error) {
	now := s.now().UTC()
	id, err := useRefreshToken(ctx, tx, hash, now)
	if errors.Is(err, pgx.ErrNoRows) {
		return user{}, tokens{}, errInvalidRefreshToken
	}
	if err != nil {
		return user{}, tokens{}, err
	}
	u, err := prolongSession(ctx, tx, id, now, now.Add(s.config.RefreshTTL))
	if errors.Is(err, pgx.ErrNoRows) {
		return user{}, tokens{}, errInvalidRefreshToken
	}
	if err != nil {
		return user{}, tokens{}, err
	}
	t, err := s.issue(ctx, tx, caller.Identity{UserID: u.ID, SessionID: id}, now)
	return u, t, err
}

// Logout ends the acting session; its tokens stop working everywhere within a minute.
func (s *server) Logout(ctx context.Context, req *authv1.LogoutRequest) (*authv1.LogoutResponse, error) {
	id, _ := caller.From(ctx)
	live, err := s.endSession(ctx, id, auditLoggedOut, req.GetUserAgent())
	if err != nil {
		return nil, err
	}
	if !live {
		return nil, apierr.Unauthorized
	}
	return &authv1.LogoutResponse{}, nil
}

// endSession reports false unless the session was the user's and live.
func (s *server) endSession(ctx context.Context, id caller.Identity, kind, agent string) (live bool, err error) {
	e := s.entry(kind, id.UserID, id.SessionID, s.newClient(ctx, agent))
	err = pg.InTx(ctx, s.db, func(tx pgx.Tx) error {
		live, err = revokeSession(ctx, tx, id.UserID, id.SessionID, e.At)
		if err != nil || !live {
			return err
		}
		return insertAudit(ctx, tx, e)
	})
	return live, err
}

// ListSessions lists the newest first.
func (s *server) ListSessions(ctx context.Context, req *authv1.ListSessionsRequest) (*authv1.ListSessionsResponse, error) {
	u, err := s.acting(ctx)
	if err != nil {
		return nil, err
	}
	scope, before := "sessions "+u.ID.String(), uuid.Max
	limit, err := s.cursors.Page(scope, req.Limit, req.GetCursor(), &before)
	if err != nil {
		return nil, err
	}
	sessions, err := selectSessions(ctx, s.db, u.ID, before, s.now(), limit+1)
	if err != nil {
		return nil, err
	}
	sessions, pagination, err := page.Cut(s.cursors, scope, sessions, limit, func(s session) any { return s.ID })
	if err != nil {
		return nil, err
	}
	resp := &authv1.ListSessionsResponse{Pagination: pagination}
	id, _ := caller.From(ctx)
	for _, session := range sessions {
		resp.Sessions = append(resp.Sessions, session.proto(id.SessionID))
	}
	return resp, nil
}

// RevokeSession may end the acting session too.
func (s *server) RevokeSession(ctx context.Context, req *authv1.RevokeSessionRequest) (*authv1.RevokeSessionResponse, error) {
	id, ok := text.ID(req.GetId())
	if !ok {
		return nil, errInvalidSessionID
	}
	u, err := s.acting(ctx)
	if err != nil {
		return nil, err
	}
	live, err := s.endSession(ctx, caller.Identity{UserID: u.ID, SessionID: id}, auditSessionEnded, req.GetUserAgent())
	if err != nil {
		return nil, err
	}
	if !live {
		return nil, errSessionNotFound
	}
	return &authv1.RevokeSessionResponse{Id: id.String()}, nil
}

func parseLogin(req *authv1.LoginRequest) (email string, err error) {
	var p apierr.Problems
	email, problem := parseEmail(req.GetEmail())
	p.Field(problem)
	p.Field(checkGivenPassword("password", req.GetPassword()))
	return email, p.Err()
}

// cleanUserAgent keeps what can be shown of a header that the client wrote.
func cleanUserAgent(s string) string {
	s = strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) || r == utf8.RuneError {
			return -1
		}
		return r
	}, s)
	if runes := []rune(s); len(runes) > maxUserAgent {
		return string(runes[:maxUserAgent])
	}
	return s
}

func (s session) proto(current uuid.UUID) *authv1.Session {
	return &authv1.Session{
		Id:         s.ID.String(),
		CreatedAt:  s.CreatedAt.UTC().Format(timestamp),
		LastUsedAt: s.LastUsedAt.UTC().Format(timestamp),
		ExpiresAt:  s.ExpiresAt.UTC().Format(timestamp),
		UserAgent:  s.UserAgent,
		IpAddress:  s.IPAddress,
		Current:    s.ID == current,
	}
}
