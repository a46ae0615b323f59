package printed

import "github.com/coffer-budget/coffer/services/ocr/receipt/vocabulary"

// spacedWords are words of languages that separate thousands by a space: "1 234,50".
var spacedWords = Words(vocabulary.Spaced)

// JoinThousands joins the parts of numbers whose thousands are separated by a space, if a line has
// a word of a language that does so. The parts are one space apart: quantity and price are in
// separate columns. A number of articles may be before a total.
func JoinThousands(lines []*Line) {
	for _, l := range lines {
		if spacedWords.Has(l.Tokens) {
			joinThousands(lines)
			return
		}
	}
}

func joinThousands(lines []*Line) {
	for _, l := range lines {
		if countWords.Has(l.Tokens) {
			continue
		}
		var joined []Amount
		for _, a := range l.Amounts {
			if n := len(joined); n > 0 && l.continuesNumber(joined[n-1], a) {
				joined[n-1] = joined[n-1].followedBy(a)
			} else {
				joined = append(joined, a)
			}
		}
		l.Amounts = joined
	}
}

// continuesNumber reports whether next has the thousands' last three digits of a number that begins
// with first.
func (l *Line) continuesNumber(first, next Amount) bool {
	digits := 0
	for digits < next.End-next.Start && IsDigit(l.Text[next.Start+digits]) {
		digits++
	}
	return digits == 3 && first.Decimals == 0 && first.Value != 0 && !first.Percent &&
		!first.measure && l.Text[first.End:next.Start] == " " && l.gapBefore(next.Start) &&
		next.End-first.Start <= MaxDigits+4 && first.lastDigits(l.Text) <= 3
}

// lastDigits returns the number of digits after the last separator.
func (a Amount) lastDigits(text string) int {
	n := 0
	for at := a.End - 1; at >= a.Start && IsDigit(text[at]); at-- {
		n++
	}
	return n
}

// gapBefore reports whether the word at an offset is at most a space away from the word before it.
func (l *Line) gapBefore(offset int) bool {
	for i, start := range l.starts {
		if start == offset && i > 0 {
			before := l.Words[i-1].Box
			return l.Words[i].Box.X-before.X-before.W <= l.Height*4/5
		}
	}
	return true
}

// followedBy returns the number whose last three digits before the decimals are those of next.
func (a Amount) followedBy(next Amount) Amount {
	minus := a.Value < 0 || next.Value < 0
	value := max(a.Value, -a.Value)*1000 + max(next.Value, -next.Value)
	if minus {
		value = -value
	}
	next.Value, next.Start = value, a.Start
	next.MinConfidence = min(a.MinConfidence, next.MinConfidence)
	return next
}
