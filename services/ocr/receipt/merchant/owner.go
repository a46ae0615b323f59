package merchant

import "github.com/coffer-budget/coffer/services/ocr/receipt/printed"

// ownerOf reports whether line i names the owner of the shop whose name is directly above. The shop
// is then the merchant.
func ownerOf(lines []*printed.Line, i, typical int) bool {
	return i > 0 && i < headLines && ownedBy.MatchString(lines[i].Text) &&
		lines[i-1].PriceCount() == 0 && nameScore(lines[i-1], i-1, typical) > 0
}

// brandConfidence exceeds the score of any legal name.
const brandConfidence = 5

// findOwner returns the names on lines that name the brand of a company, the owner of a shop
// without a name above, or thank the customer for a visit.
func findOwner(lines []*printed.Line) []printed.Field {
	var out []printed.Field
	add := func(text string, confidence float64, at *printed.Line) {
		out = append(out, printed.Field{Value: merchantName(text), Confidence: confidence, At: at})
	}
	typical := typicalHeight(lines)
	for i, line := range lines {
		if m := tradingAs.FindStringSubmatch(line.Text); m != nil && i < headLines {
			add(m[1], brandConfidence, line)
		}
		m := ownedBy.FindStringSubmatch(line.Text)
		switch {
		case m == nil || ownerOf(lines, i, typical):
		case printed.Lettered.MatchString(m[1]):
			add(m[1], 2.6, line)
		case i+1 < len(lines) && legal.MatchString(merchantName(lines[i+1].Text)):
			add(lines[i+1].Text, 2.6, lines[i+1])
		}
		if m := thanks.FindStringSubmatch(line.Text); m != nil {
			add(m[1], 1.1, line)
		}
	}
	return out
}
