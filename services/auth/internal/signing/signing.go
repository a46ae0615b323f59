// Package signing owns the keys that sign access tokens.
//
// All replicas share the keys in the database, where the private parts are encrypted. A new key is
// published before it signs, and stays published until its last token has expired, so that every
// service can verify every valid token. rotation.go has the life cycle of a key as pure functions.
package signing

import (
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"encoding/base64"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/coffer-budget/coffer/internal/apierr"
	"github.com/coffer-budget/coffer/internal/caller"
	"github.com/coffer-budget/coffer/internal/pg"
	"github.com/coffer-budget/coffer/internal/seal"
	authv1 "github.com/coffer-budget/coffer/proto/gen/coffer/auth/v1"
)

const (
	// keyReload must be well below activationDelay: a replica must load a key before other replicas
	// sign with it.
	keyReload = 15 * time.Second
	keyRetry  = time.Second
)

// Config is what a Ring needs of its service.
type Config struct {
	DB *pgxpool.Pool
	// ServiceKey derives the key that encrypts private keys.
	ServiceKey string
	// Rotation is the time for which a key signs, at least MinRotation. AccessTTL is the lifetime
	// of an access token.
	Rotation, AccessTTL time.Duration
	Log                 *slog.Logger
	Now                 func() time.Time
	NewID               func() uuid.UUID
}

// Ring holds the signing keys of this replica. All replicas share the keys in the database. The
// first replica that finds a new key due creates it.
type Ring struct {
	Config
	// sealer encrypts private keys, so that a reader of the database cannot sign tokens.
	sealer seal.Key

	// mu guards keys. Refresh replaces the slice and never changes its elements.
	mu   sync.RWMutex
	keys []privateKey
}

// New returns a Ring without keys: Refresh or Run loads them.
func New(config Config) *Ring {
	return &Ring{Config: config, sealer: seal.NewKey(config.ServiceKey, "signing key")}
}

// Run reloads the keys until ctx ends. While PostgreSQL is unavailable, the last keys stay in use.
func (k *Ring) Run(ctx context.Context) {
	for {
		wait := keyReload
		if err := k.Refresh(ctx); err != nil && ctx.Err() == nil {
			wait = keyRetry
			k.Log.WarnContext(ctx, "failed to load the signing keys", "error", err)
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(wait):
		}
	}
}

// signer returns the key that signs at present, or apierr.Unavailable before the first load.
func (k *Ring) signer() (privateKey, error) {
	k.mu.RLock()
	defer k.mu.RUnlock()
	if len(k.keys) == 0 {
		return privateKey{}, apierr.Unavailable
	}
	return signerAt(k.keys, k.Now()), nil
}

// Sign returns an access token of a session, valid from now for AccessTTL. It returns
// apierr.Unavailable before the first load.
func (k *Ring) Sign(id caller.Identity, now time.Time) (string, error) {
	return k.SignFor(id, now, k.AccessTTL)
}

// SignFor returns an access token that is valid from now for a time, at most AccessTTL: the key is
// published, and the end of the session known, no longer than that.
func (k *Ring) SignFor(
	id caller.Identity, now time.Time, life time.Duration,
) (string, error) {
	signer, err := k.signer()
	if err != nil {
		return "", err
	}
	return sign(signer, id, k.NewID(), now, life)
}

// Ready returns apierr.Unavailable before the first load.
func (k *Ring) Ready() error {
	_, err := k.signer()
	return err
}

// Refresh loads the keys, creates one if it is due, and deletes keys whose tokens have all expired.
// An error leaves the keys in memory unchanged.
func (k *Ring) Refresh(ctx context.Context) error {
	stored, err := Select(ctx, k.DB)
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

func (k *Ring) isBehind(stored []Key) bool {
	now := k.Now()
	_, due := nextKey(k.open(stored), now, k.Rotation)
	return due || len(spentKeys(stored, now, k.AccessTTL)) > 0
}

// rotate creates and deletes keys under a lock that all replicas share. It reads the keys again,
// because another replica may have rotated them meanwhile. It returns the keys that remain.
func (k *Ring) rotate(ctx context.Context) ([]Key, error) {
	var stored []Key
	err := pg.InTx(ctx, k.DB, func(tx pgx.Tx) error {
		if err := lock(ctx, tx); err != nil {
			return err
		}
		var err error
		if stored, err = Select(ctx, tx); err != nil {
			return err
		}
		now := k.Now()
		if from, due := nextKey(k.open(stored), now, k.Rotation); due {
			made, err := k.makeKey(from)
			if err != nil {
				return err
			}
			if err := insert(ctx, tx, made); err != nil {
				return err
			}
			k.Log.InfoContext(ctx, "created a signing key", "kid", made.KID, "active_from", from)
			stored = append(stored, made)
		}
		spent := spentKeys(stored, now, k.AccessTTL)
		stored = slices.DeleteFunc(stored,
			func(s Key) bool { return slices.Contains(spent, s.KID) })
		return remove(ctx, tx, spent)
	})
	return stored, err
}

// makeKey generates a key and seals its private part. The kid is authenticated, so a sealed key
// cannot be moved to another row.
func (k *Ring) makeKey(activeFrom time.Time) (Key, error) {
	public, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		return Key{}, fmt.Errorf("generating a signing key: %w", err)
	}
	kid := k.NewID().String()
	sealed, err := k.sealer.Seal(private.Seed(), kid)
	if err != nil {
		return Key{}, fmt.Errorf("sealing a signing key: %w", err)
	}
	return Key{KID: kid, PublicKey: public, SealedPrivateKey: sealed, ActiveFrom: activeFrom}, nil
}

// open decrypts the private keys. It omits keys that were sealed with another service key. Those
// stay published until the tokens that they signed have expired, and a new key signs from then on.
func (k *Ring) open(stored []Key) []privateKey {
	var keys []privateKey
	for _, s := range stored {
		if seed, err := k.sealer.Open(s.SealedPrivateKey, s.KID); err == nil {
			keys = append(keys,
				privateKey{kid: s.KID, activeFrom: s.ActiveFrom, key: ed25519.NewKeyFromSeed(seed)})
		}
	}
	return keys
}

// Proto returns the public key as a JSON Web Key.
func (k Key) Proto() *authv1.Key {
	return &authv1.Key{
		Kty: "OKP",
		Crv: "Ed25519",
		X:   base64.RawURLEncoding.EncodeToString(k.PublicKey),
		Kid: k.KID,
		Use: "sig",
		Alg: "EdDSA",
	}
}
