package caller

import (
	"errors"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/coffer-budget/coffer/internal/apierr"
	authv1 "github.com/coffer-budget/coffer/proto/gen/coffer/auth/v1"
)

func seconds(t time.Time) uint32 { return uint32(t.Unix()) }

func TestVerifierReload(t *testing.T) {
	t.Parallel()
	// ended returns a page with one session whose tokens expire in an hour.
	ended := func(c Claims, cursor string, more bool) Revoked {
		sessions := map[uuid.UUID]uint32{c.SessionID: seconds(now.Add(time.Hour))}
		return Revoked{Sessions: sessions, Cursor: cursor, More: more}
	}
	t.Run("reads every page, then continues after the last", func(t *testing.T) {
		t.Parallel()
		signer, verifier := newSigner(t)
		first, second, third, live := claims(), claims(), claims(), claims()
		signer.pages = map[string]Revoked{
			"": ended(first, "1", true), "1": ended(second, "2", false),
		}
		require.NoError(t, verifier.Reload(t.Context()))
		_, err := verifier.Verify(t.Context(), signer.sign(t, third))
		require.NoError(t, err)
		signer.pages["2"] = ended(third, "3", false)
		require.NoError(t, verifier.Reload(t.Context()))
		require.Equal(t, []string{"", "1", "2"}, signer.asked)
		for _, c := range []Claims{first, second, third} {
			_, err = verifier.Verify(t.Context(), signer.sign(t, c))
			require.ErrorIs(t, err, apierr.Unauthorized)
		}
		_, err = verifier.Verify(t.Context(), signer.sign(t, live))
		require.NoError(t, err)
	})
	t.Run("accepts no token before the last page, and repeats a failed page", func(t *testing.T) {
		t.Parallel()
		signer, verifier := newSigner(t)
		signed := claims()
		signer.pages = map[string]Revoked{
			"": ended(claims(), "1", true), "1": ended(claims(), "2", false),
		}
		signer.failing = map[string]error{"1": errors.New("connection refused")}
		require.Error(t, verifier.Reload(t.Context()))
		require.Error(t, verifier.Ready())
		_, err := verifier.Verify(t.Context(), signer.sign(t, signed))
		require.ErrorIs(t, err, apierr.Unavailable)
		signer.failing = nil
		require.NoError(t, verifier.Reload(t.Context()))
		require.NoError(t, verifier.Ready())
		require.Equal(t, []string{"", "1", "1"}, signer.asked)
		_, err = verifier.Verify(t.Context(), signer.sign(t, signed))
		require.NoError(t, err)
	})
	t.Run("starts again after a cursor of another service key", func(t *testing.T) {
		t.Parallel()
		signer, verifier := newSigner(t)
		c := claims()
		signer.pages = map[string]Revoked{"": {Cursor: "1"}}
		require.NoError(t, verifier.Reload(t.Context()))
		signer.failing = map[string]error{"1": apierr.InvalidCursor}
		signer.pages[""] = ended(c, "2", false)
		require.Error(t, verifier.Reload(t.Context()))
		require.NoError(t, verifier.Reload(t.Context()))
		_, err := verifier.Verify(t.Context(), signer.sign(t, c))
		require.ErrorIs(t, err, apierr.Unauthorized)
	})
	t.Run("removes sessions whose tokens have expired", func(t *testing.T) {
		t.Parallel()
		s, v := newSigner(t)
		s.pages = map[string]Revoked{"": ended(claims(), "1", false)}
		require.NoError(t, v.Reload(t.Context()))
		s.clock = now.Add(time.Hour)
		require.NoError(t, v.Reload(t.Context()))
		require.Len(t, v.revoked, 1)
		s.clock = now.Add(time.Hour + pruneEvery)
		require.NoError(t, v.Reload(t.Context()))
		require.Empty(t, v.revoked)
	})
	t.Run("loads no ended sessions for an unknown key", func(t *testing.T) {
		t.Parallel()
		s, v := newSigner(t)
		require.NoError(t, v.Reload(t.Context()))
		s.clock = now.Add(reloadAtMostEvery)
		s.kid = "k2"
		_, err := v.Verify(t.Context(), s.sign(t, claims()))
		require.ErrorIs(t, err, apierr.Unauthorized)
		require.Equal(t, 2, s.loads)
		require.Equal(t, []string{""}, s.asked)
	})
}

func TestPauseAfter(t *testing.T) {
	t.Parallel()
	seen := map[time.Duration]bool{}
	for range 100 {
		pause := pauseAfter(0, time.Millisecond)
		seen[pause] = true
		require.GreaterOrEqual(t, pause, reloadEvery-reloadJitter)
		require.LessOrEqual(t, pause, reloadEvery)
		for failures, most := range map[int]time.Duration{
			1: firstRetry, 2: 2 * firstRetry, 5: 16 * firstRetry, 6: lastRetry, 1 << 40: lastRetry,
		} {
			pause = pauseAfter(failures, time.Minute)
			require.GreaterOrEqual(t, pause, most/2, failures)
			require.Less(t, pause, most, failures)
		}
	}
	require.Greater(t, len(seen), 50, "the pause has jitter")
	require.LessOrEqual(t, reloadEvery, 5*time.Second,
		"the other devices of a user notice the end of their sessions within seconds")
	require.Equal(t, time.Minute, pauseAfter(0, time.Minute),
		"a long load is followed by an equally long pause")
}

func TestParseRevoked(t *testing.T) {
	t.Parallel()
	one, two := uuid.Must(uuid.NewV7()), uuid.Must(uuid.NewV7())
	t.Run("reads a page", func(t *testing.T) {
		t.Parallel()
		got, err := parseRevoked(&authv1.ListRevokedSessionsResponse{
			Sessions: append(one[:], two[:]...), ExpireAt: []uint32{7, 8}, NextCursor: "c",
			HasMore: true,
		}, now)
		require.NoError(t, err)
		require.Equal(t,
			Revoked{Sessions: map[uuid.UUID]uint32{one: 7, two: 8}, Cursor: "c", More: true}, got)
	})
	t.Run("reads the response of an earlier release", func(t *testing.T) {
		t.Parallel()
		got, err := parseRevoked(&authv1.ListRevokedSessionsResponse{
			SessionIds: []string{one.String(), two.String()},
		}, now)
		require.NoError(t, err)
		until := seconds(now.Add(unpagedTime))
		require.Equal(t, Revoked{Sessions: map[uuid.UUID]uint32{one: until, two: until}}, got)
	})
	t.Run("rejects malformed pages", func(t *testing.T) {
		t.Parallel()
		for _, bad := range []*authv1.ListRevokedSessionsResponse{
			{Sessions: one[:]},
			{ExpireAt: []uint32{1}},
			{Sessions: one[:15], ExpireAt: []uint32{1}},
			{SessionIds: []string{"x"}},
		} {
			_, err := parseRevoked(bad, now)
			require.Error(t, err)
		}
	})
}
