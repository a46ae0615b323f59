package auth

import (
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"
	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/coffer-budget/coffer/internal/apierr"
	"github.com/coffer-budget/coffer/internal/caller"
	"github.com/coffer-budget/coffer/internal/seal"
	authv1 "github.com/coffer-budget/coffer/proto/gen/coffer/auth/v1"
)

func kidOf(t *testing.T, token string) string {
	t.Helper()
	parsed, _, err := jwt.NewParser().ParseUnverified(token, &caller.Claims{})
	require.NoError(t, err)
	return parsed.Header["kid"].(string)
}

func (b *bundle) published(t *testing.T) []string {
	t.Helper()
	resp, err := b.GetKeySet(t.Context(), &authv1.GetKeySetRequest{})
	require.NoError(t, err)
	var kids []string
	for _, k := range resp.GetKeys() {
		require.Equal(t, []string{"OKP", "Ed25519", "sig", "EdDSA"}, []string{k.GetKty(), k.GetCrv(), k.GetUse(), k.GetAlg()})
		require.Len(t, k.GetX(), 43)
		kids = append(kids, k.GetKid())
	}
	return kids
}

func TestKeyring(t *testing.T) {
	t.Parallel()
	t.Run("publishes a key before it signs and until its tokens have expired", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		b.register(t, "ada@example.com")
		first := b.login(t, "ada@example.com").GetAccessToken()
		require.Equal(t, []string{kidOf(t, first)}, b.published(t))

		b.clock.advance(testConfig.KeyRotation - activationDelay)
		require.NoError(t, b.keys.refresh(t.Context()))
		require.Len(t, b.published(t), 2)
		last := b.login(t, "ada@example.com").GetAccessToken()
		require.Equal(t, kidOf(t, first), kidOf(t, last), "the new key must be known everywhere before it signs")

		b.clock.advance(activationDelay)
		require.NoError(t, b.keys.refresh(t.Context()))
		next := b.login(t, "ada@example.com").GetAccessToken()
		require.NotEqual(t, kidOf(t, first), kidOf(t, next))
		require.Equal(t, []string{kidOf(t, first), kidOf(t, next)}, b.published(t))
		for _, token := range []string{last, next} {
			_, err := b.verify(t, token)
			require.NoError(t, err)
		}

		b.clock.advance(testConfig.AccessTTL + retireMargin)
		require.NoError(t, b.keys.refresh(t.Context()))
		require.Len(t, b.published(t), 2)
		b.clock.advance(time.Second)
		require.NoError(t, b.keys.refresh(t.Context()))
		require.Equal(t, []string{kidOf(t, next)}, b.published(t))
	})
	t.Run("creates one key for replicas that start simultaneously", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		_, err := b.db.Exec(t.Context(), `DELETE FROM signing_keys`)
		require.NoError(t, err)
		replicas := make([]*bundle, 6)
		errs := make([]error, len(replicas))
		for i := range replicas {
			replicas[i] = b.replica(t, testConfig)
		}
		for range 2 { // the first key, and the next one
			var all sync.WaitGroup
			for i, r := range replicas {
				all.Go(func() { errs[i] = r.keys.refresh(t.Context()) })
			}
			all.Wait()
			b.clock.advance(testConfig.KeyRotation)
		}
		kids := b.published(t)
		require.Len(t, kids, 2)
		for i, r := range replicas {
			require.NoError(t, errs[i])
			k, err := r.keys.signer()
			require.NoError(t, err)
			require.Equal(t, kids[1], k.kid)
		}
	})
	t.Run("verifies the tokens of another replica", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		other := b.replica(t, testConfig)
		_, err := other.keys.signer()
		require.ErrorIs(t, err, apierr.Unavailable)
		require.ErrorIs(t, other.ready(t.Context()), apierr.Unavailable)
		require.NoError(t, other.keys.refresh(t.Context()))
		require.NoError(t, other.ready(t.Context()))
		_, l := b.member(t, "ada@example.com")
		_, err = other.verify(t, l.GetAccessToken())
		require.NoError(t, err)
	})
	t.Run("signs after a change of the service key while old tokens stay valid", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		_, old := b.member(t, "ada@example.com")
		config := testConfig
		config.ServiceKey = "another"
		renewed := b.replica(t, config)
		require.NoError(t, renewed.keys.refresh(t.Context()))
		fresh := renewed.login(t, "ada@example.com")
		require.NotEqual(t, kidOf(t, old.GetAccessToken()), kidOf(t, fresh.GetAccessToken()))
		for _, token := range []string{old.GetAccessToken(), fresh.GetAccessToken()} {
			_, err := b.verify(t, token)
			require.NoError(t, err)
		}
	})
	t.Run("encrypts the private keys in the database", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		k, err := b.keys.signer()
		require.NoError(t, err)
		stored, err := selectKeys(t.Context(), b.db)
		require.NoError(t, err)
		require.NotContains(t, string(stored[0].SealedPrivateKey), string(k.key.Seed()))
		_, err = b.keys.sealer.Open(stored[0].SealedPrivateKey, "another kid")
		require.Error(t, err, "a key must not be passed off as another one")
	})
	// Over any run of rotations: there is always a key to sign with, no key signs before verifiers had time to learn of it,
	// and none is deleted while a token of it may be live.
	t.Run("keeps a key published while a token needs it", func(t *testing.T) {
		t.Parallel()
		ring := &keyring{sealer: seal.NewKey("test", "signing key"), log: slog.New(slog.DiscardHandler), newID: uuid.New}
		rapid.Check(t, func(t *rapid.T) {
			rotation := time.Duration(rapid.IntRange(int(minKeyRotation/time.Second), 7200).Draw(t, "rotation")) * time.Second
			ttl := time.Duration(rapid.IntRange(1, 7200).Draw(t, "ttl")) * time.Second
			now := time.Unix(1_800_000_000, 0)
			var stored []signingKey
			created, lastSigned := map[string]time.Time{}, map[string]time.Time{}
			for i := range 30 {
				if from, due := nextKey(ring.open(stored), now, rotation); due {
					k, err := ring.makeKey(from)
					if err != nil {
						t.Fatal(err)
					}
					stored, created[k.KID] = append(stored, k), now
				}
				spent := strings.Join(spentKeys(stored, now, ttl), " ")
				for kid, at := range lastSigned {
					if strings.Contains(spent, kid) && now.Before(at.Add(ttl+time.Minute)) {
						t.Fatalf("key %s was deleted while a token of it was live", kid)
					}
				}
				k := signerAt(ring.open(stored), now)
				if i > 0 && now.Before(created[k.kid].Add(activationDelay)) && len(stored) > 1 {
					t.Fatalf("key %s signed before it was known", k.kid)
				}
				lastSigned[k.kid] = now
				now = now.Add(time.Duration(rapid.IntRange(1, 4000).Draw(t, "pause")) * time.Second)
			}
		})
	})
}
