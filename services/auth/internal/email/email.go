// Package email parses e-mail addresses into the form in which they are compared and stored.
package email

import (
	"net/mail"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"

	"github.com/coffer-budget/coffer/internal/apierr"
	"github.com/coffer-budget/coffer/internal/text"
)

const (
	// Maximum lengths of RFC 5321, in octets.
	maxEmail     = 254
	maxLocalPart = 64
	// maxLabel is the maximum length of a part of a domain name (RFC 1035, 2.3.4).
	maxLabel = 63
)

// Parse returns an e-mail address trimmed, in lower case and in Unicode Normalization Form C
// (RFC 6532, 3.1), so that each address has one account. It rejects addresses with a display name,
// a comment, a quoted local part or a domain without a dot. It also rejects invisible characters,
// because two accounts that differ only in them would look alike.
func Parse(value string) (string, *apierr.Field) {
	value = norm.NFC.String(strings.ToLower(strings.TrimSpace(value)))
	if value == "" {
		return "", &apierr.Field{Name: "email", Message: "is required"}
	}
	bad := &apierr.Field{Name: "email", Message: "must be an e-mail address"}
	if len(value) > maxEmail || strings.IndexFunc(value, text.IsInvisible) >= 0 {
		return "", bad
	}
	a, err := mail.ParseAddress(value)
	// ParseAddress removes comments and quotes, so an address that contained them differs.
	if err != nil || a.Address != value || a.Name != "" {
		return "", bad
	}
	at := strings.LastIndexByte(value, '@')
	if at > maxLocalPart || !isDomain(value[at+1:]) {
		return "", bad
	}
	return value, nil
}

// isDomain reports whether s is a domain name of at least two labels. Letters may be of any script,
// because an internationalized domain may be given in Unicode.
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
