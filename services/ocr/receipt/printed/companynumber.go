package printed

import (
	"regexp"
	"strconv"
)

// numberWeight is the weight of a company's number. A symbol has more, because an invoice also has
// the number of the buyer, and some sellers are registered abroad.
const numberWeight = 2

// companyNumbers are the hints of the numbers that tax offices give to companies. Their form or
// their prefix shows the country.
var companyNumbers = []hint{
	taxID("EUR", `ATU`, 8), taxID("EUR", `BE`, 10), taxID("EUR", `DE`, 9), taxID("EUR", `EE`, 9),
	taxID("EUR", `FI`, 8), taxID("EUR", `FR\s?[A-Z0-9]{2}`, 9), taxID("EUR", `GR|EL`, 9),
	taxID("EUR", `HR`, 11), taxID("EUR", `IT`, 11), taxID("EUR", `LU`, 8), taxID("EUR", `LV`, 11),
	taxID("EUR", `NL`, 9), taxID("EUR", `PT`, 9), taxID("EUR", `SI`, 8), taxID("EUR", `SK`, 10),
	taxID("GBP", `GB`, 9), taxID("DKK", `DK`, 8), taxID("SEK", `SE`, 12), taxID("PLN", `PL`, 10),
	taxID("HUF", `HU`, 8), taxID("CZK", `CZ`, 8), taxID("CZK", `CZ`, 9), taxID("CZK", `CZ`, 10),
	companyNumber("NOK", `(?:\d\s?){9}MVA\b`),
	companyNumber("PLN", `\bNIP\W{0,3}`+digits(10)),
	companyNumber("AUD", `\bABN\W{0,3}`+digits(11)),
	companyNumber("CAD", `\b\d{9}\s?RT\s?\d{4}\b`),
	companyNumber("BRL", `\b\d{2}\.\d{3}\.\d{3}/\d{4}-\d{2}\b`),
	companyNumber("HUF", `\b\d{8}-\d-\d{2}\b`),
	companyNumber("JPY", `\bT\d{13}\b`),
	companyNumber("KRW", `\b\d{3}-\d{2}-\d{5}\b`),
	companyNumber("SGD", `\bM[2R]-?\d{7}-?\d\b`),
}

// taxID returns the hint for a VAT number with the prefix of its country and that many digits. A
// bank account begins alike and has more digits.
func taxID(currency, prefix string, n int) hint {
	return companyNumber(currency, `(?:^|[^A-Za-z])(?:`+prefix+`)[\s-]?`+digits(n))
}

func companyNumber(currency, pattern string) hint {
	return hint{currency, numberWeight, regexp.MustCompile(pattern)}
}

// digits matches n digits, also in groups, and no further one.
func digits(n int) string {
	return `(?:\d[ .-]?){` + strconv.Itoa(n-1) + `}\d(?:\D|$)`
}
