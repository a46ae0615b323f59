package auth

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
	"google.golang.org/grpc/codes"
	"pgregory.net/rapid"
)

func TestCheckNewPassword(t *testing.T) {
	t.Parallel()
	t.Run("rejects passwords that are short or easy to guess", func(t *testing.T) {
		t.Parallel()
		for _, good := range []string{
			"horse staple 7", "aaaabbbb", "пароль на ужин", strings.Repeat("ü", 128), "        ", "ada lovelace", "example.com",
		} {
			require.Nil(t, checkNewPassword("password", good, "ada.lovelace@example.com"), "%q", good)
		}
		for _, bad := range []string{
			"", "1234567", "üüüüüüü", strings.Repeat("a", 129), "password", "PASSWORD", "Qwerty123", "12345678", "ｐａｓｓｗｏｒｄ",
			"ada.lovelace@example.com", "Ada.Lovelace@Example.com", "ADA.LOVELACE", "with\x00nul", "not utf-8 \xff",
		} {
			problem := checkNewPassword("password", bad, "ada.lovelace@example.com")
			require.NotNil(t, problem, "%q", bad)
			require.Equal(t, "password", problem.Name)
		}
	})
	t.Run("has a list of passwords that the other rules allow", func(t *testing.T) {
		t.Parallel()
		require.Greater(t, len(wellKnown()), 1000)
		for p := range wellKnown() {
			require.Equal(t, strings.ToLower(p), p)
			require.GreaterOrEqual(t, utf8.RuneCountInString(p), minPassword, p)
		}
	})
}

func TestHashPassword(t *testing.T) {
	t.Parallel()
	hash, err := hashPassword(goodPassword)
	require.NoError(t, err)
	require.Regexp(t, `^\$argon2id\$v=19\$m=19456,t=2,p=1\$[A-Za-z0-9+/]{22}\$[A-Za-z0-9+/]{43}$`, hash)
	again, err := hashPassword(goodPassword)
	require.NoError(t, err)
	require.NotEqual(t, hash, again, "each has a salt of its own")
	for password, want := range map[string]bool{
		goodPassword: true, "Horse staple 7": false, goodPassword + " ": false, "": false, goodPassword[1:]: false,
	} {
		ok, err := verifyPassword(hash, password)
		require.NoError(t, err)
		require.Equal(t, want, ok, "%q", password)
	}
}

func TestVerifyPassword(t *testing.T) {
	t.Parallel()
	t.Run("accepts the password from every keyboard", func(t *testing.T) {
		t.Parallel()
		hash, err := hashPassword("Zo\u00eb am Caf\u00e9")
		require.NoError(t, err)
		ok, err := verifyPassword(hash, "Zoe\u0308 am Cafe\u0301")
		require.NoError(t, err)
		require.True(t, ok)
	})
	t.Run("accepts a hash with other parameters", func(t *testing.T) {
		t.Parallel()
		// From the argon2 reference implementation's test vectors.
		const hash = "$argon2id$v=19$m=64,t=1,p=1$c29tZXNhbHQ$ZVrRXqxlLcWfcXCnMyv0m4Rpvh/bnCi7"
		for password, want := range map[string]bool{"password": true, "passwore": false} {
			ok, err := verifyPassword(hash, password)
			require.NoError(t, err)
			require.Equal(t, want, ok)
		}
	})
	t.Run("returns an error for a malformed hash", func(t *testing.T) {
		t.Parallel()
		for _, bad := range []string{
			"", "plain", "$argon2i$v=19$m=64,t=1,p=1$c29tZXNhbHQ$c29tZXNhbHQ", "$argon2id$v=16$m=64,t=1,p=1$c29tZXNhbHQ$c29tZXNhbHQ",
			"$argon2id$v=19$m=64,t=0,p=1$c29tZXNhbHQ$c29tZXNhbHQ", "$argon2id$v=19$m=64,t=1,p=0$c29tZXNhbHQ$c29tZXNhbHQ",
			"$argon2id$v=19$m=64$c29tZXNhbHQ$c29tZXNhbHQ", "$argon2id$v=19$m=64,t=1,p=1$!$c29tZXNhbHQ", "$argon2id$v=19$m=64,t=1,p=1$c29tZXNhbHQ$",
			"$argon2id$v=19$m=64,t=1,p=1$c29tZXNhbHQ$c29tZXNhbHQ$more",
		} {
			ok, err := verifyPassword(bad, "")
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
			h, err := newHasher()
			require.NoError(t, err)
			for range cap(h.slots) {
				h.slots <- struct{}{}
			}
			var queued sync.WaitGroup
			for range waitingPerSlot * cap(h.slots) {
				queued.Go(func() { _ = h.run(t.Context(), func() error { return nil }) })
			}
			synctest.Wait()
			require.Len(t, h.waiting, waitingPerSlot*cap(h.slots))
			e := requireReason(t, codes.Unavailable, "SERVICE_UNAVAILABLE", h.run(t.Context(), func() error { return nil }))
			require.Positive(t, e.RetryAfter)
			for range cap(h.slots) {
				<-h.slots
			}
			queued.Wait()
			require.NoError(t, h.run(t.Context(), func() error { return nil }))
		})
	})
	t.Run("leaves a processor to other requests", func(t *testing.T) {
		t.Parallel()
		h, err := newHasher()
		require.NoError(t, err)
		var running, most atomic.Int32
		var all sync.WaitGroup
		for range 64 {
			all.Go(func() {
				_ = h.run(t.Context(), func() error {
					n := running.Add(1)
					for old := most.Load(); n > old && !most.CompareAndSwap(old, n); old = most.Load() {
					}
					runtime.Gosched()
					running.Add(-1)
					return nil
				})
			})
		}
		all.Wait()
		require.LessOrEqual(t, int(most.Load()), max(1, runtime.GOMAXPROCS(0)-1))
		require.Empty(t, h.waiting)
		require.Empty(t, h.slots)
	})
	t.Run("stops waiting when the request ends", func(t *testing.T) {
		t.Parallel()
		h, err := newHasher()
		require.NoError(t, err)
		for range cap(h.slots) {
			h.slots <- struct{}{}
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		err = h.run(ctx, func() error { t.Error("its turn never came"); return nil })
		require.ErrorIs(t, err, context.Canceled)
		require.Empty(t, h.waiting)
	})
}

func TestParseEmail(t *testing.T) {
	t.Parallel()
	t.Run("normalizes addresses and rejects others", func(t *testing.T) {
		t.Parallel()
		for given, want := range map[string]string{
			"ada@example.com":                        "ada@example.com",
			" Ada.Love+Lace@EXAMPLE.Com ":            "ada.love+lace@example.com",
			"o'brien@mail.example.co.uk":             "o'brien@mail.example.co.uk",
			"a@b.c":                                  "a@b.c",
			"1@1.22":                                 "1@1.22",
			"jürgen@bücher.example":                  "jürgen@bücher.example",
			"ju\u0308rgen@bu\u0308cher.example":      "jürgen@bücher.example",
			"a@xn--bcher-kva.example":                "a@xn--bcher-kva.example",
			strings.Repeat("a", 64) + "@example.com": strings.Repeat("a", 64) + "@example.com",
		} {
			got, problem := parseEmail(given)
			require.Nil(t, problem, "%q", given)
			require.Equal(t, want, got)
		}
		for _, bad := range []string{
			"", " ", "ada", "@", "ada@", "@example.com", "ada@localhost", "ada@example.", "ada@.com", "ada@ex..ample.com", "ada @example.com",
			"Ada <ada@example.com>", "<ada@example.com>", "ada@example.com, b@example.com", "ada@example.com (Ada)", `"a b"@example.com`,
			"ada@[127.0.0.1]", "ada@ex_ample.com", "ada@-example.com", "ada@example-.com", "a\x00da@example.com", "ada@exa\nmple.com", "ada@@example.com",
			"ada\u200b@example.com", "a\u00adda@example.com", "ada@exa\ufe0fmple.com", "\u202eada@example.com",
			".ada@example.com", "ada.@example.com", "a..da@example.com", strings.Repeat("a", 65) + "@example.com", "a@" + strings.Repeat("b", 64) + ".com",
			"a@" + strings.Repeat("bcd.", 64) + "com", "ada@example.com\r\nBcc: x@example.com", "ada@\xff.com",
		} {
			_, problem := parseEmail(bad)
			require.NotNil(t, problem, "%q", bad)
			require.Equal(t, "email", problem.Name)
		}
	})
	t.Run("returns a normalized address unchanged", func(t *testing.T) {
		t.Parallel()
		rapid.Check(t, func(t *rapid.T) {
			local := rapid.StringMatching("[A-Za-z0-9.!#$%&'*+/=?^_{|}~\u0308\u030a\u0130\u03a3ÅüΣé-]{1,20}").Draw(t, "local part")
			given := rapid.SampledFrom([]string{"", " ", "\u00a0"}).Draw(t, "space") + local + "@" + rapid.StringMatching("[A-Za-z0-9.\u0308uÅ\u212b-]{1,20}").Draw(t, "domain")
			tidy, problem := parseEmail(given)
			if problem != nil {
				return
			}
			again, problem := parseEmail(tidy)
			if problem != nil || again != tidy {
				t.Fatalf("%q became %q, which became %q", given, tidy, again)
			}
		})
	})
}

func FuzzEmail(f *testing.F) {
	f.Add("ada@example.com")
	f.Add(`"a b"@[::1]`)
	f.Add("a@b.c\x00")
	f.Fuzz(func(t *testing.T, given string) {
		email, problem := parseEmail(given)
		if problem != nil {
			return
		}
		require.LessOrEqual(t, len(email), maxEmail)
		require.True(t, utf8.ValidString(email))
		require.NotContains(t, email, "\x00")
		require.NotContains(t, email, " ")
		require.Equal(t, 1, strings.Count(email, "@"))
	})
}
