package statement

import (
	"strings"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"github.com/coffer-budget/coffer/internal/text"
)

// Clean trims the texts of a record and cuts them to their limits. It reports whether the
// description was cut.
func (r *Record) Clean() bool {
	full := OneLine(r.Description)
	r.Description = Cut(full, MaxText)
	r.Payee = Text(r.Payee, MaxPayee)
	notes := strings.ReplaceAll(strings.ToValidUTF8(r.Notes, "\ufffd"), "\x00", "")
	r.Notes = Cut(norm.NFC.String(strings.TrimSpace(notes)), MaxNotes)
	r.Category = Text(r.Category, MaxName)
	r.Account = Text(r.Account, MaxName)
	r.ExternalID = Text(r.ExternalID, MaxName*2)
	if len(r.Tags) > MaxTags {
		r.Tags = r.Tags[:MaxTags]
	}
	return len(r.Description) < len(full)
}

// Text returns s in one line, cut to a number of characters.
func Text(s string, limit int) string { return Cut(OneLine(s), limit) }

// OneLine returns valid text with single spaces and without control characters, in Unicode
// Normalization Form C like the texts of requests. A text without a visible character becomes
// empty, because it would be an unreadable name of a category.
func OneLine(value string) string {
	clean := true
	for i := range len(value) {
		if c := value[i]; c < ' ' || c >= 0x7f ||
			c == ' ' && (i == 0 || value[i-1] == ' ' || i == len(value)-1) {
			clean = false
			break
		}
	}
	if clean {
		return value
	}
	value = norm.NFC.String(strings.ToValidUTF8(value, "\ufffd"))
	if !text.Visible(value) {
		return ""
	}
	return strings.Join(strings.FieldsFunc(value, func(r rune) bool {
		return r < ' ' || r == 0x7f || r == ' ' || r == '\u00a0' || r == '\u0085' || r == '\ufeff'
	}), " ")
}

// Cut returns at most n characters of value.
func Cut(value string, n int) string {
	if len(value) <= n || utf8.RuneCountInString(value) <= n {
		return value
	}
	runes := 0
	for i := range value {
		if runes == n {
			return strings.TrimSpace(value[:i])
		}
		runes++
	}
	return value
}

// Last4 returns the last four letters and digits of an account number, or "" for shorter texts and
// texts without digits.
func Last4(number string) string {
	var kept []rune
	digits := 0
	for _, r := range number {
		if r >= '0' && r <= '9' {
			digits++
		}
		if r >= '0' && r <= '9' || r >= 'A' && r <= 'Z' || r >= 'a' && r <= 'z' {
			kept = append(kept, r)
		}
	}
	if digits < 4 {
		return ""
	}
	return string(kept[len(kept)-4:])
}

// Distinctive reports whether a reference can identify a transaction: it has at least four
// characters, not all equal. Some banks write 0 or a row of zeros in each transaction.
func Distinctive(id string) bool {
	return len(id) >= 4 && strings.Trim(id, id[:1]) != ""
}
