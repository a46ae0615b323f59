package text

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
	"golang.org/x/text/unicode/norm"
	"pgregory.net/rapid"
)

func TestName(t *testing.T) {
	t.Parallel()
	t.Run("is trimmed and has 1 to 100 characters", func(t *testing.T) {
		t.Parallel()
		name, problem := Name("name", "  Groceries\n")
		require.Nil(t, problem)
		require.Equal(t, "Groceries", name)
		_, problem = Name("name", strings.Repeat("ü", 100))
		require.Nil(t, problem)
		for _, bad := range []string{"", " \t", strings.Repeat("ü", 101), "a\x00b", "\xff"} {
			_, problem = Name("title", bad)
			require.NotNil(t, problem, "%q", bad)
			require.Equal(t, "title", problem.Name)
		}
	})
	t.Run("is normalized before it is counted", func(t *testing.T) {
		t.Parallel()
		name, problem := Name("name", strings.Repeat("u\u0308", 100))
		require.Nil(t, problem)
		require.Equal(t, strings.Repeat("ü", 100), name)
		// U+0958 is excluded from composition, so its normal form has two characters.
		_, problem = Name("name", strings.Repeat("\u0958", 51))
		require.NotNil(t, problem)
	})
	t.Run("needs a visible character", func(t *testing.T) {
		t.Parallel()
		for name, text := range map[string]string{
			"zero-width space": "\u200b", "zero-width joiners": "\u200c\u200d",
			"word joiner": "\u2060", "byte order mark": "\ufeff",
			"bidirectional marks": "\u200e\u200f\u061c", "bidirectional isolates": "\u2066\u2069",
			"soft hyphen":        "\u00ad",
			"variation selector": "\ufe0f", "grapheme joiner": "\u034f",
			"Hangul fillers": "\u115f\u1160\u3164\uffa0",
			"braille blank":  "\u2800", "tags": "\U000e0061\U000e007f",
			"control characters":   "\x01\x7f\u0085",
			"several, with spaces": "\u200b \u00a0 \u00ad", "Mongolian vowel separator": "\u180e",
			"invisible times": "\u2062",
		} {
			_, problem := Name("name", text)
			require.NotNil(t, problem, name)
		}
		for _, s := range []string{
			"a\u200b", "👩\u200d👧", "שלום\u200f", "re\u00adceipt", "\u0600", "¤", "क\u094d\u200d",
		} {
			got, problem := Name("name", s)
			require.Nil(t, problem, "%q", s)
			require.Equal(t, s, got, "invisible characters inside a name have a meaning")
		}
	})
}

func TestDescription(t *testing.T) {
	t.Parallel()
	for _, good := range []string{"", " ", strings.Repeat("ü", 1000)} {
		_, problem := Description("description", good)
		require.Nil(t, problem)
	}
	for _, bad := range []string{strings.Repeat("ü", 1001), "a\x00b", "\xff"} {
		_, problem := Description("description", bad)
		require.NotNil(t, problem, "%q", bad)
	}
}

func TestPayee(t *testing.T) {
	t.Parallel()
	for typed, want := range map[string]string{"": "", " ": "", "Cafe\u0301 ": "Caf\u00e9"} {
		payee, problem := Payee("payee", typed)
		require.Nil(t, problem)
		require.Equal(t, want, payee)
	}
	for _, bad := range []string{"\u200b", " \u00ad ", strings.Repeat("ü", 201), "\xff"} {
		_, problem := Payee("payee", bad)
		require.NotNil(t, problem, "%q", bad)
		require.Equal(t, "payee", problem.Name)
	}
}

// typedText draws texts of letters, marks, spaces and invisible characters. Many of these have
// several encodings.
func typedText() *rapid.Generator[string] {
	rare := []rune("u\u0308a\u030a\u0327\u0323éÅ\u212b각\u1100\u1161\u11a8ﬁ\u0958 \u00a0\u2000" +
		"\u200b\u200d\u00ad\ufeff\ufe0f\u0345\u034f")
	return rapid.StringOfN(rapid.OneOf(rapid.SampledFrom(rare), rapid.Rune()), 0, 120, -1)
}

func TestNameProperties(t *testing.T) {
	t.Parallel()
	t.Run("a parsed name is its own parsed form", func(t *testing.T) {
		t.Parallel()
		rapid.Check(t, func(t *rapid.T) {
			name, problem := Name("name", typedText().Draw(t, "typed"))
			if problem != nil {
				return
			}
			again, problem := Name("name", name)
			if problem != nil || again != name || !norm.NFC.IsNormalString(name) ||
				utf8.RuneCountInString(name) > maxName {
				t.Fatalf("%q became %q (%v)", name, again, problem)
			}
		})
	})
	t.Run("canonically equivalent texts are one name", func(t *testing.T) {
		t.Parallel()
		rapid.Check(t, func(t *rapid.T) {
			typed := typedText().Draw(t, "typed")
			composed, one := Name("name", norm.NFC.String(typed))
			decomposed, other := Name("name", norm.NFD.String(typed))
			if composed != decomposed || (one == nil) != (other == nil) {
				t.Fatalf("%q and %q (%v, %v)", composed, decomposed, one, other)
			}
		})
	})
	t.Run("invisible characters and spaces alone are no name", func(t *testing.T) {
		t.Parallel()
		blank := rapid.Rune().Filter(func(r rune) bool { return !isVisible(r) })
		rapid.Check(t, func(t *rapid.T) {
			usual := rapid.SampledFrom([]rune("\u200b\u200e\u00ad \u2800\U000e0020"))
			s := rapid.StringOfN(rapid.OneOf(blank, usual), 0, 50, -1).Draw(t, "blank")
			if _, problem := Name("name", s); problem == nil {
				t.Fatalf("%q is a name", s)
			}
		})
	})
}

func TestFit(t *testing.T) {
	t.Parallel()
	for given, want := range map[string]string{
		"": "", " \t": "", "\u200b": "", " Cafe\u0301 ": "Caf\u00e9", "abcd efgh": "abcd",
		"u\u0308berall": "\u00fcbera",
	} {
		require.Equal(t, want, Fit(given, 5), "%q", given)
	}
}
