package media

import (
	"slices"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
)

func TestTypeOf(t *testing.T) {
	t.Parallel()
	for content, want := range map[string]string{
		"\xff\xd8\xff\xe0\x00\x10JFIF": JPEG, "\x89PNG\r\n\x1a\n\x00": PNG, "GIF87a": GIF,
		"GIF89a...": GIF, "BM....": BMP, "II*\x00": TIFF, "MM\x00*": TIFF,
		"RIFF\x10\x20\x30\x40WEBPVP8L": WebP, "RIFF\x10\x20\x30\x40WAVEfmt ": "", "%PDF-1.7": PDF,
		" %PDF-1.7":                "",
		"\x00\x00\x00\x18ftypheic": HEIC, "\x00\x00\x00\x18ftypmif1": HEIC,
		"\x00\x00\x00\x18ftypisom": "",
		"":                         "", "text": "", "<html>": "", "MZ\x90": "", "PK\x03\x04": "",
		"\x89PNG": "",
	} {
		require.Equal(t, want, TypeOf([]byte(content)), "%q", content)
	}
}

// isText checks content in pieces of a size.
func isText(content []byte, size int) bool {
	var c TextChecker
	for piece := range slices.Chunk(content, size) {
		if !c.Check(slices.Clone(piece)) {
			return false
		}
	}
	return c.End()
}

func TestTextChecker(t *testing.T) {
	t.Parallel()
	for content, want := range map[string]bool{
		"": true, "a\tb\r\nc\f": true, "Käse 5 €, 漢字 😀": true, "\ufeffwith a byte order mark": true,
		"\ufffd": true,
		"\x00":   false, "bell\a": false, "\x7f": false, "\u0085": false, "\xff\xfe": false,
		"K\xe4se": false, "€"[:2]: false, "a€"[:3] + "b": false,
	} {
		for size := 1; size <= max(1, len(content)); size++ {
			require.Equal(t, want, isText([]byte(content), size), "%q in pieces of %d", content,
				size)
		}
	}
}

// FuzzTextChecker checks that the size of the pieces does not matter.
func FuzzTextChecker(f *testing.F) {
	f.Add([]byte("Käse 5 €"), 1)
	f.Add([]byte("\xe2\x82"), 2)
	f.Fuzz(func(t *testing.T, content []byte, size int) {
		size = 1 + max(0, size)%7
		whole := isText(content, max(1, len(content)))
		require.Equal(t, whole, isText(content, size))
		require.False(t, whole && !utf8.Valid(content))
	})
}
