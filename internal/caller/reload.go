package caller

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"time"

	"github.com/google/uuid"

	"github.com/coffer-budget/coffer/internal/apierr"
)

const (
	// reloadEvery is the time between reloads. An ended session must be rejected within seconds,
	// because its device shows the user's data until then. It must be rejected within a minute even
	// if some reloads fail.
	reloadEvery = 5 * time.Second
	// reloadJitter spreads the reloads of many instances.
	reloadJitter = time.Second
	// reloadAtMostEvery limits the reloads because of unknown keys. Such a key may be new, or the
	// token may be forged.
	reloadAtMostEvery = time.Second
	// onDemandTime limits a load for which requests wait. The pages read until then are kept.
	onDemandTime = 2 * time.Second

	// firstRetry and lastRetry are the shortest and the longest backoff after a failed reload.
	firstRetry = 500 * time.Millisecond
	lastRetry  = 10 * time.Second

	pruneEvery = 5 * time.Minute
)

// Run keeps keys and ended sessions up to date until ctx ends.
func (v *Verifier) Run(ctx context.Context) {
	for failures := 0; ; {
		start := time.Now()
		if err := v.Reload(ctx); err == nil {
			failures = 0
		} else if ctx.Err() == nil {
			failures++
			v.log.WarnContext(ctx, "failed to load keys and ended sessions",
				"error", err, "failures", failures)
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(pauseAfter(failures, time.Since(start))):
		}
	}
}

// pauseAfter returns the time until the next load, after a number of consecutive failures or a load
// that took some time. A long load is followed by an equally long pause, so that many ended
// sessions do not keep auth busy all the time. Half of the backoff is random, so that an auth
// service that is available again does not get the requests of all instances at the same time.
func pauseAfter(failures int, took time.Duration) time.Duration {
	if failures == 0 {
		return max(reloadEvery-rand.N(reloadJitter), took)
	}
	backoff := min(firstRetry<<min(failures-1, 10), lastRetry)
	return backoff/2 + rand.N(backoff/2)
}

// Ready returns an error until keys and all ended sessions have been loaded once.
func (v *Verifier) Ready() error {
	v.mu.RLock()
	defer v.mu.RUnlock()
	if v.keys == nil {
		return errors.New("the signing keys are not loaded yet")
	}
	if !v.complete {
		return errors.New("the ended sessions are not loaded yet")
	}
	return nil
}

// reloadIfDue loads the keys at most once a second, for any number of requests. It loads the ended
// sessions only if they were never loaded, because an unknown key does not depend on them.
func (v *Verifier) reloadIfDue(ctx context.Context) error {
	v.loading.Lock()
	defer v.loading.Unlock()
	if v.now().Sub(v.tried) < reloadAtMostEvery {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, onDemandTime)
	defer cancel()
	if err := v.loadKeys(ctx); err != nil || v.Ready() == nil {
		return err
	}
	return v.loadRevoked(ctx)
}

// Reload loads the keys, and the sessions that were ended since the last load.
func (v *Verifier) Reload(ctx context.Context) error {
	v.loading.Lock()
	defer v.loading.Unlock()
	return errors.Join(v.loadKeys(ctx), v.loadRevoked(ctx))
}

// loadKeys replaces the keys. The caller must hold the lock loading.
func (v *Verifier) loadKeys(ctx context.Context) error {
	v.tried = v.now()
	keys, err := v.trust.Keys(ctx)
	if err != nil {
		return fmt.Errorf("loading the signing keys: %w", err)
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	v.keys = keys
	return nil
}

// loadRevoked reads the pages after the cursor. After a failure the next call continues with the
// failed page. The caller must hold the lock loading.
func (v *Verifier) loadRevoked(ctx context.Context) error {
	for {
		page, err := v.trust.Revoked(ctx, v.cursor)
		if err != nil {
			// auth rejects a cursor that was sealed with another service key.
			if e := apierr.From(err); e != nil && errors.Is(e, apierr.InvalidCursor) {
				v.cursor = ""
			}
			return fmt.Errorf("loading ended sessions: %w", err)
		}
		v.cursor = page.Cursor
		v.add(page)
		if !page.More {
			return nil
		}
	}
}

// add merges a page. A page may repeat sessions.
func (v *Verifier) add(page Revoked) {
	now := v.now()
	v.mu.Lock()
	defer v.mu.Unlock()
	maps.Copy(v.revoked, page.Sessions)
	if page.More {
		return
	}
	v.complete = true
	if now.Sub(v.pruned) >= pruneEvery {
		v.pruned = now
		maps.DeleteFunc(v.revoked,
			func(_ uuid.UUID, expired uint32) bool { return int64(expired) < now.Unix() })
	}
}
