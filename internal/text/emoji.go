package text

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/coffer-budget/coffer/internal/apierr"
)

const (
	// maxIcon is the maximum length of an icon in bytes. A family of three or a flag of a region
	// has more.
	maxIcon = 16

	joiner       = '\u200d' // zero-width joiner, which connects emojis to one image
	emojiStyle   = '\ufe0f' // variation selector that asks for the colored form of a symbol
	keycap       = '\u20e3' // turns a digit, # or * into a key
	firstSkin    = '\U0001f3fb'
	lastSkin     = '\U0001f3ff'
	firstLetter  = '\U0001f1e6' // regional indicators: a pair is the flag of a country
	lastLetter   = '\U0001f1ff'
	keycapLabels = "0123456789#*"
)

// Icon returns an emoji, or "" for none. Other texts are rejected: clients show the icon beside the
// name, where a text would look like a part of the name.
func Icon(field, s string) (string, *apierr.Field) {
	switch {
	case len(s) > maxIcon:
		return "", &apierr.Field{Name: field, Message: "must be at most 16 bytes"}
	case s != "" && !isEmoji(s):
		return "", &apierr.Field{Name: field, Message: "must be one emoji"}
	}
	return s, nil
}

// isEmoji reports whether s is one emoji as users see it: a symbol with an optional skin tone,
// several of them connected by joiners, a flag of a country, or a keycap. It accepts combinations
// for which no font has a glyph, because each Unicode version adds some. It rejects flags of
// regions, such as that of Scotland: they consist of tag characters and are longer than an icon may
// be.
func isEmoji(s string) bool {
	r, size := utf8.DecodeRuneInString(s)
	switch {
	case isRegional(r):
		second, rest := utf8.DecodeRuneInString(s[size:])
		return isRegional(second) && size+rest == len(s)
	case strings.ContainsRune(keycapLabels, r):
		return strings.TrimPrefix(s[size:], string(emojiStyle)) == string(keycap)
	}
	for element := range strings.SplitSeq(s, string(joiner)) {
		if !isEmojiElement(element) {
			return false
		}
	}
	return true
}

func isEmojiElement(s string) bool {
	r, size := utf8.DecodeRuneInString(s)
	if !unicode.Is(pictographs, r) {
		return false
	}
	modifier, rest := utf8.DecodeRuneInString(s[size:])
	if modifier == emojiStyle || modifier >= firstSkin && modifier <= lastSkin {
		size += rest
	}
	return size == len(s)
}

func isRegional(r rune) bool { return r >= firstLetter && r <= lastLetter }

// pictographs contains the characters beyond ASCII with the property Emoji of Unicode 14. It also
// contains the characters of the supplementary plane with the property Extended_Pictographic: that
// property includes the characters reserved for future emojis. It does not contain the regional
// indicators.
var pictographs = &unicode.RangeTable{
	LatinOffset: 2,
	R16: []unicode.Range16{
		{0xa9, 0xa9, 1},
		{0xae, 0xae, 1},
		{0x203c, 0x203c, 1},
		{0x2049, 0x2049, 1},
		{0x2122, 0x2122, 1},
		{0x2139, 0x2139, 1},
		{0x2194, 0x2199, 1},
		{0x21a9, 0x21aa, 1},
		{0x231a, 0x231b, 1},
		{0x2328, 0x2328, 1},
		{0x23cf, 0x23cf, 1},
		{0x23e9, 0x23f3, 1},
		{0x23f8, 0x23fa, 1},
		{0x24c2, 0x24c2, 1},
		{0x25aa, 0x25ab, 1},
		{0x25b6, 0x25b6, 1},
		{0x25c0, 0x25c0, 1},
		{0x25fb, 0x25fe, 1},
		{0x2600, 0x2604, 1},
		{0x260e, 0x260e, 1},
		{0x2611, 0x2611, 1},
		{0x2614, 0x2615, 1},
		{0x2618, 0x2618, 1},
		{0x261d, 0x261d, 1},
		{0x2620, 0x2620, 1},
		{0x2622, 0x2623, 1},
		{0x2626, 0x2626, 1},
		{0x262a, 0x262a, 1},
		{0x262e, 0x262f, 1},
		{0x2638, 0x263a, 1},
		{0x2640, 0x2640, 1},
		{0x2642, 0x2642, 1},
		{0x2648, 0x2653, 1},
		{0x265f, 0x2660, 1},
		{0x2663, 0x2663, 1},
		{0x2665, 0x2666, 1},
		{0x2668, 0x2668, 1},
		{0x267b, 0x267b, 1},
		{0x267e, 0x267f, 1},
		{0x2692, 0x2697, 1},
		{0x2699, 0x2699, 1},
		{0x269b, 0x269c, 1},
		{0x26a0, 0x26a1, 1},
		{0x26a7, 0x26a7, 1},
		{0x26aa, 0x26ab, 1},
		{0x26b0, 0x26b1, 1},
		{0x26bd, 0x26be, 1},
		{0x26c4, 0x26c5, 1},
		{0x26c8, 0x26c8, 1},
		{0x26ce, 0x26cf, 1},
		{0x26d1, 0x26d1, 1},
		{0x26d3, 0x26d4, 1},
		{0x26e9, 0x26ea, 1},
		{0x26f0, 0x26f5, 1},
		{0x26f7, 0x26fa, 1},
		{0x26fd, 0x26fd, 1},
		{0x2702, 0x2702, 1},
		{0x2705, 0x2705, 1},
		{0x2708, 0x270d, 1},
		{0x270f, 0x270f, 1},
		{0x2712, 0x2712, 1},
		{0x2714, 0x2714, 1},
		{0x2716, 0x2716, 1},
		{0x271d, 0x271d, 1},
		{0x2721, 0x2721, 1},
		{0x2728, 0x2728, 1},
		{0x2733, 0x2734, 1},
		{0x2744, 0x2744, 1},
		{0x2747, 0x2747, 1},
		{0x274c, 0x274c, 1},
		{0x274e, 0x274e, 1},
		{0x2753, 0x2755, 1},
		{0x2757, 0x2757, 1},
		{0x2763, 0x2764, 1},
		{0x2795, 0x2797, 1},
		{0x27a1, 0x27a1, 1},
		{0x27b0, 0x27b0, 1},
		{0x27bf, 0x27bf, 1},
		{0x2934, 0x2935, 1},
		{0x2b05, 0x2b07, 1},
		{0x2b1b, 0x2b1c, 1},
		{0x2b50, 0x2b50, 1},
		{0x2b55, 0x2b55, 1},
		{0x3030, 0x3030, 1},
		{0x303d, 0x303d, 1},
		{0x3297, 0x3297, 1},
		{0x3299, 0x3299, 1},
	},
	R32: []unicode.Range32{
		{0x1f000, 0x1f0ff, 1},
		{0x1f10d, 0x1f10f, 1},
		{0x1f12f, 0x1f12f, 1},
		{0x1f16c, 0x1f171, 1},
		{0x1f17e, 0x1f17f, 1},
		{0x1f18e, 0x1f18e, 1},
		{0x1f191, 0x1f19a, 1},
		{0x1f1ad, 0x1f1e5, 1},
		{0x1f201, 0x1f20f, 1},
		{0x1f21a, 0x1f21a, 1},
		{0x1f22f, 0x1f22f, 1},
		{0x1f232, 0x1f23a, 1},
		{0x1f23c, 0x1f23f, 1},
		{0x1f249, 0x1f53d, 1},
		{0x1f546, 0x1f64f, 1},
		{0x1f680, 0x1f6ff, 1},
		{0x1f774, 0x1f77f, 1},
		{0x1f7d5, 0x1f7ff, 1},
		{0x1f80c, 0x1f80f, 1},
		{0x1f848, 0x1f84f, 1},
		{0x1f85a, 0x1f85f, 1},
		{0x1f888, 0x1f88f, 1},
		{0x1f8ae, 0x1f8ff, 1},
		{0x1f90c, 0x1f93a, 1},
		{0x1f93c, 0x1f945, 1},
		{0x1f947, 0x1faff, 1},
		{0x1fc00, 0x1fffd, 1},
	},
}
