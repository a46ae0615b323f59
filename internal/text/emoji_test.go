package text

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestIsEmoji(t *testing.T) {
	t.Parallel()
	for _, s := range []string{
		"🍎", "💶", "❤", "❤️", "☎️", "™️", "👍🏽", "🇩🇪", "1️⃣", "#⃣", "👩‍🚀", "🏳️‍🌈", "❤️‍🔥", "🧑🏿‍🦱",
		"🫠", "🏻",
	} {
		require.True(t, isEmoji(s), "%q", s)
	}
	for _, s := range []string{
		"", " ", "a", "1", "#", "€", "本", "🍎🍎", "🍎 ", " 🍎", "🇩", "🇩🇪🇫🇷", "🇩🍎", "\ufe0f", "\u200d",
		"🍎\u200d", "\u200d🍎", "🍎\u200d\u200d🍎",
		"1\ufe0f", "1🍎", "a\u20e3", "❤️️", "👍🏽🏽", "🍎\x00", "🍎\u202e", "\xff", "🍎\xff", "\U000e0067",
		"<b>",
	} {
		require.False(t, isEmoji(s), "%q", s)
	}
}
