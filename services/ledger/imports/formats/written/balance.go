package written

import (
	_ "embed" // For balances.txt.
	"strings"
)

// The rows that state a balance.
const (
	// Opening is the balance before the first transaction.
	Opening = "opening"
	// Closing is a later balance or a total.
	Closing = "closing"
)

// shop is the section of the names of balances that shops have, too.
const shop = "shop"

// maxBalanceText is the maximum length in bytes of a text that states a balance.
const maxBalanceText = 64

//go:embed balances.txt
var balancePhrases string

// balances maps folded texts to their sections.
var balances = newBalances()

func newBalances() map[string]string {
	t := make(map[string]string)
	for section, phrase := range Phrases(balancePhrases) {
		t[Fold(phrase)] = section
	}
	return t
}

// balanceLinks are words between the name of a balance and its day.
var balanceLinks = WordSet(`at on as of am per zum vom au le du al a la el del il em til op na k ke
	dne den på`)

// StatedBalance returns Opening or Closing if a text is the name of a balance or a total, perhaps
// with a day after it, or "".
func StatedBalance(text string) string {
	// Each cell of a file is asked, so numbers and dates are not folded.
	if text == "" || text[0] <= '9' || len(text) > maxBalanceText {
		return ""
	}
	if section := balanceName(Fold(text)); section == Opening || section == Closing {
		return section
	}
	return ""
}

// balanceName returns the section of a folded text that is a name in balances.txt, perhaps with a
// day after it, or "".
func balanceName(text string) string {
	words := strings.Fields(text)
	for len(words) > 0 {
		if section := balances[strings.Join(words, " ")]; section != "" {
			return section
		}
		last := words[len(words)-1]
		if _, isMonth := months[last]; !isMonth && !balanceLinks[last] &&
			!strings.ContainsAny(last, "0123456789") {
			return ""
		}
		words = words[:len(words)-1]
	}
	return ""
}

// StatesBalance reports whether a text begins with the name of a balance. A row without an amount
// or with few cells is then no transaction. If the row has an amount, a name of one word must be
// the whole text, perhaps with a day after it: "Saldo Tankstelle" is a payee. mayPay is set if the
// row has an amount or a day: then it must not be the name of a shop.
func StatesBalance(text string, hasAmount, mayPay bool) bool {
	if len(text) > 2*maxBalanceText {
		return false
	}
	text = Fold(text)
	names := func(section string) bool { return section != "" && (section != shop || !mayPay) }
	if names(balanceName(text)) {
		return true
	}
	for end := range len(text) + 1 {
		isWord := end == len(text) || text[end] == ' '
		if isWord && names(balances[text[:end]]) &&
			(!hasAmount || strings.Contains(text[:end], " ")) {
			return true
		}
	}
	return false
}
