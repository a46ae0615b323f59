package written

import (
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// Fold returns text for comparisons: compatibility forms, lower case, no accents, single spaces
// instead of punctuation.
func Fold(s string) string {
	s = stripAccents(strings.ToLower(norm.NFKC.String(s)))
	return strings.Join(strings.FieldsFunc(s, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '+' && r != '-'
	}), " ")
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
