package restjson

import (
	"encoding/binary"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"
)

// appendDouble appends the shortest decimal that parses to f, with an exponent only for very small
// and very large numbers. The limits are those of encoding/json and JavaScript.
func appendDouble(b []byte, f float64) []byte {
	if size := math.Abs(f); size != 0 && (size < 1e-6 || size >= 1e21) {
		return strconv.AppendFloat(b, f, 'e', -1, 64)
	}
	return strconv.AppendFloat(b, f, 'f', -1, 64)
}

const hexDigits = "0123456789abcdef"

// appendString appends text as a JSON string. U+2028 and U+2029 are escaped because they end lines
// in older JavaScript.
func appendString(out, text []byte) []byte {
	out = append(out, '"')
	start := 0
	for index := plain(text); index < len(text); {
		char := text[index]
		if char >= ' ' && char != '"' && char != '\\' && char < utf8.RuneSelf {
			index++
			continue
		}
		size := 1
		if char >= utf8.RuneSelf {
			var r rune
			r, size = utf8.DecodeRune(text[index:])
			if r != '\u2028' && r != '\u2029' && (r != utf8.RuneError || size > 1) {
				index += size
				continue
			}
			out = append(out, text[start:index]...)
			out = append(out, `\u`...)
			for shift := 12; shift >= 0; shift -= 4 {
				out = append(out, hexDigits[r>>shift&0xf])
			}
		} else {
			out = append(out, text[start:index]...)
			out = appendEscaped(out, char)
		}
		index += size
		start = index
	}
	return append(append(out, text[start:]...), '"')
}

// plain returns the length of a prefix of s that needs no escaping. It checks eight bytes at a
// time.
func plain(s []byte) int {
	const each, highest = 0x0101010101010101, 0x8080808080808080
	n := 0
	for ; n+8 <= len(s); n += 8 {
		eight := binary.LittleEndian.Uint64(s[n:])
		// The highest bit of a byte is set if the byte is not ASCII, is below the space, or is a
		// quote or a backslash.
		if (eight|(eight-each*' ')|((eight^each*'"')-each)|((eight^each*'\\')-each))&highest != 0 {
			break
		}
	}
	return n
}

func appendEscaped(b []byte, c byte) []byte {
	if i := strings.IndexByte("\"\\\n\r\t", c); i >= 0 {
		return append(b, '\\', `"\nrt`[i])
	}
	return append(b, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&0xf])
}

// IsNumber reports whether s is a number in the syntax of RFC 8259.
func IsNumber[T string | []byte](s T) bool {
	if len(s) > 0 && s[0] == '-' {
		s = s[1:]
	}
	whole := digits(s)
	if whole == 0 || whole > 1 && s[0] == '0' {
		return false
	}
	s = s[whole:]
	if len(s) > 0 && s[0] == '.' {
		fraction := digits(s[1:])
		if fraction == 0 {
			return false
		}
		s = s[1+fraction:]
	}
	if len(s) == 0 {
		return true
	}
	if s[0] != 'e' && s[0] != 'E' {
		return false
	}
	s = s[1:]
	if len(s) > 0 && (s[0] == '+' || s[0] == '-') {
		s = s[1:]
	}
	return len(s) > 0 && digits(s) == len(s)
}

func digits[T string | []byte](s T) int {
	n := 0
	for n < len(s) && '0' <= s[n] && s[n] <= '9' {
		n++
	}
	return n
}
