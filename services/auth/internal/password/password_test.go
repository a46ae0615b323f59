package password

import (
	"context"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/coffer-budget/coffer/internal/apierr"
)

const goodPassword = "horse staple 7"

func TestCheckNew(t *testing.T) {
	t.Parallel()
	t.Run("rejects passwords that are short or easy to guess", func(t *testing.T) {
		t.Parallel()
		for _, good := range []string{
			"horse staple 7", "aaaabbbb", "пароль на ужин", strings.Repeat("ü", 128), "        ",
			"ada lovelace", "example.com",
		} {
			require.Nil(t, CheckNew("password", good, "ada.lovelace@example.com"), "%q", good)
		}
		for _, bad := range []string{
			"", "1234567", "üüüüüüü", strings.Repeat("a", 129), "password", "PASSWORD", "Qwerty123",
			"12345678", "ｐａｓｓｗｏｒｄ", "ada.lovelace@example.com", "Ada.Lovelace@Example.com",
			"ADA.LOVELACE", "with\x00nul", "not utf-8 \xff",
		} {
			problem := CheckNew("password", bad, "ada.lovelace@example.com")
			require.NotNil(t, problem, "%q", bad)
			require.Equal(t, "password", problem.Name)
		}
	})
	t.Run("has a list of passwords that the other rules allow", func(t *testing.T) {
		t.Parallel()
		require.Greater(t, len(wellKnown()), 1000)
		for p := range wellKnown() {
			require.Equal(t, strings.ToLower(p), p)
			require.GreaterOrEqual(t, utf8.RuneCountInString(p), minLength, p)
		}
	})
}

func TestHash(t *testing.T) {
	t.Parallel()
	phc, err := hash(goodPassword)
	require.NoError(t, err)
	require.Regexp(t, `^\$argon2id\$v=19\$m=19456,t=2,p=1\$[A-Za-z0-9+/]{22}\$[A-Za-z0-9+/]{43}$`,
		phc)
	again, err := hash(goodPassword)
	require.NoError(t, err)
	require.NotEqual(t, phc, again, "each has a salt of its own")
	for password, want := range map[string]bool{
		goodPassword: true, "Horse staple 7": false, goodPassword + " ": false, "": false,
		goodPassword[1:]: false,
	} {
		ok, err := Verify(phc, password)
		require.NoError(t, err)
		require.Equal(t, want, ok, "%q", password)
	}
}

func TestVerify(t *testing.T) {
	t.Parallel()
	t.Run("accepts the password from every keyboard", func(t *testing.T) {
		t.Parallel()
		phc, err := hash("Zo\u00eb am Caf\u00e9")
		require.NoError(t, err)
		ok, err := Verify(phc, "Zoe\u0308 am Cafe\u0301")
		require.NoError(t, err)
		require.True(t, ok)
	})
	t.Run("accepts a hash with other parameters", func(t *testing.T) {
		t.Parallel()
		// From the argon2 reference implementation's test vectors.
		const phc = "$argon2id$v=19$m=64,t=1,p=1$c29tZXNhbHQ$ZVrRXqxlLcWfcXCnMyv0m4Rpvh/bnCi7"
		for password, want := range map[string]bool{"password": true, "passwore": false} {
			ok, err := Verify(phc, password)
			require.NoError(t, err)
			require.Equal(t, want, ok)
		}
	})
	t.Run("returns an error for a malformed hash", func(t *testing.T) {
		t.Parallel()
		for _, bad := range []string{
			"", "plain", "$argon2i$v=19$m=64,t=1,p=1$c29tZXNhbHQ$c29tZXNhbHQ",
			"$argon2id$v=16$m=64,t=1,p=1$c29tZXNhbHQ$c29tZXNhbHQ",
			"$argon2id$v=19$m=64,t=0,p=1$c29tZXNhbHQ$c29tZXNhbHQ",
			"$argon2id$v=19$m=64,t=1,p=0$c29tZXNhbHQ$c29tZXNhbHQ",
			"$argon2id$v=19$m=64$c29tZXNhbHQ$c29tZXNhbHQ",
			"$argon2id$v=19$m=64,t=1,p=1$!$c29tZXNhbHQ", "$argon2id$v=19$m=64,t=1,p=1$c29tZXNhbHQ$",
			"$argon2id$v=19$m=64,t=1,p=1$c29tZXNhbHQ$c29tZXNhbHQ$more",
		} {
			ok, err := Verify(bad, "")
			require.Error(t, err, "%q", bad)
			require.False(t, ok)
		}
	})
}

func TestHasherRun(t *testing.T) {
	t.Parallel()
	t.Run("rejects the first request beyond the queue at once", func(t *testing.T) {
		t.Parallel()
		// In the bubble a request that waits instead is reported as a deadlock.
		synctest.Test(t, func(t *testing.T) {
			hasher, err := NewHasher()
			require.NoError(t, err)
			for range cap(hasher.slots) {
				hasher.slots <- struct{}{}
			}
			var queued sync.WaitGroup
			for range waitingPerSlot * cap(hasher.slots) {
				queued.Go(func() { _ = hasher.Run(t.Context(), func() error { return nil }) })
			}
			synctest.Wait()
			require.Len(t, hasher.waiting, waitingPerSlot*cap(hasher.slots))
			err = hasher.Run(t.Context(), func() error { return nil })
			require.ErrorIs(t, err, apierr.Unavailable)
			require.Positive(t, apierr.From(err).RetryAfter)
			for range cap(hasher.slots) {
				<-hasher.slots
			}
			queued.Wait()
			require.NoError(t, hasher.Run(t.Context(), func() error { return nil }))
		})
	})
	t.Run("leaves a processor to other requests", func(t *testing.T) {
		t.Parallel()
		hasher, err := NewHasher()
		require.NoError(t, err)
		var running, most atomic.Int32
		var all sync.WaitGroup
		for range 64 {
			all.Go(func() {
				_ = hasher.Run(t.Context(), func() error {
					n := running.Add(1)
					old := most.Load()
					for n > old && !most.CompareAndSwap(old, n) {
						old = most.Load()
					}
					runtime.Gosched()
					running.Add(-1)
					return nil
				})
			})
		}
		all.Wait()
		require.LessOrEqual(t, int(most.Load()), max(1, runtime.GOMAXPROCS(0)-1))
		require.Empty(t, hasher.waiting)
		require.Empty(t, hasher.slots)
	})
	t.Run("stops waiting when the request ends", func(t *testing.T) {
		t.Parallel()
		hasher, err := NewHasher()
		require.NoError(t, err)
		for range cap(hasher.slots) {
			hasher.slots <- struct{}{}
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		err = hasher.Run(ctx, func() error { t.Error("its turn never came"); return nil })
		require.ErrorIs(t, err, context.Canceled)
		require.Empty(t, hasher.waiting)
	})
}
