package printed

import (
	"cmp"
	"maps"
	"regexp"
	"slices"

	"github.com/coffer-budget/coffer/internal/money"
	"github.com/coffer-budget/coffer/services/ocr/receipt/vocabulary"
)

// hint is a pattern that indicates a currency. Weight is the number of points per line that
// matches. Symbols and codes of one currency have 3 or 4 points, words and misread symbols 1 to
// 1.5, and symbols of several countries 1.
type hint struct {
	code    string
	weight  float64
	pattern *regexp.Regexp
}

// hints lists symbols and codes first, then words that only the countries of one currency print.
// The case of a code matters.
var hints = []hint{
	sign("MYR", 3, ``, `RM|MYR`),
	sign("EUR", 3, `€`, `(?i:EUR|EURO|EUROS)`),
	sign("GBP", 3, `£`, `GBP`),
	sign("SGD", 4, `S\$\s?\d`, `SGD`),
	sign("AUD", 4, `AU?\$\s?\d`, `AUD`),
	sign("CAD", 4, `CA?\$\s?\d`, `CAD`),
	sign("NZD", 4, `NZ\$`, `NZD`),
	sign("HKD", 4, `HK\$`, `HKD`),
	sign("USD", 3, `US\$`, `USD`),
	word("USD", 1, `(?:^|[^A-Za-z])\$\s?\d`),
	sign("CHF", 3, ``, `CHF|SFr|Fr\.`),
	sign("INR", 3, `₹`, `INR|Rs\.?`),
	sign("JPY", 3, `円`, `JPY`),
	word("JPY", 1, `[¥￥]\s?\d`),
	sign("CNY", 3, `元`, `CNY|RMB`),
	sign("PLN", 3, `zł`, `PLN`),
	sign("CZK", 3, `Kč`, `CZK`),
	sign("SEK", 3, ``, `SEK`),
	sign("NOK", 3, ``, `NOK`),
	sign("DKK", 3, ``, `DKK`),
	sign("IDR", 3, ``, `IDR|Rp\.?`),
	sign("THB", 3, `฿`, `THB`),
	sign("BRL", 3, `R\$`, `BRL`),
	sign("MXN", 3, ``, `MXN`),
	sign("KRW", 3, `₩`, `KRW`),
	sign("TRY", 3, `₺`, `TRY`),
	sign("HUF", 3, `\d\s?Ft\b`, `HUF`),
	sign("RUB", 3, `₽`, `RUB`),
	sign("RON", 3, ``, `RON|(?i:lei)`),
	word("MYR", 1.5, `(?i)\b(?:sdn\.?\s*bhd|malaysia|selangor|kuala lumpur|johor|penang|petaling|`+
		`jalan|jln|taman|tunai|jumlah|lorong)\b`),
	// In "RM", the M is misread as N or H.
	word("MYR", 1.2, `(?:^|[^A-Za-z])R[NH]\s?\d+[.,]\s?\d\d(?:\D|$)|\(R[NH]\)`),
	word("MYR", 1.5, `(?i)\bgst\b.{0,12}\b00\d{10}\b`),
	word("EUR", 1.5, `(?i)\b(?:mwst|ust-?id|steuer-?nr|gmbh|deutschland|filiale|summe|`+
		`r[üu]ckgeld)\b`),
	word("EUR", 1.5, `(?i)\b(?:tva|siret|siren|sarl|ttc|naf|france|s\.l\.|nif|c\.i\.f|españa|`+
		`p\.?\s?iva|partita iva|scontrino|btw|kvk|nederland|oib)\b`),
	word("EUR", 1, `(?i)\b(?:factura simplificada|efectivo|di cui iva|contante|totale|esp[èe]ces|`+
		`caisse)\b`),
	word("GBP", 1.5, `\b(?i:vat\s*(?:reg|no)|united kingdom|london)\b|`+
		`\b[A-Z]{1,2}\d{1,2}[A-Z]?\s\d[A-Z]{2}\b`),
	word("INR", 1.5, `(?i)\b(?:gstin|cgst|sgst|igst|pvt\.?\s*ltd|india|bengaluru|mumbai|delhi)\b`),
	word("CHF", 1.5, `(?i)\bche-?\d{3}|\bschweiz\b|\bsuisse\b`),
	word("SGD", 1.5, `(?i)\bsingapore\b|\bpte\.?\s*ltd\b`),
	word("USD", 1.5, `(?i)\bsales tax\b`),
	{"USD", 1.5, USZip},
}

// currencyWords has the words that only the countries of a currency print. wordWeight is the weight
// of a line with one.
var currencyWords = func() map[string]Phrases {
	out := map[string]Phrases{}
	for code, words := range vocabulary.Currencies() {
		out[code] = foldedPhrases(words)
	}
	return out
}()

const wordWeight = 1.2

// sign returns a hint for symbols, and for codes without a letter beside them.
func sign(currency string, weight float64, symbols, codes string) hint {
	pattern := `(?:^|[^A-Za-z])(?:` + codes + `)(?:[^A-Za-z]|$)`
	if symbols != "" {
		pattern = symbols + `|` + pattern
	}
	return word(currency, weight, pattern)
}

func word(currency string, weight float64, pattern string) hint {
	return hint{currency, weight, regexp.MustCompile(pattern)}
}

// FindCurrency returns the currency with the most points, or none if two have the most. Each hint
// counts once per line, on at most four lines.
func FindCurrency(lines []*Line) Field {
	scores := map[string]float64{}
	where := map[string]*Line{}
	total := 0.0
	for code, words := range currencyWords {
		for _, l := range lines {
			if scores[code] < 4*wordWeight && words.Has(l.Tokens) {
				scores[code] += wordWeight
				total += wordWeight
				where[code] = l
			}
		}
	}
	for _, hint := range slices.Concat(hints, companyNumbers) {
		count := 0.0
		for _, l := range lines {
			if !hint.pattern.MatchString(l.Text) {
				continue
			}
			if where[hint.code] == nil {
				where[hint.code] = l
			}
			count++
		}
		if hint.weight <= 1 {
			// Other countries print this symbol, too.
			count = min(count, 1)
		}
		points := hint.weight * min(count, 4)
		scores[hint.code] += points
		total += points
	}
	if total == 0 {
		return currencyOfTotal(lines)
	}
	ranked := slices.SortedFunc(maps.Keys(scores), func(a, b string) int {
		return cmp.Compare(scores[b], scores[a])
	})
	best := ranked[0]
	// An invoice may have the numbers of a seller and a buyer of different countries.
	contradictory := len(ranked) > 1 && scores[ranked[1]] == scores[best]
	if scores[best] <= 1 || contradictory {
		// Many countries use the $ sign. A code beside the total decides.
		if beside := currencyOfTotal(lines); beside.Value != "" || contradictory {
			return beside
		}
	}
	confidence := scores[best] / total * (0.6 + 0.1*min(scores[best], 4))
	return Field{Value: best, Confidence: min(0.98, confidence), At: where[best]}
}

// currencyOfTotal returns the ISO 4217 code printed beside a total. Elsewhere, three capital
// letters are usually a word.
func currencyOfTotal(lines []*Line) Field {
	for _, l := range lines {
		if l.Kind != KindTotal || len(l.Amounts) == 0 {
			continue
		}
		for _, w := range l.Words {
			if c, ok := money.ParseCurrency(w.Text); ok && c.Code() == w.Text {
				return Field{Value: w.Text, Confidence: 0.7, At: l}
			}
		}
	}
	return Field{}
}

// USZip matches the state and the ZIP code in an American address.
var USZip = regexp.MustCompile(`\b(?:A[LKZR]|C[AOT]|D[CE]|FL|GA|HI|I[DLNA]|K[SY]|LA|M[EDAINSOT]|` +
	`N[EVHJMYCD]|O[HKR]|PA|RI|S[CD]|T[NX]|UT|V[TA]|W[AVIY])\.?,?\s+\d{5}(?:-\d{4})?\b`)
