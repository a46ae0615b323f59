package email

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

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
			got, problem := Parse(given)
			require.Nil(t, problem, "%q", given)
			require.Equal(t, want, got)
		}
		for _, bad := range []string{
			"", " ", "ada", "@", "ada@", "@example.com", "ada@localhost", "ada@example.",
			"ada@.com", "ada@ex..ample.com", "ada @example.com", "Ada <ada@example.com>",
			"<ada@example.com>", "ada@example.com, b@example.com",
			"ada@example.com (Ada)", `"a b"@example.com`,
			"ada@[127.0.0.1]", "ada@ex_ample.com", "ada@-example.com", "ada@example-.com",
			"a\x00da@example.com", "ada@exa\nmple.com", "ada@@example.com", "ada\u200b@example.com",
			"a\u00adda@example.com", "ada@exa\ufe0fmple.com", "\u202eada@example.com",
			".ada@example.com", "ada.@example.com", "a..da@example.com",
			strings.Repeat("a", 65) + "@example.com", "a@" + strings.Repeat("b", 64) + ".com",
			"a@" + strings.Repeat("bcd.", 64) + "com", "ada@example.com\r\nBcc: x@example.com",
			"ada@\xff.com",
		} {
			_, problem := Parse(bad)
			require.NotNil(t, problem, "%q", bad)
			require.Equal(t, "email", problem.Name)
		}
	})
	t.Run("returns a normalized address unchanged", func(t *testing.T) {
		t.Parallel()
		rapid.Check(t, func(t *rapid.T) {
			const characters = "[A-Za-z0-9.!#$%&'*+/=?^_{|}~\u0308\u030a\u0130\u03a3ÅüΣé-]{1,20}"
			local := rapid.StringMatching(characters).Draw(t, "local part")
			given := rapid.SampledFrom([]string{"", " ", "\u00a0"}).Draw(t, "space") + local + "@" +
				rapid.StringMatching("[A-Za-z0-9.\u0308uÅ\u212b-]{1,20}").Draw(t, "domain")
			tidy, problem := Parse(given)
			if problem != nil {
				return
			}
			again, problem := Parse(tidy)
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
		email, problem := Parse(given)
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
