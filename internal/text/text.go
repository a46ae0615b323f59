// Package text parses the texts that users and clients type: names, descriptions and ids.
//
// A parsed text is valid UTF-8 without NUL, trimmed, within its maximum length and in Unicode
// Normalization Form C, so that one word typed on two keyboards is stored and compared as the same
// bytes. A name also has at least one visible character. The functions return the parsed value, or
// the problem with the field for a VALIDATION_ERROR.
package text

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/google/uuid"
	"golang.org/x/text/unicode/norm"

	"github.com/coffer-budget/coffer/internal/apierr"
)

// The maximum numbers of characters.
const (
	maxName        = 100
	maxDescription = 1000
	maxPayee       = 200
	maxNotes       = 4000
	maxTag         = 50

	invisible = "must have a visible character"

	// brailleBlank is a symbol in Unicode, but its glyph is empty.
	brailleBlank = '\u2800'
)

// Name returns a name of 1 to 100 characters, at least one of them visible.
func Name(field, s string) (string, *apierr.Field) {
	s, problem := plain(field, s, maxName)
	switch {
	case problem != nil:
		return "", problem
	case s == "":
		return "", &apierr.Field{Name: field, Message: "is required"}
	case !Visible(s):
		return "", &apierr.Field{Name: field, Message: invisible}
	}
	return s, nil
}

// Description returns a text of 0 to 1000 characters.
func Description(field, s string) (string, *apierr.Field) {
	return plain(field, s, maxDescription)
}

// Payee returns a text of 0 to 200 characters. One that is not empty has a visible character,
// because a payee is a name.
func Payee(field, s string) (string, *apierr.Field) {
	s, problem := plain(field, s, maxPayee)
	if problem == nil && s != "" && !Visible(s) {
		return "", &apierr.Field{Name: field, Message: invisible}
	}
	return s, problem
}

// Notes returns a text of 0 to 4000 characters. It keeps the newlines inside the text.
func Notes(field, s string) (string, *apierr.Field) { return plain(field, s, maxNotes) }

// Tag returns the name of a tag: 1 to 50 characters, at least one of them visible. A tag is a
// segment of a path and an element of lists, so it has no slash, comma or control character, and is
// not "." or "..".
func Tag(field, s string) (string, *apierr.Field) {
	name, problem := Name(field, s)
	switch {
	case problem != nil:
		return "", problem
	case utf8.RuneCountInString(name) > maxTag:
		return "", &apierr.Field{
			Name: field, Message: fmt.Sprintf("must be at most %d characters", maxTag),
		}
	case strings.ContainsAny(name, ",/") || strings.ContainsFunc(name, unicode.IsControl):
		return "", &apierr.Field{
			Name: field, Message: "must not contain commas, slashes or control characters",
		}
	case name == "." || name == "..":
		return "", &apierr.Field{Name: field, Message: "must not be . or .."}
	}
	return name, nil
}

func plain(field, value string, limit int) (string, *apierr.Field) {
	if !utf8.ValidString(value) || strings.ContainsRune(value, 0) {
		return "", &apierr.Field{Name: field, Message: "must be UTF-8 text without NUL"}
	}
	value = norm.NFC.String(strings.TrimSpace(value))
	// Normalization changes the number of characters, so the stored form is counted.
	if utf8.RuneCountInString(value) > limit {
		return "", &apierr.Field{
			Name: field, Message: fmt.Sprintf("must be at most %d characters", limit),
		}
	}
	return value, nil
}

// IsInvisible reports whether a character has no glyph and takes no space: zero-width and
// bidirectional controls, soft hyphens, variation selectors, tags, fillers and control characters.
func IsInvisible(r rune) bool {
	if unicode.Is(unicode.Prepended_Concatenation_Mark, r) {
		return false
	}
	return unicode.In(r, unicode.Cc, unicode.Cf, unicode.Other_Default_Ignorable_Code_Point,
		unicode.Variation_Selector)
}

// Fit returns a text that its author cannot correct, such as the name of a file or a text on a
// receipt: trimmed, in Unicode Normalization Form C like the texts of requests, and cut to a number
// of characters. It is empty without a visible character.
func Fit(s string, limit int) string {
	s = norm.NFC.String(strings.TrimSpace(s))
	if runes := []rune(s); len(runes) > limit {
		s = strings.TrimSpace(string(runes[:limit]))
	}
	if !Visible(s) {
		return ""
	}
	return s
}

// Visible reports whether a text has a visible character.
func Visible(s string) bool { return strings.ContainsFunc(s, isVisible) }

func isVisible(r rune) bool { return !IsInvisible(r) && !unicode.IsSpace(r) && r != brailleBlank }

// ID parses the 36 characters of a UUID in any case. uuid.Parse alone also accepts forms with
// braces or urn:.
func ID(s string) (uuid.UUID, bool) {
	if len(s) != 36 {
		return uuid.Nil, false
	}
	id, err := uuid.Parse(s)
	return id, err == nil
}
