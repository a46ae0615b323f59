// Package media detects the type of a file from its content. Names and types that clients send are
// not trusted. The ledger (attachments) and ocr (receipts) use it, so both detect the same types.
//
// TypeOf recognizes images and PDF by the first bytes of a file. Text has no such bytes: a
// TextChecker reads all of it, in pieces of any size, so that a stream need not be kept in memory.
package media

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Media types that TypeOf returns, and the type of a file that a TextChecker accepts.
const (
	JPEG = "image/jpeg"
	PNG  = "image/png"
	GIF  = "image/gif"
	WebP = "image/webp"
	BMP  = "image/bmp"
	TIFF = "image/tiff"
	HEIC = "image/heic"
	PDF  = "application/pdf"
	Text = "text/plain; charset=utf-8"
)

// signature is the beginning of the files of a type. A ? matches any byte.
type signature struct{ mediaType, magic string }

var signatures = []signature{
	{JPEG, "\xff\xd8\xff"},
	{PNG, "\x89PNG\r\n\x1a\n"},
	{GIF, "GIF87a"},
	{GIF, "GIF89a"},
	{BMP, "BM"},
	{TIFF, "II*\x00"},
	{TIFF, "MM\x00*"},
	{WebP, "RIFF????WEBPVP8"},
	{PDF, "%PDF-"},
	// HEIF, with the brands that cameras write. The first box starts with its length.
	{HEIC, "????ftypheic"},
	{HEIC, "????ftypheix"},
	{HEIC, "????ftypheim"},
	{HEIC, "????ftypheis"},
	{HEIC, "????ftypmif1"},
	{HEIC, "????ftypmsf1"},
}

// TypeOf returns the media type of a file that begins with head, or "" for text and unknown types.
// It needs the first 16 bytes, unless the file is shorter.
func TypeOf(head []byte) string {
	i := slices.IndexFunc(signatures, func(s signature) bool { return s.matches(head) })
	if i < 0 {
		return ""
	}
	return signatures[i].mediaType
}

func (s signature) matches(head []byte) bool {
	if len(head) < len(s.magic) {
		return false
	}
	for i := range len(s.magic) {
		if s.magic[i] != '?' && s.magic[i] != head[i] {
			return false
		}
	}
	return true
}

// TextChecker checks that a file is plain text: UTF-8 without control characters, except for tabs,
// line breaks and form feeds. The zero value is ready for the first piece.
type TextChecker struct {
	// rest is an incomplete character at the end of the last piece.
	rest []byte
}

// Check reports whether the file may be text up to the end of this piece.
func (c *TextChecker) Check(piece []byte) bool {
	if len(c.rest) > 0 {
		piece = append(c.rest, piece...)
		c.rest = nil
	}
	for len(piece) > 0 {
		if !utf8.FullRune(piece) {
			c.rest = slices.Clone(piece)
			return true
		}
		r, size := utf8.DecodeRune(piece)
		control := unicode.IsControl(r) && !strings.ContainsRune("\n\r\t\f", r)
		if control || r == utf8.RuneError && size == 1 {
			return false
		}
		piece = piece[size:]
	}
	return true
}

// End reports whether the file ends with a complete character.
func (c *TextChecker) End() bool { return len(c.rest) == 0 }
