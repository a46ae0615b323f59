package auth

import (
	"context"
	"encoding/base64"
	"errors"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/coffer-budget/coffer/internal/apierr"
	"github.com/coffer-budget/coffer/internal/calendar"
	"github.com/coffer-budget/coffer/internal/caller"
	"github.com/coffer-budget/coffer/internal/idem"
	"github.com/coffer-budget/coffer/internal/page"
	"github.com/coffer-budget/coffer/internal/pg"
	"github.com/coffer-budget/coffer/internal/seal"
	"github.com/coffer-budget/coffer/internal/text"
	authv1 "github.com/coffer-budget/coffer/proto/gen/coffer/auth/v1"
	restv1 "github.com/coffer-budget/coffer/proto/gen/coffer/rest/v1"
	"github.com/coffer-budget/coffer/services/auth/internal/browser"
	"github.com/coffer-budget/coffer/services/auth/internal/email"
	"github.com/coffer-budget/coffer/services/auth/internal/password"
)

const tokenType = "Bearer"

type issuedTokens struct {
	access string
	// refresh is empty if the browser already has a newer one, see repeatCookie.
	refresh string
}

// Login starts a session, or the second step of a sign-in if the user has a second factor. An
// unknown e-mail costs the same work and returns the same error as a wrong password, so that
// neither reveals which e-mails have an account.
//
// Errors: INVALID_CREDENTIALS, RATE_LIMITED with the time until the limit ends, FORBIDDEN_ORIGIN,
// EMAIL_NOT_VERIFIED if the installation requires that, ACCOUNT_DELETION_PENDING, and
// SERVICE_UNAVAILABLE if the queue of the hasher is full.
func (s *server) Login(
	ctx context.Context, req *authv1.LoginRequest,
) (*authv1.LoginResponse, error) {
	given, err := parseLogin(req)
	if err != nil {
		return nil, err
	}
	// Otherwise another site could sign a browser in to an account of the attacker.
	if req.GetSession() == browser.CookieMode && browser.IsFromOtherSite(req) {
		return nil, errForbiddenOrigin
	}
	account, err := selectUserByEmail(ctx, s.db, given)
	if errors.Is(err, pgx.ErrNoRows) {
		account, err = user{PasswordHash: s.hasher.Dummy}, nil
	}
	if err != nil {
		return nil, err
	}
	address := s.config.ClientAddress(ctx)
	from := clientOf(address, req.GetUserAgent())
	try := loginAttempt(given, account, address,
		s.entry(auditLoginFailed, account.ID, uuid.Nil, from))
	if err := s.admit(ctx, try); err != nil {
		return nil, err
	}
	// The limits apply before the replay, so that repeated requests cannot be used to guess.
	call := idem.Call{Scope: "login:" + given, Key: req.GetIdempotencyKey(), Request: req}
	resp := &authv1.LoginResponse{}
	if replayed, err := idem.Replay(ctx, s.db, call, resp); err != nil || replayed {
		return s.replayedLogin(ctx, try, resp, err)
	}
	if err := s.prove(ctx, try, account.PasswordHash, req.GetPassword()); err != nil {
		return nil, err
	}
	if err := s.requireVerified(ctx, account); err != nil {
		return nil, err
	}
	resp.Replayed, err = idem.InTx(ctx, s.db, call, resp, func(tx pgx.Tx) error {
		account, issued, err := s.startSession(ctx, tx,
			proven{user: account, from: from, network: try.network})
		if errors.Is(err, errSecondFactor) {
			return s.requireSecondFactor(ctx, tx, account, resp)
		}
		if err != nil {
			return err
		}
		resp.AccessToken = issued.access
		resp.Token = issued.access
		resp.TokenType = tokenType
		resp.ExpiresIn = s.expiresIn()
		resp.User = account.proto()
		resp.DeviceKey = s.deviceKey(account.ID)
		if req.GetSession() == browser.CookieMode {
			resp.Cookie = s.newCookie(issued.refresh)
		} else {
			resp.RefreshToken = issued.refresh
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return resp, nil
}

// replayedLogin returns the stored response of a repeated request. It counts a request that differs
// from the first one as a failure. Otherwise a known idempotency key would allow unlimited guesses,
// because only the right password gets the first response.
func (s *server) replayedLogin(
	ctx context.Context, try attempt, resp *authv1.LoginResponse, err error,
) (*authv1.LoginResponse, error) {
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

// startSession stores a session, the address it came from and its audit entry, and returns its
// tokens. All ways to sign in call it. It returns errInvalidCredentials if the password has changed
// since it was compared, and the user with errSecondFactor if the proof lacks a second factor that
// may have been enabled since: such a change ended all other sessions, and this one must not
// survive it.
func (s *server) startSession(
	ctx context.Context, tx pgx.Tx, verified proven,
) (user, issuedTokens, error) {
	found, err := lockPassword(ctx, tx, verified.ID, verified.PasswordHash)
	if err != nil {
		return user{}, issuedTokens{}, pg.IfNoRows(err, errInvalidCredentials)
	}
	if found.SecondFactor && !verified.secondFactor {
		return found, issuedTokens{}, errSecondFactor
	}
	if err := s.deletions.Pending(ctx, tx, found.ID); err != nil {
		return user{}, issuedTokens{}, err
	}
	from := verified.from
	now := s.now().UTC()
	started := session{
		ID: s.newID(), UserID: found.ID, CreatedAt: now, LastUsedAt: now,
		ExpiresAt: now.Add(s.config.RefreshTTL), UserAgent: from.agent, IPAddress: from.address,
	}
	if err := insertSession(ctx, tx, started); err != nil {
		return user{}, issuedTokens{}, err
	}
	if err := upsertKnownAddress(ctx, tx, found.ID, verified.network, now); err != nil {
		return user{}, issuedTokens{}, err
	}
	err = insertAudit(ctx, tx, s.entry(auditLoginSucceeded, found.ID, started.ID, from))
	if err != nil {
		return user{}, issuedTokens{}, err
	}
	refresh, err := newRefreshToken()
	if err != nil {
		return user{}, issuedTokens{}, err
	}
	id := caller.Identity{UserID: found.ID, SessionID: started.ID, AuthTime: now}
	t, err := s.issue(ctx, tx, id, refresh, now)
	return found, t, err
}

func (s *server) issue(
	ctx context.Context, tx pgx.Tx, id caller.Identity, refresh string, now time.Time,
) (issuedTokens, error) {
	hash, expires := hashRefreshToken(refresh), now.Add(s.config.RefreshTTL)
	if err := insertRefreshToken(ctx, tx, hash, id.SessionID, expires); err != nil {
		return issuedTokens{}, err
	}
	access, err := s.keys.Sign(id, now)
	return issuedTokens{access: access, refresh: refresh}, err
}

func (s *server) expiresIn() int32 { return int32(s.config.AccessTTL / time.Second) }

// deviceKey returns the key with which a client encrypts data of a user that stay on a device after
// the session has ended. It is derived, so that it survives a change of the password, and a copy of
// the database does not contain it (ADR 109).
func (s *server) deviceKey(userID uuid.UUID) string {
	key := seal.NewKey(s.config.ServiceKey+"\x00"+userID.String(), "device")
	return base64.RawURLEncoding.EncodeToString(key[:])
}

// Logout ends the acting session; its tokens stop working everywhere within a minute. It does not
// call currentUser, because endSession reports whether the session was live.
func (s *server) Logout(
	ctx context.Context, req *authv1.LogoutRequest,
) (*authv1.LogoutResponse, error) {
	id, _ := caller.From(ctx)
	live, err := s.endSession(ctx, id, auditLoggedOut, req.GetUserAgent())
	if err != nil {
		return nil, err
	}
	if !live {
		return nil, apierr.Unauthorized
	}
	resp := &authv1.LogoutResponse{}
	if req.GetCookie() != "" {
		resp.Cookie = &restv1.Cookie{MaxAge: -1}
	}
	return resp, nil
}

// endSession ends a session and writes an audit entry. It reports false if the session was not the
// user's or had ended before. The update of one row decides between simultaneous calls, so a
// session has one entry about its end.
func (s *server) endSession(
	ctx context.Context, id caller.Identity, kind, agent string,
) (live bool, err error) {
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

// ListSessions returns the live sessions of the acting user, newest first.
func (s *server) ListSessions(
	ctx context.Context, req *authv1.ListSessionsRequest,
) (*authv1.ListSessionsResponse, error) {
	user, err := s.currentUser(ctx)
	if err != nil {
		return nil, err
	}
	sessions, pagination, err := page.List(s.cursors, page.Query[session, uuid.UUID]{
		Scope: "sessions " + user.ID.String(), Limit: req.Limit, Cursor: req.GetCursor(),
		First:    uuid.Max,
		Position: func(s session) uuid.UUID { return s.ID },
		Select: func(before uuid.UUID, limit int) ([]session, error) {
			return selectSessions(ctx, s.db, user.ID, before, s.now(), limit)
		},
	})
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

// RevokeSession ends a session of the acting user, possibly the session of the call. For sessions
// of other users it returns errSessionNotFound.
func (s *server) RevokeSession(
	ctx context.Context, req *authv1.RevokeSessionRequest,
) (*authv1.RevokeSessionResponse, error) {
	id, ok := text.ID(req.GetId())
	if !ok {
		return nil, errInvalidSessionID
	}
	u, err := s.currentUser(ctx)
	if err != nil {
		return nil, err
	}
	live, err := s.endSession(ctx, caller.Identity{UserID: u.ID, SessionID: id}, auditSessionEnded,
		req.GetUserAgent())
	if err != nil {
		return nil, err
	}
	if !live {
		return nil, errSessionNotFound
	}
	return &authv1.RevokeSessionResponse{Id: id.String()}, nil
}

func parseLogin(req *authv1.LoginRequest) (address string, err error) {
	var p apierr.Problems
	address, problem := email.Parse(req.GetEmail())
	p.Field(problem)
	p.Field(password.CheckGiven("password", req.GetPassword()))
	p.Field(browser.CheckMode(req.GetSession()))
	return address, p.Err()
}

func (s session) proto(current uuid.UUID) *authv1.Session {
	return &authv1.Session{
		Id:         s.ID.String(),
		CreatedAt:  calendar.FormatTime(s.CreatedAt),
		LastUsedAt: calendar.FormatTime(s.LastUsedAt),
		ExpiresAt:  calendar.FormatTime(s.ExpiresAt),
		UserAgent:  s.UserAgent,
		IpAddress:  s.IPAddress,
		Current:    s.ID == current,
	}
}
