package imports

import (
	"strings"
	"unicode"

	"github.com/google/uuid"
	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

const (
	// minShare is the share of a payee's transactions that must have one category.
	minShare = 0.66
	// minUses is the number of transactions from which a payee's category is suggested.
	minUses = 2
)

// history holds how often the owner's transactions of a payee have a category. It is the only memory of suggestions, so that a correction
// counts at once, and an undo takes its effect back.
type history map[memory]map[uuid.UUID]int

// memory identifies transactions that probably have the same category.
type memory struct {
	text    string
	expense bool
}

// add counts a transaction.
func (h history) add(payee, description string, expense bool, category uuid.UUID) {
	key := memory{fingerprint(payee, description), expense}
	if key.text == "" {
		return
	}
	if h[key] == nil {
		h[key] = map[uuid.UUID]int{}
	}
	h[key][category]++
}

// suggest returns the category of at least two thirds of the transactions with this payee, or description if there is no payee.
func (h history) suggest(payee, description string, expense bool) (uuid.UUID, bool) {
	var best uuid.UUID
	most, all := 0, 0
	for category, uses := range h[memory{fingerprint(payee, description), expense}] {
		all += uses
		if uses > most {
			best, most = category, uses
		}
	}
	return best, most >= minUses && float64(most) >= minShare*float64(all)
}

// fingerprint returns the payee, or otherwise the description, without case, digits and punctuation.
func fingerprint(payee, description string) string {
	text := payee
	if strings.TrimSpace(text) == "" {
		text = description
	}
	return strings.Join(strings.FieldsFunc(fold(text), func(r rune) bool { return !unicode.IsLetter(r) }), " ")
}

// fold returns a text in which letters that differ only in case or width are equal.
func fold(s string) string { return cases.Fold().String(norm.NFKC.String(s)) }
