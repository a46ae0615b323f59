package auth

import (
	"context"
	"time"

	"github.com/google/uuid"

	"github.com/coffer-budget/coffer/internal/caller"
	authv1 "github.com/coffer-budget/coffer/proto/gen/coffer/auth/v1"
)

const (
	// revokedMargin is added to the lifetime of an access token: the verifiers accept it for a
	// minute longer, and clocks differ by up to a minute.
	revokedMargin = 2 * time.Minute
	// revokedPage is the number of sessions in a page. A full page is a message of 400 KB.
	revokedPage = 20_000
	// revokedOverlap is repeated when a caller continues after the last page. A session that was
	// ended before the last page was read may be committed after it: a call takes up to 90 s, and
	// clocks differ by up to a minute. Verifiers merge pages, so repeated sessions are harmless.
	revokedOverlap = 3 * time.Minute

	revokedScope = "revoked sessions"
)

type revokedPosition struct {
	At time.Time
	ID uuid.UUID
	// Started is the time at which the first page of this pass was read; zero before the first
	// page.
	Started time.Time
}

// ListRevokedSessions serves the verifiers of all services, which call it every 4 to 5 seconds. It
// returns the ended sessions whose last access token may still be valid. The cursor of the last
// page continues with sessions that were ended since, and repeats those that were ended within
// revokedOverlap before.
func (s *server) ListRevokedSessions(
	ctx context.Context, req *authv1.ListRevokedSessionsRequest,
) (*authv1.ListRevokedSessionsResponse, error) {
	now := s.now()
	// Sessions that were last used before live have no valid token.
	live := now.Add(-s.config.AccessTTL - revokedMargin)
	if !req.GetPaged() {
		return s.listAllRevoked(ctx, live)
	}
	after := revokedPosition{At: live}
	if req.GetCursor() != "" {
		if err := s.cursors.Open(revokedScope, req.GetCursor(), &after); err != nil {
			return nil, err
		}
	}
	if after.Started.IsZero() {
		after.Started = now
	}
	ended, err := selectRevokedSessions(ctx, s.db, after.At, after.ID, live, revokedPage+1)
	if err != nil {
		return nil, err
	}
	resp := &authv1.ListRevokedSessionsResponse{HasMore: len(ended) > revokedPage}
	next := revokedPosition{At: after.Started.Add(-revokedOverlap)}
	if resp.GetHasMore() {
		ended = ended[:revokedPage]
		last := ended[revokedPage-1]
		next = revokedPosition{At: last.RevokedAt, ID: last.ID, Started: after.Started}
	}
	// A session takes 20 bytes: 16 of its id, and 4 of the Unix time at which its last access token
	// expires (ADR 47).
	for _, e := range ended {
		resp.Sessions = append(resp.Sessions, e.ID[:]...)
		expired := e.LastUsedAt.Add(s.config.AccessTTL + revokedMargin)
		resp.ExpireAt = append(resp.ExpireAt, uint32(expired.Unix())) //nolint:gosec // Until 2106.
	}
	resp.NextCursor, err = s.cursors.Seal(revokedScope, next)
	return resp, err
}

// listAllRevoked serves verifiers of the release before paging, with one message.
func (s *server) listAllRevoked(
	ctx context.Context, live time.Time,
) (*authv1.ListRevokedSessionsResponse, error) {
	const unlimited = 1 << 31
	ended, err := selectRevokedSessions(ctx, s.db, live, uuid.Nil, live, unlimited)
	if err != nil {
		return nil, err
	}
	resp := &authv1.ListRevokedSessionsResponse{}
	for _, e := range ended {
		resp.SessionIds = append(resp.SessionIds, e.ID.String())
	}
	return resp, nil
}

// trust returns the state that this service verifies tokens against. It calls the methods directly;
// the other services use gRPC.
func (s *server) trust() caller.Trust { return caller.TrustOf(s.GetKeySet, s.ListRevokedSessions) }
