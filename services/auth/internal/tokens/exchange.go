package tokens

import (
	"context"
	"errors"
	"net/netip"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/coffer-budget/coffer/internal/apierr"
	"github.com/coffer-budget/coffer/internal/caller"
	"github.com/coffer-budget/coffer/internal/personaltoken"
	authv1 "github.com/coffer-budget/coffer/proto/gen/coffer/auth/v1"
)

// ExchangePersonalToken returns an access token for a personal access token. It is public, because
// the personal access token proves the identity. Errors: INVALID_PERSONAL_TOKEN.
func (s *Server) ExchangePersonalToken(
	ctx context.Context, req *authv1.ExchangePersonalTokenRequest,
) (*authv1.ExchangePersonalTokenResponse, error) {
	if req.GetToken() == "" {
		return nil, apierr.Invalid("token", "is required")
	}
	issued, err := s.exchange(ctx, req.GetToken(), s.ClientAddress(ctx))
	switch {
	case errors.Is(err, apierr.Unauthorized), errors.Is(err, apierr.TokenExpired):
		return nil, errInvalidToken
	case err != nil:
		return nil, err
	}
	return &authv1.ExchangePersonalTokenResponse{
		AccessToken: issued.access, TokenType: "Bearer",
		ExpiresIn: int32(issued.life / time.Second), Scopes: issued.scopes,
	}, nil
}

// ExchangeAccessToken serves the gateway, which received a personal access token from the client
// with this address. Errors: UNAUTHORIZED and TOKEN_EXPIRED.
func (s *Server) ExchangeAccessToken(
	ctx context.Context, req *authv1.ExchangeAccessTokenRequest,
) (*authv1.ExchangeAccessTokenResponse, error) {
	address, _ := netip.ParseAddr(req.GetAddress())
	issued, err := s.exchange(ctx, req.GetToken(), address)
	if err != nil {
		return nil, err
	}
	return &authv1.ExchangeAccessTokenResponse{AccessToken: issued.access}, nil
}

// issued is an access token that was issued for a personal access token.
type issued struct {
	access string
	life   time.Duration
	scopes []string
}

// exchange issues an access token with the scopes of a token, and records the use. It returns
// apierr.Unauthorized for a malformed, unknown or deleted token, and apierr.TokenExpired.
//
// A token that is deleted during the call may still get an access token. Its session has ended, so
// verifiers reject it.
func (s *Server) exchange(
	ctx context.Context, secret string, address netip.Addr,
) (issued, error) {
	if !personaltoken.Valid(secret) {
		return issued{}, apierr.Unauthorized
	}
	now := s.Now()
	hash := personaltoken.Hash(secret)
	found, err := selectTokenByHash(ctx, s.DB, hash[:])
	if errors.Is(err, pgx.ErrNoRows) {
		return issued{}, apierr.Unauthorized
	}
	if err != nil {
		return issued{}, err
	}
	if !found.ExpiresAt.After(now) {
		return issued{}, apierr.TokenExpired
	}
	life := lifeOf(found.ExpiresAt, now, s.Keys.AccessTTL)
	identity := caller.Identity{
		UserID: found.UserID, SessionID: found.ID, Scope: caller.ScopeOf(found.Scopes),
	}
	access, err := s.Keys.SignFor(identity, now, life)
	if err != nil {
		return issued{}, err
	}
	if isNewUse(found.LastUsedAt, now) {
		if err := updateUse(ctx, s.DB, found.ID, now.Truncate(time.Minute), address); err != nil {
			return issued{}, err
		}
	}
	return issued{access, life, found.Scopes}, nil
}
