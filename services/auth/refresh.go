package auth

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/coffer-budget/coffer/internal/apierr"
	"github.com/coffer-budget/coffer/internal/idem"
	"github.com/coffer-budget/coffer/internal/pg"
	"github.com/coffer-budget/coffer/internal/seal"
	authv1 "github.com/coffer-budget/coffer/proto/gen/coffer/auth/v1"
	restv1 "github.com/coffer-budget/coffer/proto/gen/coffer/rest/v1"
	"github.com/coffer-budget/coffer/services/auth/internal/browser"
)

const (
	// refreshTokenBytes is the entropy of a refresh token. It cannot be guessed, so a fast hash is
	// sufficient to store it.
	refreshTokenBytes = 32
	// webClient is the value of the header X-Coffer-Client that a request with the cookie needs.
	// Browsers send a header of this name to another site only if that site permits it, and the
	// gateway does not.
	webClient = "web"
	// sameCookieTime is the time for which a replaced cookie still gets its successor. Tabs that
	// start together send the same cookie, and a page that is reloaded may not have received the
	// new one.
	sameCookieTime = 20 * time.Second
)

// Refresh exchanges a refresh token for a new pair in the same session. A token can be used once. A
// repeated Idempotency-Key returns the stored response before the token is checked, because the
// first request has used it. A token from the cookie is never answered by one in the body, where
// scripts could read it.
//
// Errors: INVALID_REFRESH_TOKEN, also after the session has ended because a token was reused, and
// FORBIDDEN_ORIGIN for a cookie that was not sent by the console.
func (s *server) Refresh(
	ctx context.Context, req *authv1.RefreshRequest,
) (*authv1.RefreshResponse, error) {
	given, err := presented(req)
	if err != nil {
		return nil, err
	}
	hash := hashRefreshToken(given.text)
	// The user is not known yet, so the idempotency key is scoped by the token.
	call := idem.Call{
		Scope: "refresh:" + hex.EncodeToString(hash), Key: req.GetIdempotencyKey(), Request: req,
	}
	resp := &authv1.RefreshResponse{}
	replayed, err := idem.InTx(ctx, s.db, call, resp, func(tx pgx.Tx) error {
		user, issued, err := s.continueSession(ctx, tx, given)
		if err != nil {
			return err
		}
		resp.AccessToken = issued.access
		resp.Token = issued.access
		resp.TokenType = tokenType
		resp.ExpiresIn = s.expiresIn()
		resp.User = user.proto()
		resp.DeviceKey = s.deviceKey(user.ID)
		switch {
		case issued.refresh == "":
		case given.cookie || req.GetSession() == browser.CookieMode:
			resp.Cookie = s.newCookie(issued.refresh)
		default:
			resp.RefreshToken = issued.refresh
		}
		return nil
	})
	if errors.Is(err, errInvalidRefreshToken) {
		// If the token was used before, it was stolen, and the thief may hold the newer one: end
		// the session. This needs a second transaction because the first one is rolled back.
		// That is safe because a used token stays used.
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

// endReusedSession ends the session of a refresh token that was used before. It does nothing for a
// token that is unknown or expired, which errInvalidRefreshToken does not distinguish.
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

// continueSession uses a refresh token, extends its session and returns the next pair. It returns
// errInvalidRefreshToken for a token that is unknown, used, expired, or of an ended session.
func (s *server) continueSession(
	ctx context.Context, tx pgx.Tx, given presentedToken,
) (user, issuedTokens, error) {
	now := s.now().UTC()
	refresh, err := newRefreshToken()
	if err != nil {
		return user{}, issuedTokens{}, err
	}
	var sealed []byte
	if given.cookie {
		if sealed, err = s.successorKey(given.text).Seal([]byte(refresh), ""); err != nil {
			return user{}, issuedTokens{}, err
		}
	}
	id, err := useRefreshToken(ctx, tx, hashRefreshToken(given.text), sealed, now)
	if errors.Is(err, pgx.ErrNoRows) && given.cookie {
		return s.repeatCookie(ctx, tx, given.text, now)
	}
	if err != nil {
		return user{}, issuedTokens{}, pg.IfNoRows(err, errInvalidRefreshToken)
	}
	u, err := prolongSession(ctx, tx, id, now, now.Add(s.config.RefreshTTL))
	if err != nil {
		return user{}, issuedTokens{}, pg.IfNoRows(err, errInvalidRefreshToken)
	}
	t, err := s.issue(ctx, tx, u.in(id), refresh, now)
	return u.user, t, err
}

// repeatCookie returns an access token and the successor of a cookie that was replaced less than
// sameCookieTime ago. The successor is empty if it was used too: then the browser has a newer
// cookie, which this response must not overwrite.
func (s *server) repeatCookie(
	ctx context.Context, tx pgx.Tx, token string, now time.Time,
) (user, issuedTokens, error) {
	replaced, err := selectReplacedToken(ctx, tx, hashRefreshToken(token), now.Add(-sameCookieTime))
	if err != nil {
		return user{}, issuedTokens{}, pg.IfNoRows(err, errInvalidRefreshToken)
	}
	successor, err := s.successorKey(token).Open(replaced.SealedSuccessor, "")
	if err != nil {
		return user{}, issuedTokens{},
			fmt.Errorf("opening the successor of a refresh token: %w", err)
	}
	found, err := useSession(ctx, tx, replaced.SessionID, now)
	if err != nil {
		return user{}, issuedTokens{}, pg.IfNoRows(err, errInvalidRefreshToken)
	}
	issued := issuedTokens{}
	issued.access, err = s.keys.Sign(found.in(replaced.SessionID), now)
	if err != nil {
		return user{}, issuedTokens{}, err
	}
	unused, err := isUnusedRefreshToken(ctx, tx, hashRefreshToken(string(successor)))
	if unused {
		issued.refresh = string(successor)
	}
	return found.user, issued, err
}

// newRefreshToken returns 256 random bits in base64url.
func newRefreshToken() (string, error) {
	bits := make([]byte, refreshTokenBytes)
	if _, err := rand.Read(bits); err != nil {
		return "", err
	}
	return base64.RawURLEncoding.EncodeToString(bits), nil
}

func hashRefreshToken(token string) []byte {
	h := sha256.Sum256([]byte(token))
	return h[:]
}

type presentedToken struct {
	text string
	// cookie is set if the token was sent in the session cookie.
	cookie bool
}

// presented returns the refresh token of a request. One in the body takes precedence, because a
// client that sends it has chosen it. The cookie counts only in a request of this site's web
// application.
func presented(req *authv1.RefreshRequest) (presentedToken, error) {
	var problems apierr.Problems
	problems.Field(browser.CheckMode(req.GetSession()))
	inBody := req.GetRefreshToken() != ""
	anyCookie := req.GetCookie() != "" || req.GetSession() == browser.CookieMode
	if !inBody && !anyCookie {
		problems.Invalid("refreshToken", "is required")
	}
	if err := problems.Err(); err != nil {
		return presentedToken{}, err
	}
	switch {
	case inBody && req.GetSession() == browser.CookieMode && browser.IsFromOtherSite(req):
		return presentedToken{}, errForbiddenOrigin
	case inBody:
		return presentedToken{text: req.GetRefreshToken()}, nil
	case req.GetClient() != webClient || !browser.IsFromOwnSite(req):
		return presentedToken{}, errForbiddenOrigin
	case req.GetCookie() == "":
		return presentedToken{}, errInvalidRefreshToken
	}
	return presentedToken{text: req.GetCookie(), cookie: true}, nil
}

// newCookie returns the cookie with a refresh token. Its lifetime is the lifetime of the refresh
// token in it. The gateway adds the name and the attributes.
func (s *server) newCookie(refresh string) *restv1.Cookie {
	return &restv1.Cookie{Value: refresh, MaxAge: int32(s.config.RefreshTTL / time.Second)}
}

// successorKey returns the key that seals the successor of a token. It needs the token and the
// service key. With the token alone, the owner of an old token and a copy of the database could
// follow the successors up to the valid token.
func (s *server) successorKey(token string) seal.Key {
	return seal.NewKey(s.config.ServiceKey+"\x00"+token, "refresh successor")
}
