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
	// keyReload must be well below activationDelay: a replica has to know a key before another one's tokens bear it.
	keyReload = 15 * time.Second
	keyRetry  = time.Second
)

// keyring holds the signing keys of this replica. All replicas share those in the database; whichever notices first that
// one is due makes it.
type keyring struct {
	db *pgxpool.Pool
	// sealer keeps private keys from whoever reads the database.
	sealer    seal.Key
	rotation  time.Duration
	accessTTL time.Duration
	log       *slog.Logger
	now       func() time.Time
	newID     func() uuid.UUID

	mu   sync.RWMutex
	keys []privateKey
}

// run keeps the keys fresh until ctx ends. While Postgres is away the last ones stay in use.
func (k *keyring) run(ctx context.Context) {
	for {
		wait := keyReload
		if err := k.refresh(ctx); err != nil && ctx.Err() == nil {
			wait = keyRetry
			k.log.WarnContext(ctx, "loading the signing keys", "error", err)
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(wait):
		}
	}
}

// signer is the key to sign with now; apierr.Unavailable before the first one was loaded.
func (k *keyring) signer() (privateKey, error) {
	k.mu.RLock()
	defer k.mu.RUnlock()
	if len(k.keys) == 0 {
		return privateKey{}, apierr.Unavailable
	}
	return signerAt(k.keys, k.now()), nil
}

// refresh loads the keys, makes one when it is due, and deletes those that no token needs.
func (k *keyring) refresh(ctx context.Context) error {
	stored, err := selectKeys(ctx, k.db)
	if err != nil {
		return err
	}
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

func (k *keyring) isBehind(stored []signingKey) bool {
	now := k.now()
	_, due := nextKey(k.open(stored), now, k.rotation)
	return due || len(spentKeys(stored, now, k.accessTTL)) > 0
}

// rotate looks again under a lock, since another replica may have done it.
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
			k.log.InfoContext(ctx, "made a signing key", "kid", made.KID, "active_from", from)
			stored = append(stored, made)
		}
		spent := spentKeys(stored, now, k.accessTTL)
		stored = slices.DeleteFunc(stored, func(s signingKey) bool { return slices.Contains(spent, s.KID) })
		return deleteKeys(ctx, tx, spent)
	})
	return stored, err
}

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

// open leaves out keys that were sealed with another service key: they stay published for the tokens that bear them, and
// this installation signs with one of its own.
func (k *keyring) open(stored []signingKey) []privateKey {
	var keys []privateKey
	for _, s := range stored {
		if seed, err := k.sealer.Open(s.SealedPrivateKey, s.KID); err == nil {
			keys = append(keys, privateKey{kid: s.KID, activeFrom: s.ActiveFrom, key: ed25519.NewKeyFromSeed(seed)})
		}
	}
	return keys
}
