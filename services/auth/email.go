package auth

import (
	"net/mail"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"

	"github.com/coffer-budget/coffer/internal/apierr"
)

const (
	// Lengths of RFC 5321, in octets.
	maxEmail     = 254
	maxLocalPart = 64
	maxLabel     = 63
)

// parseEmail trims and lower-cases an e-mail address, and refuses what no mail could be sent to from anywhere: one with
// a display name, a comment, a quoted local part, or a domain that is not a name with a dot. Keyboards that send one letter
// in different ways mean one account (RFC 6532, 3.1).
func parseEmail(s string) (string, *apierr.Field) {
	s = norm.NFC.String(strings.ToLower(strings.TrimSpace(s)))
	if s == "" {
		return "", &apierr.Field{Name: "email", Message: "is required"}
	}
	bad := &apierr.Field{Name: "email", Message: "must be an e-mail address"}
	if len(s) > maxEmail {
		return "", bad
	}
	a, err := mail.ParseAddress(s)
	if err != nil || a.Address != s || a.Name != "" {
		return "", bad
	}
	at := strings.LastIndexByte(s, '@')
	if at > maxLocalPart || !isDomain(s[at+1:]) {
		return "", bad
	}
	return s, nil
}

func isDomain(s string) bool {
	if !strings.Contains(s, ".") {
		return false
	}
	for label := range strings.SplitSeq(s, ".") {
		if label == "" || len(label) > maxLabel || label[0] == '-' || label[len(label)-1] == '-' {
			return false
		}
		for _, r := range label {
			if r != '-' && !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.IsMark(r) {
				return false
			}
		}
	}
	return true
}
