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
// mean without doubt: units only beside an amount or in a cell of their own, and names also in a
// sentence.
var currencyUnits, currencyNames = newCurrencies()

func newCurrencies() (units, names map[string]string) {
	units, names = make(map[string]string), make(map[string]string)
	for section, phrase := range Phrases(currencyPhrases) {
		code, unit, _ := strings.Cut(section, " ")
		for _, key := range []string{strings.ToLower(phrase), Fold(phrase)} {
			if len(key) < 2 || key != phrase && strings.ContainsFunc(phrase, isSymbol) {
				continue // Without its symbol, a phrase may mean anything.
			}
			if units[key] = code; unit == "" {
				names[key] = code
			}
		}
	}
	return units, names
}

// whole are the currencies whose amounts usually have no decimals, although ISO 4217 has some.
var whole = WordSet("cop huf idr lak mmk twd uzs")

// IsWhole reports whether the amounts of a currency usually have no decimals, although it has some.
func IsWhole(code string) bool { return whole[strings.ToLower(code)] }

// CurrencyOf returns the currency of a code or symbol, or "".
func CurrencyOf(unit string) string {
	unit = strings.ToLower(strings.Trim(unit, " .:()[]"))
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
