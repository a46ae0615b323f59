package written

import (
	"regexp"
	"strings"
)

// timeBefore is a time before a date, such as "11:41 27-06-26".
var timeBefore = regexp.MustCompile(`^\d{1,2}:\d{2}(:\d{2})? +(\d)`)

// withoutTime returns a date without a time before it.
func withoutTime(text string) string {
	if !strings.Contains(text, ":") {
		return text
	}
	return timeBefore.ReplaceAllString(text, "$2")
}

// isTime reports whether the text after a date is empty or a time of day, perhaps with a zone.
func isTime(text string) bool {
	text = strings.TrimLeft(text, "., T\u00a0\u202f-/г'日일")
	if text == "" || text == "Z" {
		return true
	}
	if text[0] == '(' || text[0] == '[' || strings.HasPrefix(text, "as of ") {
		return true // Brokers add the day of a correction.
	}
	for _, word := range []string{"at ", "um ", "à ", "kl. ", "kl ", "klo "} {
		text = strings.TrimPrefix(text, word)
	}
	clock := text != "" && text[0] >= '0' && text[0] <= '9' &&
		strings.ContainsAny(text[:min(len(text), 6)], ":.h")
	return clock || IsDigitsOnly(text) && (len(text) == 4 || len(text) == 6)
}
