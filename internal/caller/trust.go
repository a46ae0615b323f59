package caller

import (
	"context"
	"crypto/ed25519"
	"encoding/base64"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"

	authv1 "github.com/coffer-budget/coffer/proto/gen/coffer/auth/v1"
)

const (
	callTime = 2 * time.Second
	// unpagedTime is how long a session from the list of an earlier release of auth is kept. Such a
	// list has no expiry times, and each reload lists the sessions again.
	unpagedTime = 5 * time.Minute
)

// Trust loads the state that a Verifier verifies tokens against.
type Trust struct {
	// Keys returns the public keys by kid.
	Keys func(ctx context.Context) (map[string]ed25519.PublicKey, error)
	// Revoked returns the page of ended sessions after a cursor; the first page is after "".
	Revoked func(ctx context.Context, cursor string) (Revoked, error)
}

// Revoked is a page of ended sessions.
type Revoked struct {
	// Sessions maps each session to the time at which its last access token expires, in seconds
	// since 1970. The type is compact because there may be a million sessions.
	Sessions map[uuid.UUID]uint32
	// Cursor continues after this page, or after the last page with sessions that were ended since.
	Cursor string
	More   bool
}

// FromAuth returns a Trust that calls the auth service.
func FromAuth(client authv1.AuthServiceClient) Trust {
	return TrustOf(
		func(ctx context.Context, req *authv1.GetKeySetRequest) (*authv1.GetKeySetResponse, error) {
			return client.GetKeySet(ctx, req)
		},
		func(
			ctx context.Context, req *authv1.ListRevokedSessionsRequest,
		) (*authv1.ListRevokedSessionsResponse, error) {
			return client.ListRevokedSessions(ctx, req)
		},
	)
}

// TrustOf returns a Trust that calls two of auth's RPC methods.
func TrustOf(
	keySet func(context.Context, *authv1.GetKeySetRequest) (*authv1.GetKeySetResponse, error),
	list func(
		context.Context, *authv1.ListRevokedSessionsRequest,
	) (*authv1.ListRevokedSessionsResponse, error),
) Trust {
	return Trust{
		Keys: func(ctx context.Context) (map[string]ed25519.PublicKey, error) {
			ctx, cancel := context.WithTimeout(ctx, callTime)
			defer cancel()
			set, err := keySet(ctx, &authv1.GetKeySetRequest{})
			if err != nil {
				return nil, err
			}
			return parseKeys(set)
		},
		Revoked: func(ctx context.Context, cursor string) (Revoked, error) {
			ctx, cancel := context.WithTimeout(ctx, callTime)
			defer cancel()
			page, err := list(ctx, &authv1.ListRevokedSessionsRequest{Paged: true, Cursor: cursor})
			if err != nil {
				return Revoked{}, err
			}
			return parseRevoked(page, time.Now())
		},
	}
}

func parseKeys(set *authv1.GetKeySetResponse) (map[string]ed25519.PublicKey, error) {
	keys := map[string]ed25519.PublicKey{}
	for _, k := range set.GetKeys() {
		x, err := base64.RawURLEncoding.DecodeString(k.GetX())
		if err != nil || len(x) != ed25519.PublicKeySize {
			return nil, fmt.Errorf("key %q of the key set is malformed", k.GetKid())
		}
		keys[k.GetKid()] = x
	}
	return keys, nil
}

// parseRevoked decodes a page of ended sessions. It also accepts the response of an earlier
// release: all sessions, as text, without a cursor.
func parseRevoked(page *authv1.ListRevokedSessionsResponse, now time.Time) (Revoked, error) {
	packed, expire := page.GetSessions(), page.GetExpireAt()
	if len(packed) != 16*len(expire) {
		return Revoked{}, errors.New("a page of ended sessions is malformed")
	}
	parsed := Revoked{
		Sessions: make(map[uuid.UUID]uint32, len(expire)+len(page.GetSessionIds())),
		Cursor:   page.GetNextCursor(), More: page.GetHasMore(),
	}
	for i, at := range expire {
		parsed.Sessions[uuid.UUID(packed[16*i:16*i+16])] = at
	}
	unpaged := uint32(now.Add(unpagedTime).Unix()) //nolint:gosec // Until 2106.
	for _, id := range page.GetSessionIds() {
		session, err := uuid.Parse(id)
		if err != nil {
			return Revoked{}, fmt.Errorf("the id of an ended session is malformed: %w", err)
		}
		parsed.Sessions[session] = unpaged
	}
	return parsed, nil
}
