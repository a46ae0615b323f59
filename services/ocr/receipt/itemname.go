package receipt

import (
	"regexp"
	"slices"
	"strings"

	"github.com/coffer-budget/coffer/services/ocr/receipt/printed"
)

func itemName(line *printed.Line) string {
	head := gluedQuantity.ReplaceAllString(line.BeforeMoney(), "")
	if !printed.Lettered.MatchString(head) {
		// The figures come before the name, as in "5.00 Noodles".
		head = line.Text
		for _, a := range slices.Backward(line.Amounts) {
			head = head[:a.Start] + " " + head[a.End:]
		}
		head = gluedQuantity.ReplaceAllString(head, "")
		if !printed.Lettered.MatchString(head) {
			return ""
		}
		if printed.CodesOnly(strings.Fields(head)) {
			return ""
		}
	}
	if name := trimName(head, figureTail); !printed.CodesOnly(strings.Fields(name)) {
		return name
	}
	return ""
}

var (
	// gluedQuantity matches "2XRM" of a quantity and price without spaces, whose letters are no
	// name.
	gluedQuantity = regexp.MustCompile(`(?i)^\s*(?:\d+\s*)?[x×*@]\s?(?:rm|myr|eur|usd|gbp|chf)\b`)
	// quantityHead matches a quantity or symbols before a name. signTail matches a currency, a
	// multiplication sign or punctuation after it; figureTail also matches numbers and units.
	quantityHead = regexp.MustCompile(`^(?:\d{1,3}\s*[x×]?\s+|[^\p{L}\d(]+)`)
	signTail     = regexp.MustCompile(signPattern)
	figureTail   = regexp.MustCompile(signPattern + `|[\s(]*\d+(?:[.,]\d+)?\s*[x×@*]?\s*$|` +
		`[\s(]*\d+\s*(?:pcs?|stk|kg|g|l|ea)\s*[x×@*]?\s*$`)
)

const signPattern = `(?i)(?:[\s(]+(?:rm|eur|myr|usd|gbp|chf|jpy|[x×]\s?\d*|\d+\s?[x×])|` +
	`[\s(]*[€$£¥₩₹×@*=:.,|_(-]+)\s*$`

// trimName removes the text that matches tail from the end of a name, up to four times, and a
// quantity before it. It stops when no word would remain.
func trimName(text string, tail *regexp.Regexp) string {
	text = strings.TrimSpace(text)
	for range 4 {
		t := strings.TrimSpace(tail.ReplaceAllString(text, ""))
		if !printed.Lettered.MatchString(t) {
			break
		}
		text = t
	}
	if t := quantityHead.ReplaceAllString(text, ""); printed.Lettered.MatchString(t) {
		text = t
	}
	return strings.TrimSpace(text)
}
