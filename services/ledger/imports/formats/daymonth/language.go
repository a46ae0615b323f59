package daymonth

import (
	_ "embed" // For dayfirst.txt.
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/coffer-budget/coffer/services/ledger/imports/formats/statement"
	"github.com/coffer-budget/coffer/services/ledger/imports/formats/written"
)

// vocabulary has the words and currencies that show that the month is not first.
//
//go:embed dayfirst.txt
var vocabulary string

// dayFirst are words in the headings of languages that never write the month first, and
// dayFirstCurrencies the currencies of banks that never do. mixedCurrencies are those of which some
// files have the month first, although their headings are in such a language.
var dayFirst, dayFirstCurrencies, mixedCurrencies = newDayFirst()

func newDayFirst() (words, currencies, mixed map[string]bool) {
	sets := map[string]map[string]bool{"heading": {}, "currency": {}, "mixed": {}}
	for section, phrase := range written.Phrases(vocabulary) {
		sets[section][phrase] = true
	}
	return sets["heading"], sets["currency"], sets["mixed"]
}

// otherScripts are scripts of languages that never write the month first. Files with Chinese,
// Japanese or Korean texts have dates of several countries.
var otherScripts = []*unicode.RangeTable{
	unicode.Cyrillic, unicode.Greek, unicode.Hebrew, unicode.Arabic, unicode.Thai,
}

// minHeadings is the number of headings that show a language. One may be a name.
const minHeadings = 2

// withoutMonthFirst returns the orders in which the month is not first.
func (f *File) withoutMonthFirst() []written.Orders {
	return f.allowed(func(o written.Orders) bool { return o != written.MDY })
}

// byLanguage asks the language of the headings, unless it shows nothing beside the currencies.
func byLanguage(f *File) ([]written.Orders, statement.Evidence) {
	isOther := func(code string) bool { return !mixedCurrencies[code] }
	if len(f.Currencies) > 0 && !slices.ContainsFunc(f.Currencies, isOther) {
		return f.Orders, statement.Evidence{}
	}
	var found []string
	for _, title := range f.Headings {
		if isDayFirst(title) {
			found = append(found, title)
		}
	}
	if len(found) < minHeadings {
		return f.Orders, statement.Evidence{}
	}
	return f.withoutMonthFirst(), statement.Shows("DATES_BY_LANGUAGE",
		"heading", strconv.Quote(statement.Text(found[0], statement.MaxName)))
}

// isDayFirst reports whether a heading is in a language that never writes the month first.
func isDayFirst(title string) bool {
	for word := range strings.FieldsSeq(written.Fold(title)) {
		if dayFirst[word] {
			return true
		}
	}
	return strings.ContainsFunc(title, func(r rune) bool {
		return unicode.In(r, otherScripts...) ||
			r > unicode.MaxASCII && unicode.In(r, unicode.Latin) && unicode.IsLetter(r)
	})
}

// byCurrency asks the currency of a file: some countries whose banks have English headings never
// write the month first.
func byCurrency(f *File) ([]written.Orders, statement.Evidence) {
	if len(f.Currencies) != 1 || !dayFirstCurrencies[f.Currencies[0]] {
		return f.Orders, statement.Evidence{}
	}
	return f.withoutMonthFirst(),
		statement.Shows("DATES_BY_CURRENCY", "currency", f.Currencies[0])
}

// iban matches an IBAN without spaces, perhaps with some digits replaced.
var iban = regexp.MustCompile(`^[A-Z]{2}\d{2}[A-Z0-9]{4,}[A-Z0-9*xX]{7,26}$`)

// IsIBAN reports whether a text is an IBAN.
func IsIBAN(text string) bool {
	return len(text) < 50 && iban.MatchString(strings.ReplaceAll(text, " ", ""))
}

// byAccount asks the country of the account: no country with IBANs writes the month first.
func byAccount(f *File) ([]written.Orders, statement.Evidence) {
	if f.Account == "" {
		return f.Orders, statement.Evidence{}
	}
	return f.withoutMonthFirst(), statement.Shows("DATES_BY_ACCOUNT", "account", f.Account)
}

// OfLocale returns the order of a locale's dates, or 0 for ymd and for no locale.
func OfLocale(locale string) written.Orders {
	language, region, _ := strings.Cut(strings.ReplaceAll(locale, "_", "-"), "-")
	switch region = strings.ToUpper(region); {
	case language == "":
		return 0
	case region == "US" || language == "en" && (region == "" || region == "PH"):
		return written.MDY
	}
	return written.DMY
}
