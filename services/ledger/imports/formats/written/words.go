package written

import (
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"

	"github.com/coffer-budget/coffer/internal/money"
)

// Fold returns text for comparisons: compatibility forms, lower case, no accents, single spaces
// instead of punctuation.
func Fold(s string) string {
	s = stripAccents(strings.ToLower(norm.NFKC.String(s)))
	return strings.Join(strings.FieldsFunc(s, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '+' && r != '-'
	}), " ")
}

// symbols maps currency symbols to the currencies that they mean without doubt. "$", "kr" and "¥"
// mean several.
var symbols = map[string]string{
	"€": "EUR", "£": "GBP", "円": "JPY", "人民币": "CNY", "rmb": "CNY", "zł": "PLN", "zl": "PLN",
	"kč": "CZK", "kc": "CZK", "ft": "HUF", "r$": "BRL", "₹": "INR", "₽": "RUB", "₴": "UAH",
	"₺": "TRY", "₩": "KRW", "₪": "ILS", "฿": "THB", "₫": "VND", "₱": "PHP", "₦": "NGN",
	"us$": "USD", "fr": "CHF", "sfr": "CHF", "euro": "EUR", "euros": "EUR", "eur": "EUR",
	"лв": "BGN", "lei": "RON", "a$": "AUD", "c$": "CAD", "nz$": "NZD", "hk$": "HKD", "s$": "SGD",
	"руб": "RUB", "₸": "KZT", "₼": "AZN", "₾": "GEL", "tl": "TRY",
}

// CurrencyOf returns the currency of a code or symbol, or "".
func CurrencyOf(unit string) string {
	unit = strings.ToLower(strings.Trim(unit, " .:()[]"))
	if c, ok := money.ParseCurrency(unit); ok {
		return c.Code()
	}
	return symbols[unit]
}

// CurrencyIn returns the currency that a text names as a word or symbol, such as "Amount (EUR)", or
// "".
func CurrencyIn(text string) string {
	for word := range strings.FieldsFuncSeq(text, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.Is(unicode.Sc, r)
	}) {
		// "CAD$" is the dollar of Canada.
		word = strings.TrimSuffix(word, "$")
		if lower := strings.ToLower(word); lower == "euros" || lower == "euro" || lower == "euroa" {
			return "EUR"
		}
		if len(word) == 3 && word == strings.ToUpper(word) {
			if c, ok := money.ParseCurrency(word); ok {
				return c.Code()
			}
		}
		if strings.IndexFunc(word, func(r rune) bool { return unicode.Is(unicode.Sc, r) }) >= 0 {
			if code := symbols[strings.ToLower(word)]; code != "" {
				return code
			}
		}
	}
	return ""
}

// The values of type columns, folded.
var (
	outWords = WordSet(`d dr db debit debitor debitado debet s soll af out outflow withdrawal
		withdraw payment - debito cargo depense sortie uscita addebito addebiti dare saida gasto
		expense expenses ausgabe ausgaben belastung lastschrift uit udgift utgift wyplata
		obciazenie wydatek vydaj terheles kiadas meno pano расход списание дебет borc sale
		purchase dbit spent sent 支出 出金 借 χ χρεωση debitposten t deebet debets lastschriftbuchung
		abbuchung uitgaven uznato t- debits exp transfer-out`)
	inWords = WordSet(`c cr credit kredit h haben bij in inflow deposit + credito abono ingreso
		recette entree entrata accredito accrediti avere entrada income einnahme einnahmen
		gutschrift indtaegt inntekt wplata uznanie przychod prijem jovairas bevetel tulo приход
		зачисление кредит alacak refund crdt received return inkomsten eingang credits k j kreedit
		kredits 收入 入金 贷 貸 π πιστωση transfer-in`)
)

// WordSet converts a list of words to a set.
func WordSet(list string) map[string]bool {
	set := make(map[string]bool)
	for word := range strings.FieldsSeq(list) {
		set[Fold(word)] = true
	}
	return set
}

// balanceWords begin rows that only state a balance.
var balanceWords = []string{
	"anfangssaldo", "endsaldo", "kontostand", "alter kontostand", "neuer kontostand",
	"opening balance", "closing balance", "beginning balance", "ending balance", "solde",
	"saldo inicial", "saldo final", "saldo anterior", "saldo iniziale", "saldo finale",
	"beginsaldo", "eindsaldo", "ancien solde", "nouveau solde", "balance brought forward",
	"balance carried forward", "saldo poczatkowe", "saldo koncowe", "total",
}

// balanceRows are the whole texts of rows that state a balance although they have a date and an
// amount: those of Splitwise and of banks in Brazil. Names such as "opening balance" are not among
// them, because applications also give them to a first transaction.
var balanceRows = map[string]bool{
	"total balance": true, "saldo anterior": true, "s a l d o": true, "saldo do dia": true,
}

// IsBalanceRow reports whether the text of a cell shows that its row states a balance. Longer texts
// are not folded, because each cell of a file is asked.
func IsBalanceRow(text string) bool { return len(text) <= 24 && balanceRows[Fold(text)] }

// StatesBalance reports whether a text begins with the name of a balance. Such a row is not a
// transaction: importing it would count the balance twice.
func StatesBalance(text string) bool {
	text = Fold(text)
	for _, words := range balanceWords {
		if strings.HasPrefix(text, words) {
			return true
		}
	}
	return false
}

// SignOf reports whether a value of a type column means money out, and whether the value is known.
func SignOf(value string) (negative, known bool) {
	word := Fold(value)
	switch {
	case outWords[word]:
		return true, true
	case inWords[word]:
		return false, true
	}
	// "Debit card payment" and "Credit Transfer": one known word, and none of the other kind.
	out, in := false, false
	for w := range strings.FieldsSeq(word) {
		if len(w) > 2 {
			out, in = out || outWords[w], in || inWords[w]
		}
	}
	return out, out != in
}

// Parts applies change to the parts of a text between semicolons, tabs and vertical bars, and joins
// them again. Programs that open a CSV file may split its cells there.
func Parts(s string, change func(string) string) string {
	var b strings.Builder
	for {
		at := strings.IndexAny(s, ";\t|")
		if at < 0 {
			b.WriteString(change(s))
			return b.String()
		}
		b.WriteString(change(s[:at]))
		b.WriteByte(s[at])
		s = s[at+1:]
	}
}

// UnguardParts removes the apostrophes that Coffer's export puts before each part that begins like
// a formula: it is the inverse of guard in package export.
func UnguardParts(s string) string { return Parts(s, Unguard) }

// Unguard removes the apostrophe that an export puts before a text that begins like a formula, and
// only that one. Other applications write the same apostrophe.
func Unguard(s string) string {
	rest := strings.TrimLeft(s, "'")
	if len(rest) < len(s) && rest != "" && strings.ContainsRune("=+-@\t\r", rune(rest[0])) {
		return s[1:]
	}
	return s
}
