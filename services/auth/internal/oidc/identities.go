package oidc

import (
	"context"
	"net/url"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/coffer-budget/coffer/internal/apierr"
	"github.com/coffer-budget/coffer/internal/calendar"
	"github.com/coffer-budget/coffer/internal/caller"
	"github.com/coffer-budget/coffer/internal/pg"
	"github.com/coffer-budget/coffer/internal/text"
	authv1 "github.com/coffer-budget/coffer/proto/gen/coffer/auth/v1"
	"github.com/coffer-budget/coffer/services/auth/internal/factors"
)

// ListOidcIdentities returns the identities of the acting user.
func (s *Server) ListOidcIdentities(
	ctx context.Context, _ *authv1.ListOidcIdentitiesRequest,
) (*authv1.ListOidcIdentitiesResponse, error) {
	user, err := s.User(ctx)
	if err != nil {
		return nil, err
	}
	identities, err := s.Of(ctx, user)
	return &authv1.ListOidcIdentitiesResponse{Identities: identities}, err
}

// Of returns the identities of a user.
func (s *Server) Of(ctx context.Context, user uuid.UUID) ([]*authv1.OidcIdentity, error) {
	rows, err := selectIdentities(ctx, s.DB, user)
	if err != nil {
		return nil, err
	}
	var shown []*authv1.OidcIdentity
	for _, row := range rows {
		identity := &authv1.OidcIdentity{
			Id: row.ID.String(), Issuer: row.Issuer, Label: s.labelOf(row.Issuer),
			Email: row.Email, CreatedAt: calendar.FormatTime(row.CreatedAt),
		}
		if row.LastUsedAt != nil {
			identity.LastUsedAt = new(calendar.FormatTime(*row.LastUsedAt))
		}
		shown = append(shown, identity)
	}
	return shown, nil
}

// DeleteOidcIdentity removes a link of the acting user. The lock of the user makes simultaneous
// calls wait, so the last way to sign in remains. Errors: OIDC_IDENTITY_NOT_FOUND, LAST_FACTOR.
func (s *Server) DeleteOidcIdentity(
	ctx context.Context, req *authv1.DeleteOidcIdentityRequest,
) (*authv1.DeleteOidcIdentityResponse, error) {
	id, ok := text.ID(req.GetId())
	if !ok {
		return nil, errIdentityNotFound
	}
	acting, _ := caller.From(ctx)
	err := pg.InTx(ctx, s.DB, func(tx pgx.Tx) error {
		err := lockUserInSession(ctx, tx, acting.UserID, acting.SessionID, s.Now())
		if err != nil {
			return pg.IfNoRows(err, apierr.Unauthorized)
		}
		issuer, err := deleteIdentity(ctx, tx, acting.UserID, id)
		if err != nil {
			return pg.IfNoRows(err, errIdentityNotFound)
		}
		can, err := factors.CanSignIn(ctx, tx, acting.UserID, s.Issuers())
		if err != nil {
			return err
		}
		if !can {
			return errLastFactor
		}
		if err := factors.EndChallenges(ctx, tx, acting.UserID); err != nil {
			return err
		}
		return s.Changed(ctx, tx, Change{
			Kind: Unlinked, Label: s.labelOf(issuer), UserID: acting.UserID,
			SessionID: acting.SessionID, Agent: req.GetUserAgent(), EndsSessions: true,
		})
	})
	if err != nil {
		return nil, err
	}
	s.Wake()
	return &authv1.DeleteOidcIdentityResponse{}, nil
}

// DeleteAll removes all links of a user whom tx has locked, and returns the labels of the
// providers.
func (s *Server) DeleteAll(ctx context.Context, tx pgx.Tx, user uuid.UUID) ([]string, error) {
	rows, err := deleteIdentities(ctx, tx, user)
	if err != nil {
		return nil, err
	}
	var labels []string
	for _, row := range rows {
		labels = append(labels, s.labelOf(row.Issuer))
	}
	return labels, factors.EndChallenges(ctx, tx, user)
}

// labelOf returns the name of a provider for users, or the host of one that is no longer
// configured.
func (s *Server) labelOf(issuer string) string {
	for _, c := range s.clients {
		if c.Issuer == issuer {
			return c.label()
		}
	}
	if u, err := url.Parse(issuer); err == nil && u.Host != "" {
		return u.Host
	}
	return issuer
}
