package matching

import (
	"strings"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

const (
	payeeText = iota
	descriptionText
	notesText
	textCount
)

// maxTexts are the maximum lengths of the texts in characters, as package text limits them.
var maxTexts = [textCount]int{payeeText: 200, descriptionText: 1000, notesText: 4000}

var textsOf = map[string][]int{
	Payee: {payeeText}, Description: {descriptionText}, Notes: {notesText},
	Text: {payeeText, descriptionText, notesText},
}

// subject is a transaction while rules run on it. Its texts are folded once, and not again for each
// condition.
type subject struct {
	Transaction
	texts [textCount]folded
	// tags are folded.
	tags []string
	// left is the number of steps that patterns may still take. It is negative after they would
	// have taken more.
	left int64
}

// newSubject returns the subject of a transaction, on which patterns may take a number of steps.
func newSubject(t Transaction, steps int64) subject {
	sub := subject{Transaction: t, tags: foldAll(t.Tags), left: steps}
	sub.texts[payeeText] = newFolded(t.Payee)
	sub.texts[descriptionText] = newFolded(t.Description)
	sub.texts[notesText] = newFolded(t.Notes)
	return sub
}

// take subtracts the steps of a program on some texts, and reports whether so many were left.
func (s *subject) take(program int, texts []int) bool {
	for _, i := range texts {
		s.left -= stepsOn(program, utf8.RuneCountInString(s.texts[i].plain))
	}
	return s.left >= 0
}

func (s *subject) kind() string {
	if s.Income {
		return income
	}
	return expense
}

// folded is a text in the two forms that conditions compare: plain in NFKC with single spaces, and
// folded also without case.
type folded struct{ plain, folded string }

func newFolded(s string) folded {
	if s == "" {
		return folded{}
	}
	plain := singleSpaces(normalize(s))
	return folded{plain: plain, folded: foldCase(plain)}
}

// Fold returns a text in which letters that differ only in case or width are equal, with single
// spaces.
func Fold(s string) string { return newFolded(s).folded }

func foldAll(values []string) []string {
	out := make([]string, len(values))
	for i, s := range values {
		out[i] = Fold(s)
	}
	return out
}

// normalize returns a text in NFKC. Most texts are ASCII and need no conversion.
func normalize(s string) string {
	if isASCII(s) {
		return s
	}
	return norm.NFKC.String(s)
}

// foldCase returns a text without case. Unicode case folding also equates ß and ss.
func foldCase(s string) string {
	if isASCII(s) {
		return strings.ToLower(s)
	}
	return cases.Fold().String(s)
}

// singleSpaces replaces each run of spaces by one space, and removes those at both ends.
func singleSpaces(s string) string { return strings.Join(strings.Fields(s), " ") }

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= 0x80 {
			return false
		}
	}
	return true
}
