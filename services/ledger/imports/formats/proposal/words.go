package proposal

import (
	_ "embed" // For words.txt.
	"strings"

	"github.com/coffer-budget/coffer/services/ledger/imports/formats/headings"
	"github.com/coffer-budget/coffer/services/ledger/imports/formats/written"
)

// vocabulary is the list of words in statements of cards.
//
//go:embed words.txt
var vocabulary string

// words holds the folded phrases of each section of the vocabulary, between spaces.
var words = newWords()

func newWords() map[string][]string {
	w := make(map[string][]string)
	for section, phrase := range written.Phrases(vocabulary) {
		if folded := written.Fold(phrase); folded != "" {
			w[section] = append(w[section], " "+folded+" ")
		}
	}
	return w
}

// says reports whether a text between spaces has a phrase of a section.
func says(text, section string) bool {
	for _, phrase := range words[section] {
		if strings.Contains(text, phrase) {
			return true
		}
	}
	return false
}

// folded returns the texts of a row for says.
func folded(cells []string) string { return " " + written.Fold(strings.Join(cells, " ")) + " " }

// saysIn reports whether the texts of a row are those of money in.
func saysIn(cells []string) bool {
	text := folded(cells)
	return says(text, "payment") || says(text, "income")
}

// votes are the rows whose texts show the direction of their amounts.
type votes struct {
	// normal and inverted are the rows in which a positive amount is money in, or money out.
	normal, inverted int
	// weak are inverted rows with a text that an account may have, too.
	weak int
}

// textVotes counts the rows whose texts show the direction of a column's amounts.
func (p *Profile) textVotes(amount int) votes {
	var v votes
	for _, cells := range p.sample[p.heading+1:] {
		n, ok := written.ScanNumber(at(cells, amount))
		if !ok {
			continue
		}
		text, in := folded(cells), saysIn(cells)
		switch {
		case in && n.Negative:
			v.inverted++
		case in:
			v.normal++
		case n.Negative && says(text, "transfer"):
			v.weak++
		}
	}
	return v
}

// isCard reports whether the headings are those of a card's statement. mayBe is set if accounts may
// have them, too.
func (p *Profile) isCard() (card, mayBe bool) {
	if p.heading < 0 {
		return false, false
	}
	for _, title := range p.sample[p.heading] {
		text := " " + written.Fold(headings.SplitCamel(title)) + " "
		if says(text, "account") {
			return false, false
		}
		card, mayBe = card || says(text, "card"), mayBe || says(text, "merchant")
	}
	return card, card || mayBe
}
