package scan

import (
	"bytes"
	"io"
	"regexp"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/ianaindex"
	"golang.org/x/text/encoding/japanese"
	"golang.org/x/text/encoding/korean"
	"golang.org/x/text/encoding/simplifiedchinese"
	"golang.org/x/text/encoding/traditionalchinese"
	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/transform"
)

// PeekBytes is the length of the start of a file that decides its encoding and format. The rest is
// converted while it is parsed.
const PeekBytes = 64 << 10

// declared finds the encoding that the start of an XML or OFX file names.
var declared = regexp.MustCompile(`(?i)^\s*<\?xml[^>]*?encoding\s*=\s*["']([\w.:-]+)["']|` +
	`(?:^|\s)CHARSET:\s*([\w-]+)|(?:^|\s)ENCODING:\s*(UTF-?8|UNICODE)`)

// ToUTF8 returns the text of a file as UTF-8, and a function that reports whether the encoding was
// guessed. start is the start of the file, and reader reads all of it. The order is: the caller's
// choice, byte order mark, declaration in the file, valid UTF-8, and otherwise the legacy encoding
// whose words have the highest total of plausible.
func ToUTF8(
	start []byte, reader io.Reader, name string, plausible func(word string) int,
) (io.Reader, func() bool, error) {
	never := func() bool { return false }
	if name != "" {
		e, ok := named(name)
		if !ok {
			return nil, nil, Errorf(0, "unknown encoding %s", name)
		}
		return transform.NewReader(reader, e.NewDecoder()), never, nil
	}
	marked := func(mark string) bool { return bytes.HasPrefix(start, []byte(mark)) }
	var transformer transform.Transformer
	switch {
	case marked("\xef\xbb\xbf"), marked("\xff\xfe"), marked("\xfe\xff"):
		transformer = unicode.BOMOverride(mixed(charmap.Windows1252).NewDecoder())
	case isUTF16(start, 1):
		transformer = unicode.UTF16(unicode.LittleEndian, unicode.IgnoreBOM).NewDecoder()
	case isUTF16(start, 0):
		transformer = unicode.UTF16(unicode.BigEndian, unicode.IgnoreBOM).NewDecoder()
	}
	if transformer != nil {
		return transform.NewReader(reader, transformer), never, nil
	}
	// A file that claims an encoding and has bytes of UTF-8 is UTF-8: many writers copy the header
	// from elsewhere.
	legacy := declaredEncoding(start)
	assumed := legacy == nil
	if assumed {
		legacy = guess(start, plausible)
	}
	if _, single := legacy.(*charmap.Charmap); !single && !isUTF8(start) {
		return transform.NewReader(reader, legacy.NewDecoder()), func() bool { return assumed }, nil
	}
	d := &mixedDecoder{legacy: legacy}
	return transform.NewReader(reader, d), func() bool { return assumed && d.used }, nil
}

// named returns the encoding with an IANA name, or a name that banks use for one.
func named(name string) (encoding.Encoding, bool) {
	switch upper := strings.ToUpper(name); upper {
	case "1250", "1251", "1252", "1253", "1254", "1257":
		name = "windows-" + name
	case "8859-1", "ISO-8859-1", "LATIN1", "ISO8859-1", "USASCII", "US-ASCII", "ASCII":
		// The control characters of ISO 8859-1 never occur. Files with this name are written as
		// Windows-1252.
		return charmap.Windows1252, true
	case "CP1250", "CP1251", "CP1252":
		name = "windows-" + upper[2:]
	case "CP437":
		return charmap.CodePage437, true
	case "CP932", "MS932", "SJIS", "SHIFT-JIS":
		return japanese.ShiftJIS, true
	case "GB2312", "CP936":
		return simplifiedchinese.GB18030, true
	case "CP850":
		return charmap.CodePage850, true
	case "CP852":
		return charmap.CodePage852, true
	}
	e, err := ianaindex.IANA.Encoding(name)
	return e, err == nil && e != nil
}

// declaredEncoding returns the encoding that the file names, or nil.
func declaredEncoding(start []byte) encoding.Encoding {
	m := declared.FindSubmatch(start[:min(len(start), 4096)])
	for _, name := range m[min(len(m), 1):] {
		if e, ok := named(string(name)); ok && len(name) > 0 && !isUTF8Name(string(name)) {
			return e
		}
	}
	return nil
}

// isUTF8Name reports whether a name means UTF-8.
func isUTF8Name(name string) bool {
	upper := strings.ToUpper(name)
	return upper == "UTF-8" || upper == "UTF8" || upper == "UNICODE" || upper == "NONE"
}

// isUTF16 reports whether every second byte of the start is mostly zero.
func isUTF16(start []byte, zero int) bool {
	start = start[:min(len(start), 512)]
	zeros, others := 0, 0
	for i, b := range start {
		if b == 0 {
			if i%2 == zero {
				zeros++
			} else {
				others++
			}
		}
	}
	return zeros > len(start)*2/5 && others < zeros/8
}

// isUTF8 reports whether the start of a file is valid UTF-8. Its last character may be incomplete.
func isUTF8(start []byte) bool {
	for cut := range min(utf8.UTFMax, len(start)) {
		if utf8.Valid(start[:len(start)-cut]) {
			return true
		}
	}
	return len(start) == 0
}

// candidates are the legacy encodings, the most frequent one first.
var candidates = []encoding.Encoding{
	charmap.Windows1252, charmap.Windows1250, charmap.Windows1251, charmap.CodePage850,
	charmap.CodePage852, charmap.Macintosh, charmap.Windows1254, charmap.Windows1253,
	charmap.Windows1255, charmap.Windows1257, charmap.Windows1256, charmap.Windows874,
	japanese.ShiftJIS, simplifiedchinese.GB18030,
	korean.EUCKR, traditionalchinese.Big5, japanese.EUCJP,
}

// minMultibyte is the score from which a file has an encoding with characters of several bytes: two
// known headings. Nearly all bytes of other files are valid in such an encoding, too. A lower score
// is enough if no other encoding is plausible.
const minMultibyte = 30

// guess returns the legacy encoding with the most plausible words at the start.
func guess(start []byte, plausible func(word string) int) encoding.Encoding {
	best, bestScore := candidates[0], -1<<30
	for i, charset := range candidates {
		decoded, err := charset.NewDecoder().Bytes(start[:min(len(start), 8192)])
		_, single := charset.(*charmap.Charmap)
		if err != nil || !single && !isDecoded(decoded) {
			continue
		}
		score := 2 - i
		for _, word := range strings.FieldsFunc(string(decoded), func(r rune) bool {
			return strings.ContainsRune(" \t\r\n;,|\":/()", r)
		}) {
			score += plausible(word)
		}
		if !single && score < minMultibyte && bestScore >= 0 {
			continue
		}
		if score > bestScore {
			best, bestScore = charset, score
		}
	}
	return best
}

// isDecoded reports whether a text has no character that stands for invalid bytes, except at its
// end, where a character may be incomplete.
func isDecoded(text []byte) bool {
	at := bytes.IndexRune(text, utf8.RuneError)
	return at < 0 || at >= len(text)-utf8.UTFMax
}

// mixed returns UTF-8 with a legacy encoding for invalid bytes.
func mixed(legacy encoding.Encoding) encoding.Encoding { return mixedEncoding{legacy} }

// mixedEncoding decodes with a mixedDecoder.
type mixedEncoding struct{ legacy encoding.Encoding }

// NewDecoder returns a decoder.
func (m mixedEncoding) NewDecoder() *encoding.Decoder {
	return &encoding.Decoder{Transformer: &mixedDecoder{legacy: m.legacy}}
}

// NewEncoder is never used.
func (m mixedEncoding) NewEncoder() *encoding.Encoder { return encoding.Replacement.NewEncoder() }

// mixedDecoder decodes a file that is UTF-8 or in a legacy encoding, without reading it twice. It
// copies UTF-8, and decodes each invalid byte with the legacy encoding. The first byte beyond ASCII
// decides: if a valid character of several bytes comes first, the file is UTF-8, and later invalid
// bytes are exceptions. If an invalid byte comes first, the rest of the file is in the legacy
// encoding.
type mixedDecoder struct {
	legacy     encoding.Encoding
	multibyte  bool // The file has a valid character of several bytes.
	legacyOnly bool
	used       bool
}

// Reset returns the decoder to its initial state.
func (d *mixedDecoder) Reset() { d.multibyte, d.legacyOnly, d.used = false, false, false }

// Transform implements transform.Transformer.
func (d *mixedDecoder) Transform(dst, src []byte, atEOF bool) (nDst, nSrc int, err error) {
	decoder := d.legacy.NewDecoder()
	for nSrc < len(src) {
		if src[nSrc] < utf8.RuneSelf {
			if nDst == len(dst) {
				return nDst, nSrc, transform.ErrShortDst
			}
			dst[nDst] = src[nSrc]
			nDst, nSrc = nDst+1, nSrc+1
			continue
		}
		if !d.legacyOnly && !atEOF && !utf8.FullRune(src[nSrc:]) {
			return nDst, nSrc, transform.ErrShortSrc
		}
		char, size := utf8.DecodeRune(src[nSrc:])
		if d.legacyOnly || char == utf8.RuneError && size == 1 {
			d.legacyOnly, d.used = d.legacyOnly || !d.multibyte, true
			size = 1
			var one [8]byte
			n, _, _ := decoder.Transform(one[:], src[nSrc:nSrc+1], true)
			if char, _ = utf8.DecodeRune(one[:n]); n == 0 {
				char = utf8.RuneError
			}
		} else {
			d.multibyte = true
		}
		if nDst+utf8.RuneLen(char) > len(dst) {
			return nDst, nSrc, transform.ErrShortDst
		}
		nDst += utf8.EncodeRune(dst[nDst:], char)
		nSrc += size
	}
	return nDst, nSrc, nil
}
