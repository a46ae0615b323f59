package admission

import (
	"context"
	"crypto/sha256"
	"errors"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"
	"golang.org/x/sync/singleflight"

	"github.com/coffer-budget/coffer/internal/apierr"
	"github.com/coffer-budget/coffer/internal/personaltoken"
	authv1 "github.com/coffer-budget/coffer/proto/gen/coffer/auth/v1"
)

const (
	// exchangedKept is the time for which the result of a lookup is used.
	exchangedKept = time.Minute
	// staleKept is added to it while auth is unavailable. Access tokens are valid for 5 minutes,
	// and the verifier rejects an expired one.
	staleKept = 4 * time.Minute
	// maxExchanged limits the memory of accepted and of rejected tokens: about 5 MB. They are
	// separate, so that invented tokens do not remove those in use.
	maxExchanged = 10_000
	// maxLookups limits the simultaneous lookups, so that invented tokens of many addresses do not
	// keep auth busy.
	maxLookups = 32
	lookupTime = 2 * time.Second
)

// Exchange exchanges personal access tokens for access tokens. It caches the results of lookups,
// and simultaneous requests with one token share a lookup (ADR 130). A deleted token is rejected
// earlier than its entry ends, because the verifier knows that the session of the access token has
// ended.
type Exchange struct {
	auth     authv1.TokenServiceClient
	accepted *lru.Cache[tokenHash, accepted]
	rejected *lru.Cache[tokenHash, rejected]
	lookups  singleflight.Group
	slots    chan struct{}
	now      func() time.Time
}

// tokenHash identifies a token in memory without revealing it.
type tokenHash = [sha256.Size]byte

type accepted struct {
	access string
	until  time.Time
}

type rejected struct {
	reason error
	until  time.Time
}

// NewExchange returns an Exchange that looks tokens up at auth.
func NewExchange(auth authv1.TokenServiceClient, now func() time.Time) (*Exchange, error) {
	valid, err := lru.New[tokenHash, accepted](maxExchanged)
	if err != nil {
		return nil, err
	}
	invalid, err := lru.New[tokenHash, rejected](maxExchanged)
	if err != nil {
		return nil, err
	}
	return &Exchange{
		auth: auth, accepted: valid, rejected: invalid, slots: make(chan struct{}, maxLookups),
		now: now,
	}, nil
}

// accessToken returns an access token for a personal access token that a client with this address
// sent. admit is called before the lookup of a token that may be invented, and may reject it. The
// other requests of an address, which many users may share, do not keep a token in use from its
// lookup. Errors: apierr.Unauthorized, apierr.TokenExpired, apierr.Unavailable, and those of admit.
func (e *Exchange) accessToken(
	ctx context.Context, token, address string, admit func() error,
) (string, error) {
	if !personaltoken.Valid(token) {
		return "", apierr.Unauthorized
	}
	hash, now := personaltoken.Hash(token), e.now()
	known, inUse := e.accepted.Get(hash)
	if inUse && now.Before(known.until) {
		return known.access, nil
	}
	if found, ok := e.rejected.Get(hash); ok && now.Before(found.until) {
		return "", found.reason
	}
	if !inUse || !now.Before(known.until.Add(staleKept)) {
		if err := admit(); err != nil {
			return "", err
		}
	}
	// The lookup outlives the first request, because others may wait for it.
	shared := context.WithoutCancel(ctx)
	done := e.lookups.DoChan(string(hash[:]), func() (any, error) {
		return e.lookUp(shared, hash, &authv1.ExchangeAccessTokenRequest{
			Token: token, Address: address,
		})
	})
	select {
	case <-ctx.Done():
		return "", ctx.Err()
	case result := <-done:
		access, _ := result.Val.(string)
		return access, result.Err
	}
}

// lookUp asks auth and stores the result. While auth is unavailable or all slots are in use, it
// returns the last access token.
func (e *Exchange) lookUp(
	ctx context.Context, hash tokenHash, req *authv1.ExchangeAccessTokenRequest,
) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, lookupTime)
	defer cancel()
	select {
	case <-ctx.Done():
		return e.last(hash)
	case e.slots <- struct{}{}:
		defer func() { <-e.slots }()
	}
	resp, err := e.auth.ExchangeAccessToken(ctx, req)
	now := e.now()
	reason := apierr.From(err)
	switch {
	case err == nil:
		e.accepted.Add(hash, accepted{resp.GetAccessToken(), now.Add(exchangedKept)})
		return resp.GetAccessToken(), nil
	case reason != nil && (errors.Is(reason, apierr.Unauthorized) ||
		errors.Is(reason, apierr.TokenExpired)):
		e.accepted.Remove(hash)
		e.rejected.Add(hash, rejected{reason, now.Add(exchangedKept)})
		return "", reason
	}
	return e.last(hash)
}

// last returns the last access token of a token without a lookup, or apierr.Unavailable.
func (e *Exchange) last(hash tokenHash) (string, error) {
	found, ok := e.accepted.Get(hash)
	if ok && e.now().Before(found.until.Add(staleKept)) {
		return found.access, nil
	}
	return "", apierr.Unavailable
}
