package written

import (
	_ "embed" // For currencies.txt.
	"strings"
	"unicode"

	"github.com/coffer-budget/coffer/internal/money"
)

//go:embed currencies.txt
var currencyPhrases string

// currencyUnits and currencyNames map symbols and names in lower case to the currencies that they
// mean: units only beside an amount or in a cell of their own, and names also in a sentence.
// sharedUnits are those of them that other currencies have, too.
var currencyUnits, currencyNames, sharedUnits = newCurrencies()

func newCurrencies() (units, names map[string]string, shared map[string]bool) {
	units, names, shared = make(map[string]string), make(map[string]string), make(map[string]bool)
	for section, phrase := range Phrases(currencyPhrases) {
		if section == "shared" {
			shared[strings.ToLower(strings.Trim(phrase, unitMarks))] = true
			continue
		}
		code, unit, _ := strings.Cut(section, " ")
		for _, key := range []string{strings.ToLower(phrase), Fold(phrase)} {
			isName := unit == "" && len(key) < 2
			if key == "" || isName || key != phrase && strings.ContainsFunc(phrase, isSymbol) {
				continue // Without its symbol, a phrase may mean anything, and so may one letter.
			}
			if units[key] = code; unit == "" {
				names[key] = code
			}
		}
	}
	return units, names, shared
}

// unitMarks are characters around a unit that do not belong to it.
const unitMarks = " .:()[]"

// IsShared reports whether a text is a unit that several currencies have, such as "FCFA" in West
// and in Central Africa. CurrencyOf returns one of them.
func IsShared(unit string) bool {
	return sharedUnits[strings.ToLower(strings.Trim(unit, unitMarks))]
}

// SharedIn returns the unit in a text that several currencies have, or "".
func SharedIn(text string) string {
	for part := range strings.FieldsFuncSeq(text, func(r rune) bool {
		return !unicode.IsLetter(r) && !isSymbol(r) && r != ' '
	}) {
		for _, unit := range append([]string{strings.TrimSpace(part)}, strings.Fields(part)...) {
			if IsShared(unit) {
				return unit
			}
		}
	}
	return ""
}

// whole are the currencies whose amounts usually have no decimals, although ISO 4217 has some.
var whole = WordSet("cop huf idr lak mmk twd uzs")

// IsWhole reports whether the amounts of a currency usually have no decimals, although it has some.
func IsWhole(code string) bool { return whole[strings.ToLower(code)] }

// CurrencyOf returns the currency of a code or symbol, or "".
func CurrencyOf(unit string) string {
	if _, name, found := strings.Cut(unit, "::"); found {
		unit = name // GnuCash writes the kind of a unit before it: "CURRENCY::USD".
	}
	unit = strings.ToLower(strings.Trim(unit, unitMarks))
	// "CAD$" is the dollar of Canada.
	if c, ok := money.ParseCurrency(strings.TrimRightFunc(unit, isSymbol)); ok {
		return c.Code()
	}
	if code := currencyUnits[unit]; code != "" {
		return code
	}
	return currencyUnits[Fold(unit)]
}

// isSymbol reports whether a character can be a part of a symbol of a currency.
func isSymbol(r rune) bool { return unicode.Is(unicode.Sc, r) }

// quotes removes the marks inside of abbreviations in Hebrew.
var quotes = strings.NewReplacer(`"`, "", "״", "", "'", "")

// CurrencyIn returns the currency that a text names as a word or symbol, such as "Amount (EUR)", or
// "".
func CurrencyIn(text string) string {
	for part := range strings.FieldsFuncSeq(quotes.Replace(text), func(r rune) bool {
		return !unicode.IsLetter(r) && !isSymbol(r) && r != ' '
	}) {
		part = strings.TrimSpace(part)
		if code := currencyNames[strings.ToLower(part)]; code != "" {
			return code
		}
		for word := range strings.FieldsSeq(part) {
			if code := currencyNames[strings.ToLower(word)]; code != "" {
				return code
			}
			word = strings.TrimRightFunc(word, isSymbol)
			isCode := len(word) == 3 && word == strings.ToUpper(word)
			isWord := word != part && currencyUnits[strings.ToLower(word)] != "" &&
				(part == strings.ToUpper(part) || len(strings.Fields(part)) > 2)
			if !isCode || isWord {
				continue
			}
			if c, ok := money.ParseCurrency(word); ok {
				return c.Code()
			}
		}
	}
	return ""
}
