package auth

import (
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"
	"github.com/stretchr/testify/require"

	"github.com/coffer-budget/coffer/internal/apierr"
	"github.com/coffer-budget/coffer/internal/caller"
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
		require.Equal(t, []string{"OKP", "Ed25519", "sig", "EdDSA"},
			[]string{k.GetKty(), k.GetCrv(), k.GetUse(), k.GetAlg()})
		require.Len(t, k.GetX(), 43)
		kids = append(kids, k.GetKid())
	}
	return kids
}

func TestKeyring(t *testing.T) {
	t.Parallel()
	t.Run("publishes a key before it signs and until its tokens have expired", func(t *testing.T) {
		t.Parallel()
		env := setup(t)
		env.register(t, "ada@example.com")
		first := env.login(t, "ada@example.com").GetAccessToken()
		require.Equal(t, []string{kidOf(t, first)}, env.published(t))

		// Every service knows a key a minute after it was published.
		const delay = time.Minute
		env.clock.advance(testConfig.KeyRotation - delay)
		require.NoError(t, env.keys.Refresh(t.Context()))
		require.Len(t, env.published(t), 2)
		last := env.login(t, "ada@example.com").GetAccessToken()
		require.Equal(t, kidOf(t, first), kidOf(t, last),
			"the new key must be known everywhere before it signs")

		env.clock.advance(delay)
		require.NoError(t, env.keys.Refresh(t.Context()))
		next := env.login(t, "ada@example.com").GetAccessToken()
		require.NotEqual(t, kidOf(t, first), kidOf(t, next))
		require.Equal(t, []string{kidOf(t, first), kidOf(t, next)}, env.published(t))
		for _, token := range []string{last, next} {
			_, err := env.verify(t, token)
			require.NoError(t, err)
		}

		// The clocks and verifiers of other services may be minutes late.
		env.clock.advance(testConfig.AccessTTL + 5*time.Minute)
		require.NoError(t, env.keys.Refresh(t.Context()))
		require.Len(t, env.published(t), 2)
		env.clock.advance(time.Second)
		require.NoError(t, env.keys.Refresh(t.Context()))
		require.Equal(t, []string{kidOf(t, next)}, env.published(t))
	})
	t.Run("verifies the tokens of another replica", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		other := b.replica(t, testConfig)
		require.ErrorIs(t, other.ready(t.Context()), apierr.Unavailable)
		require.NoError(t, other.keys.Refresh(t.Context()))
		require.NoError(t, other.ready(t.Context()))
		_, l := b.member(t, "ada@example.com")
		_, err := other.verify(t, l.GetAccessToken())
		require.NoError(t, err)
	})
	t.Run("signs after a change of the service key, and old tokens stay valid", func(t *testing.T) {
		t.Parallel()
		env := setup(t)
		_, old := env.member(t, "ada@example.com")
		config := testConfig
		config.ServiceKey = "another"
		renewed := env.replica(t, config)
		require.NoError(t, renewed.keys.Refresh(t.Context()))
		fresh := renewed.login(t, "ada@example.com")
		require.NotEqual(t, kidOf(t, old.GetAccessToken()), kidOf(t, fresh.GetAccessToken()))
		for _, token := range []string{old.GetAccessToken(), fresh.GetAccessToken()} {
			_, err := env.verify(t, token)
			require.NoError(t, err)
		}
	})
}
