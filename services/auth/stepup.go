package auth

import (
	"context"

	"github.com/jackc/pgx/v5"

	"github.com/coffer-budget/coffer/internal/apierr"
	"github.com/coffer-budget/coffer/internal/caller"
	"github.com/coffer-budget/coffer/internal/pg"
	authv1 "github.com/coffer-budget/coffer/proto/gen/coffer/auth/v1"
	"github.com/coffer-budget/coffer/services/auth/internal/password"
)

// Reauthenticate confirms the identity of the acting user and returns an access token with the
// present time as its auth_time. The session keeps the time for its next tokens.
//
// Errors: INVALID_CREDENTIALS, RATE_LIMITED, UNAUTHORIZED if the session has ended, and
// SERVICE_UNAVAILABLE if the queue of the hasher is full.
func (s *server) Reauthenticate(
	ctx context.Context, req *authv1.ReauthenticateRequest,
) (*authv1.ReauthenticateResponse, error) {
	if problem := password.CheckGiven("password", req.GetPassword()); problem != nil {
		return nil, apierr.Validation([]apierr.Field{*problem})
	}
	current, err := s.currentUser(ctx)
	if err != nil {
		return nil, err
	}
	from := s.newClient(ctx, req.GetUserAgent())
	err = s.proveAgain(ctx, current, req.GetPassword(), auditReauthenticateFailed, from)
	if err != nil {
		return nil, err
	}
	id, _ := caller.From(ctx)
	resp := &authv1.ReauthenticateResponse{TokenType: tokenType, ExpiresIn: s.expiresIn()}
	err = pg.InTx(ctx, s.db, func(tx pgx.Tx) error {
		now := s.now().UTC()
		session, err := authenticateSession(ctx, tx, current, id.SessionID, now)
		if err != nil {
			return pg.IfNoRows(err, apierr.Unauthorized)
		}
		e := s.entry(auditReauthenticated, current.ID, id.SessionID, from)
		if err := insertAudit(ctx, tx, e); err != nil {
			return err
		}
		resp.AccessToken, err = s.keys.Sign(session.in(id.SessionID), now)
		return err
	})
	if err != nil {
		return nil, err
	}
	return resp, nil
}
