package written

import (
	_ "embed" // For statuses.txt.
	"strings"
	"unicode"
)

// The statuses that files give to payments.
const (
	// Booked means that the payment has changed the balance finally.
	Booked = "booked"
	// Pending means that the payment is reserved or announced. Its amount and day may still change.
	Pending = "pending"
	// Void means that no money has moved: the payment was denied, canceled, or has failed.
	Void = "void"
)

// negation is the section of the words that turn the meaning of another word round.
const negation = "not"

// statusPhrases is the vocabulary of statuses, with a section for each and one of negations.
//
//go:embed statuses.txt
var statusPhrases string

// statuses maps folded phrases to their sections.
var statuses = newStatuses()

func newStatuses() map[string]string {
	t := make(map[string]string)
	for section, phrase := range Phrases(statusPhrases) {
		if key := statusKey(phrase); key != "" && t[key] == "" {
			t[key] = section
		}
	}
	return t
}

// statusKey returns the words of a text that have letters: "已退款(￥12.00)" has one.
func statusKey(text string) string {
	var words []string
	for word := range strings.FieldsSeq(Fold(text)) {
		if strings.ContainsFunc(word, unicode.IsLetter) {
			words = append(words, word)
		}
	}
	return strings.Join(words, " ")
}

// maxStatusWords is the maximum number of words of a status that the vocabulary does not contain as
// a whole. Longer texts are sentences, which a word does not decide.
const maxStatusWords = 4

// StatusOf returns the status that a cell means, and whether it is known. An empty cell means
// Booked, because many banks mark only the other payments.
func StatusOf(cell string) (status string, known bool) {
	key := statusKey(cell)
	if key == "" {
		return Booked, true
	}
	if section := statuses[key]; section != "" && section != negation {
		return section, true
	}
	// "Declined by issuer": one kind of known words, and no negation. "Booked" needs the whole
	// text, because "booked, but ..." may mean anything.
	words := strings.Fields(key)
	if len(words) > maxStatusWords {
		return "", false
	}
	for _, word := range words {
		section := statuses[word]
		switch {
		case section == "" || section == status:
		case status != "" || section == negation:
			return "", false
		default:
			status = section
		}
	}
	if status != Pending && status != Void {
		return "", false
	}
	return status, true
}
