package printed

import (
	"regexp"
	"slices"
	"strings"

	"github.com/coffer-budget/coffer/internal/money"
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
// Patterns match the text of a line as it is, because the case of a code matters.
var hints = []hint{
	{"MYR", 3, regexp.MustCompile(`(?:^|[^A-Za-z])(?:RM|MYR)(?:[^A-Za-z]|$)`)},
	{"EUR", 3, regexp.MustCompile(`€|(?:^|[^A-Za-z])(?i:EUR|EURO|EUROS)(?:[^A-Za-z]|$)`)},
	{"GBP", 3, regexp.MustCompile(`£|(?:^|[^A-Za-z])GBP(?:[^A-Za-z]|$)`)},
	{"SGD", 4, regexp.MustCompile(`S\$\s?\d|(?:^|[^A-Za-z])SGD(?:[^A-Za-z]|$)`)},
	{"AUD", 4, regexp.MustCompile(`AU?\$\s?\d|(?:^|[^A-Za-z])AUD(?:[^A-Za-z]|$)`)},
	{"CAD", 4, regexp.MustCompile(`CA?\$\s?\d|(?:^|[^A-Za-z])CAD(?:[^A-Za-z]|$)`)},
	{"NZD", 4, regexp.MustCompile(`NZ\$|(?:^|[^A-Za-z])NZD(?:[^A-Za-z]|$)`)},
	{"HKD", 4, regexp.MustCompile(`HK\$|(?:^|[^A-Za-z])HKD(?:[^A-Za-z]|$)`)},
	{"USD", 3, regexp.MustCompile(`US\$|(?:^|[^A-Za-z])USD(?:[^A-Za-z]|$)`)},
	{"USD", 1, regexp.MustCompile(`(?:^|[^A-Za-z])\$\s?\d`)},
	{"CHF", 3, regexp.MustCompile(`(?:^|[^A-Za-z])(?:CHF|SFr|Fr\.)(?:[^A-Za-z]|$)`)},
	{"INR", 3, regexp.MustCompile(`₹|(?:^|[^A-Za-z])(?:INR|Rs\.?)(?:[^A-Za-z]|$)`)},
	{"JPY", 3, regexp.MustCompile(`円|(?:^|[^A-Za-z])JPY(?:[^A-Za-z]|$)`)},
	{"JPY", 1, regexp.MustCompile(`[¥￥]\s?\d`)},
	{"CNY", 3, regexp.MustCompile(`元|(?:^|[^A-Za-z])(?:CNY|RMB)(?:[^A-Za-z]|$)`)},
	{"PLN", 3, regexp.MustCompile(`zł|(?:^|[^A-Za-z])PLN(?:[^A-Za-z]|$)`)},
	{"CZK", 3, regexp.MustCompile(`Kč|(?:^|[^A-Za-z])CZK(?:[^A-Za-z]|$)`)},
	{"SEK", 3, regexp.MustCompile(`(?:^|[^A-Za-z])SEK(?:[^A-Za-z]|$)`)},
	{"NOK", 3, regexp.MustCompile(`(?:^|[^A-Za-z])NOK(?:[^A-Za-z]|$)`)},
	{"DKK", 3, regexp.MustCompile(`(?:^|[^A-Za-z])DKK(?:[^A-Za-z]|$)`)},
	{"IDR", 3, regexp.MustCompile(`(?:^|[^A-Za-z])(?:IDR|Rp\.?)(?:[^A-Za-z]|$)`)},
	{"THB", 3, regexp.MustCompile(`฿|(?:^|[^A-Za-z])THB(?:[^A-Za-z]|$)`)},
	{"BRL", 3, regexp.MustCompile(`R\$|(?:^|[^A-Za-z])BRL(?:[^A-Za-z]|$)`)},
	{"MXN", 3, regexp.MustCompile(`(?:^|[^A-Za-z])MXN(?:[^A-Za-z]|$)`)},
	{"KRW", 3, regexp.MustCompile(`₩|(?:^|[^A-Za-z])KRW(?:[^A-Za-z]|$)`)},
	{"TRY", 3, regexp.MustCompile(`₺|(?:^|[^A-Za-z])TRY(?:[^A-Za-z]|$)`)},
	{"MYR", 1.5, regexp.MustCompile(`(?i)\b(?:sdn\.?\s*bhd|malaysia|selangor|kuala lumpur|johor|penang|petaling|jalan|jln|taman|tunai|jumlah|lorong)\b`)},
	// In "RM", the M is misread as N or H.
	{"MYR", 1.2, regexp.MustCompile(`(?:^|[^A-Za-z])R[NH]\s?\d+[.,]\s?\d\d(?:\D|$)|\(R[NH]\)`)},
	{"MYR", 1.5, regexp.MustCompile(`(?i)\bgst\b.{0,12}\b00\d{10}\b`)},
	{"EUR", 1.5, regexp.MustCompile(`(?i)\b(?:mwst|ust-?id|steuer-?nr|gmbh|deutschland|filiale|summe|r[üu]ckgeld)\b`)},
	{"EUR", 1.5, regexp.MustCompile(`(?i)\b(?:tva|siret|siren|sarl|ttc|naf|france|s\.l\.|nif|c\.i\.f|españa|p\.?\s?iva|partita iva|scontrino|btw|kvk|nederland|oib)\b`)},
	{"EUR", 1, regexp.MustCompile(`(?i)\b(?:factura simplificada|efectivo|di cui iva|contante|totale|esp[èe]ces|caisse)\b`)},
	{"GBP", 1.5, regexp.MustCompile(`\b(?i:vat\s*(?:reg|no)|united kingdom|london)\b|\b[A-Z]{1,2}\d{1,2}[A-Z]?\s\d[A-Z]{2}\b`)},
	{"INR", 1.5, regexp.MustCompile(`(?i)\b(?:gstin|cgst|sgst|igst|pvt\.?\s*ltd|india|bengaluru|mumbai|delhi)\b`)},
	{"CHF", 1.5, regexp.MustCompile(`(?i)\bche-?\d{3}|\bschweiz\b|\bsuisse\b`)},
	{"SGD", 1.5, regexp.MustCompile(`(?i)\bsingapore\b|\bpte\.?\s*ltd\b`)},
	{"USD", 1.5, regexp.MustCompile(`(?i)\bsales tax\b`)},
	{"USD", 1.5, USZip},
}

// FindCurrency returns the currency with the most points. Each hint counts once per line, on at
// most four lines. The confidence depends on the share of all points and on their number.
func FindCurrency(lines []*Line) Field {
	scores := map[string]float64{}
	where := map[string]*Line{}
	total := 0.0
	for _, c := range hints {
		n := 0.0
		for _, l := range lines {
			if !c.pattern.MatchString(l.Text) {
				continue
			}
			if where[c.code] == nil {
				where[c.code] = l
			}
			n++
		}
		if c.weight <= 1 {
			// Other countries print this symbol, too, so repetition adds no information.
			n = min(n, 1)
		}
		scores[c.code] += c.weight * min(n, 4)
		total += c.weight * min(n, 4)
	}
	codes := make([]string, 0, len(scores))
	for code := range scores {
		codes = append(codes, code)
	}
	// The code decides between equal scores, because the order of a map is random.
	slices.SortFunc(codes, func(a, b string) int {
		if scores[a] != scores[b] {
			if scores[a] > scores[b] {
				return -1
			}
			return 1
		}
		return strings.Compare(a, b)
	})
	if total == 0 || len(codes) == 0 {
		return currencyOfTotal(lines)
	}
	best := codes[0]
	if scores[best] <= 1 {
		// Many countries use the $ sign. A code beside the total decides.
		if beside := currencyOfTotal(lines); beside.Value != "" {
			return beside
		}
	}
	share := scores[best] / total
	return Field{Value: best, Confidence: min(0.98, share*(0.6+0.1*min(scores[best], 4))), At: where[best]}
}

// currencyOfTotal returns the ISO 4217 code printed beside a total. On other lines, three capital
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
var USZip = regexp.MustCompile(`\b(?:A[LKZR]|C[AOT]|D[CE]|FL|GA|HI|I[DLNA]|K[SY]|LA|M[EDAINSOT]|N[EVHJMYCD]|O[HKR]|PA|RI|S[CD]|T[NX]|UT|V[TA]|W[AVIY])\.?,?\s+\d{5}(?:-\d{4})?\b`)
