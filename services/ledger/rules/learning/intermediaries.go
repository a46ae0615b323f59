package learning

import (
	_ "embed" // For intermediaries.txt.
	"slices"
	"strings"
	"unicode"

	"github.com/coffer-budget/coffer/services/ledger/imports/formats/written"
	"github.com/coffer-budget/coffer/services/ledger/rules/matching"
)

//go:embed intermediaries.txt
var intermediaryList string

// intermediary is a payment service that stands between a payer and a merchant.
type intermediary struct {
	name []string
	// starred services have short names, such as "SQ", that count only before a star.
	starred bool
	own     []string
}

var intermediaries, merchantPhrases = readIntermediaries(intermediaryList)

// readIntermediaries reads the list of intermediaries and the phrases before names of merchants.
func readIntermediaries(list string) (services []intermediary, phrases []string) {
	for section, line := range written.Phrases(list) {
		if section == "phrases" {
			phrases = append(phrases, line)
			continue
		}
		name, own, _ := strings.Cut(line, ":")
		name, starred := strings.CutSuffix(name, "*")
		services = append(services,
			intermediary{strings.Fields(name), starred, strings.Fields(own)})
	}
	return services, phrases
}

// Merchant returns the key of the merchant behind an intermediary, or "" if there is none. The
// payee has its name after the intermediary's, as in "PAYPAL *SPOTIFY". Otherwise the description
// has it.
func Merchant(payee, description string) string {
	folded := matching.Fold(payee)
	words := strings.Fields(lettersOf(folded))
	at := slices.IndexFunc(intermediaries, func(s intermediary) bool {
		return len(words) >= len(s.name) && slices.Equal(words[:len(s.name)], s.name) &&
			(!s.starred || hasStar(folded, s.name))
	})
	if at < 0 {
		return ""
	}
	intermediary := intermediaries[at]
	if merchant := intermediary.without(words); merchant != "" {
		return merchant
	}
	folded = matching.Fold(description)
	for _, phrase := range merchantPhrases {
		if _, after, ok := strings.Cut(folded, phrase); ok {
			return lettersOf(after)
		}
	}
	// References have digits, and change with each payment.
	texts := slices.DeleteFunc(strings.Fields(folded), func(word string) bool {
		return strings.ContainsFunc(word, unicode.IsDigit)
	})
	return intermediary.without(strings.Fields(lettersOf(strings.Join(texts, " "))))
}

// hasStar reports whether a star follows the words of a name in a text that starts with them.
func hasStar(text string, name []string) bool {
	before, _, ok := strings.Cut(text, "*")
	return ok && lettersOf(before) == strings.Join(name, " ")
}

// without returns a text without the words of the service. It is empty without the name of a
// merchant: all payments of a service can have the text "SEPA Lastschrift".
func (s intermediary) without(words []string) string {
	rest := slices.DeleteFunc(slices.Clone(words), func(word string) bool {
		return slices.Contains(s.name, word) || slices.Contains(s.own, word)
	})
	if !slices.ContainsFunc(rest, func(word string) bool { return len([]rune(word)) > 1 }) {
		return ""
	}
	text := strings.Join(rest, " ")
	if written.IsKind(text) {
		return ""
	}
	return text
}

func lettersOf(text string) string {
	return strings.Join(strings.FieldsFunc(matching.Fold(text), func(r rune) bool {
		return !unicode.IsLetter(r)
	}), " ")
}
