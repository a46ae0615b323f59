package auth

import (
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/coffer-budget/coffer/internal/apierr"
	"github.com/coffer-budget/coffer/internal/pg"
	"github.com/coffer-budget/coffer/internal/seal"
)

const (
	// keyReload must be well below activationDelay: a replica must load a key before other replicas sign with it.
	keyReload = 15 * time.Second
	// keyRetry is the pause after a failed load.
	keyRetry = time.Second
)

// keyring holds the signing keys of this replica. All replicas share the keys in the database. The first replica that finds
// a new key due creates it.
type keyring struct {
	db *pgxpool.Pool
	// sealer encrypts private keys, so that a reader of the database cannot sign tokens.
	sealer    seal.Key
	rotation  time.Duration
	accessTTL time.Duration
	log       *slog.Logger
	now       func() time.Time
	newID     func() uuid.UUID

	// mu guards keys. refresh replaces the slice and never changes its elements.
	mu   sync.RWMutex
	keys []privateKey
}

// run reloads the keys until ctx ends. While PostgreSQL is unavailable, the last keys stay in use.
func (k *keyring) run(ctx context.Context) {
	for {
		wait := keyReload
		if err := k.refresh(ctx); err != nil && ctx.Err() == nil {
			wait = keyRetry
			k.log.WarnContext(ctx, "failed to load the signing keys", "error", err)
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(wait):
		}
	}
}

// signer returns the key that signs at present, or apierr.Unavailable before the first load.
func (k *keyring) signer() (privateKey, error) {
	k.mu.RLock()
	defer k.mu.RUnlock()
	if len(k.keys) == 0 {
		return privateKey{}, apierr.Unavailable
	}
	return signerAt(k.keys, k.now()), nil
}

// refresh loads the keys, creates one if it is due, and deletes keys whose tokens have all expired. It is usually one
// query without a lock. An error leaves the keys in memory unchanged.
func (k *keyring) refresh(ctx context.Context) error {
	stored, err := selectKeys(ctx, k.db)
	if err != nil {
		return err
	}
	// Only the replica that finds something due takes the lock.
	if k.isBehind(stored) {
		if stored, err = k.rotate(ctx); err != nil {
			return err
		}
	}
	keys := k.open(stored)
	k.mu.Lock()
	defer k.mu.Unlock()
	k.keys = keys
	return nil
}

// isBehind reports whether rotate has something to do. It needs no lock, so that a refresh is usually one query.
func (k *keyring) isBehind(stored []signingKey) bool {
	now := k.now()
	_, due := nextKey(k.open(stored), now, k.rotation)
	return due || len(spentKeys(stored, now, k.accessTTL)) > 0
}

// rotate creates and deletes keys under a lock that all replicas share. It reads the keys again, because another replica may
// have rotated them meanwhile. It returns the keys that remain.
func (k *keyring) rotate(ctx context.Context) ([]signingKey, error) {
	var stored []signingKey
	err := pg.InTx(ctx, k.db, func(tx pgx.Tx) error {
		if err := lockKeys(ctx, tx); err != nil {
			return err
		}
		var err error
		if stored, err = selectKeys(ctx, tx); err != nil {
			return err
		}
		now := k.now()
		if from, due := nextKey(k.open(stored), now, k.rotation); due {
			made, err := k.makeKey(from)
			if err != nil {
				return err
			}
			if err := insertKey(ctx, tx, made); err != nil {
				return err
			}
			k.log.InfoContext(ctx, "created a signing key", "kid", made.KID, "active_from", from)
			stored = append(stored, made)
		}
		spent := spentKeys(stored, now, k.accessTTL)
		stored = slices.DeleteFunc(stored, func(s signingKey) bool { return slices.Contains(spent, s.KID) })
		return deleteKeys(ctx, tx, spent)
	})
	return stored, err
}

// makeKey generates a key and seals its private part. The kid is authenticated, so a sealed key cannot be moved to another
// row.
func (k *keyring) makeKey(activeFrom time.Time) (signingKey, error) {
	public, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		return signingKey{}, fmt.Errorf("generating a signing key: %w", err)
	}
	kid := k.newID().String()
	sealed, err := k.sealer.Seal(private.Seed(), kid)
	if err != nil {
		return signingKey{}, fmt.Errorf("sealing a signing key: %w", err)
	}
	return signingKey{KID: kid, PublicKey: public, SealedPrivateKey: sealed, ActiveFrom: activeFrom}, nil
}

// open decrypts the private keys. It omits keys that were sealed with another service key. Those stay published until the
// tokens that they signed have expired, and a new key signs from then on.
func (k *keyring) open(stored []signingKey) []privateKey {
	var keys []privateKey
	for _, s := range stored {
		if seed, err := k.sealer.Open(s.SealedPrivateKey, s.KID); err == nil {
			keys = append(keys, privateKey{kid: s.KID, activeFrom: s.ActiveFrom, key: ed25519.NewKeyFromSeed(seed)})
		}
	}
	return keys
}
