package receipt

import (
	"regexp"
	"strings"
	"unicode"
)

// hasName reports whether a line has at least three letters.
func hasName(l *line) bool {
	letters := 0
	for _, r := range l.text {
		if unicode.IsLetter(r) {
			letters++
		}
	}
	return letters >= 3
}

// itemName returns the text of a line without its figures, or "" if the rest is no name.
func itemName(l *line) string {
	head := l.beforeMoney()
	if !lettered.MatchString(head) {
		// The figures come before the name, as in "5.00 Noodles".
		head = l.text
		for i := len(l.amounts) - 1; i >= 0; i-- {
			a := l.amounts[i]
			head = head[:a.start] + " " + head[a.end:]
		}
		if !lettered.MatchString(head) {
			return ""
		}
		words := strings.Fields(head)
		if len(words) <= 2 && !lettered.MatchString(strings.Join(words, "")) || codesOnly(words) {
			return ""
		}
	}
	if name := trimName(head, figureTail); !codesOnly(strings.Fields(name)) {
		return name
	}
	return ""
}

// beforeMoney returns the text before the first price or percentage.
func (l *line) beforeMoney() string {
	end := len(l.text)
	for _, a := range l.amounts {
		if a.isPrice() || a.percent {
			end = min(end, a.start)
		}
	}
	return l.text[:end]
}

// notNames are units, tax codes, currencies and words of a table.
var notNames = phraseList(`pcs,pkt,unit,units,each,nos,set,eur,usd,myr,rm,kg,gst,sst,tax,disc,stk,btl,ctn,box,bag`)

// codesOnly reports whether all words are figures or notNames.
func codesOnly(words []string) bool {
	for _, w := range words {
		if lettered.MatchString(w) && !notNames.has(tokens(w)) {
			return false
		}
	}
	return true
}

var (
	// quantityHead matches a quantity or symbols before a name. signTail matches a currency, a multiplication sign or
	// punctuation after it; figureTail also matches numbers and units.
	quantityHead = regexp.MustCompile(`^(?:\d{1,3}\s*[x×]?\s+|[^\p{L}\d(]+)`)
	signTail     = regexp.MustCompile(`(?i)(?:[\s(]+(?:rm|eur|myr|usd|gbp|chf|jpy|[x×]\s?\d*|\d+\s?[x×])|[\s(]*[€$£¥₩₹×@*=:.,|_(-]+)\s*$`)
	figureTail   = regexp.MustCompile(`(?i)(?:` + signTail.String()[len("(?i)"):] + `|[\s(]*\d+(?:[.,]\d+)?\s*[x×@*]?\s*$|[\s(]*\d+\s*(?:pcs?|stk|kg|g|l|ea)\s*[x×@*]?\s*$)`)
)

// trimName removes the text that matches tail from the end of a name, up to four times, and a quantity before it. It stops when
// no word would remain.
func trimName(s string, tail *regexp.Regexp) string {
	s = strings.TrimSpace(s)
	for range 4 {
		t := strings.TrimSpace(tail.ReplaceAllString(s, ""))
		if !lettered.MatchString(t) {
			break
		}
		s = t
	}
	if t := quantityHead.ReplaceAllString(s, ""); lettered.MatchString(t) {
		s = t
	}
	return strings.TrimSpace(s)
}
