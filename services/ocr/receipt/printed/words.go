package printed

import (
	"regexp"
	"slices"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// Phrases is a vocabulary of phrases, each a list of folded words: lower case, without accents. The
// vocabularies cover English, German, French, Spanish and Italian, and words that receipts of other
// countries mix with English.
type Phrases [][]string

// PhraseList parses phrases separated by commas.
func PhraseList(text string) Phrases {
	var out Phrases
	for p := range strings.SplitSeq(text, ",") {
		out = append(out, strings.Fields(p))
	}
	return out
}

var (
	totalWords = PhraseList(`total,grand total,totalrm,amount due,balance due,amount payable,
		total payable,to pay,to be paid,zu bezahlen,total amt,ttl,nett total,net total,summe,gesamt,
		gesamtbetrag,gesamtsumme,endbetrag,endsumme,zu zahlen,zahlbetrag,rechnungsbetrag,
		gesamtpreis,betrag,total ttc,montant ttc,a payer,net a payer,montant du,total a pagar,
		importe total,importe,a pagar,totale,totale complessivo,importo,da pagare,importo pagato,
		jumlah,totaal,te betalen,amount`)
	// StrongTotalWords name a total and nothing else.
	StrongTotalWords = PhraseList(`grand total,amount due,balance due,total due,total payable,
		amount payable,total rounded,rounded total,net total,nett total,after rounding,zu zahlen,
		zahlbetrag,endbetrag,gesamtbetrag,rechnungsbetrag,gesamtsumme,total ttc,net a payer,
		total a payer,montant ttc,total a pagar,importe total,totale complessivo,da pagare,
		te betalen,to pay,to be paid,zu bezahlen,nett amount,net amount`)
	// subtotalWords name an amount before taxes or charges.
	subtotalWords = PhraseList(`subtotal,sub total,subtota,subttl,sub ttl,zwischensumme,sous total,
		subtotale,totale parziale,base imponible,imponibile,total ht,montant ht,nettobetrag,netto,
		total hors taxes,net sales,total sales excl,gross,taxable`)
	// taxWords include service charges, because receipts add them like a tax.
	taxWords = PhraseList(`tax,vat,gst,sst,hst,pst,sales tax,service tax,service charge,svc chg,
		svc charge,serv chg,serv charge,svc,srv chg,srv charge,service chg,serv tax,mwst,ust,
		mehrwertsteuer,umsatzsteuer,steuer,tva,taxe,taxes,iva,imposta,btw,igst,cgst,sgst`)
	cashWords = PhraseList(`cash,pay,tendered,tender,paid,amount paid,payment,visa,mastercard,
		master,maestro,amex,card,credit card,debit,debit card,credit,bar,bargeld,gegeben,girocard,
		karte,kartenzahlung,ec cash,kreditkarte,lastschrift,especes,carte,carte bancaire,cb,cheque,
		regle,recu,efectivo,tarjeta,entregado,pagado,contanti,contante,pagamento,bancomat,carta,
		tunai,ewallet,paypal,pagato,received,pinpas,pin`)
	changeWords = PhraseList(`change,change due,ruckgeld,zuruck,wechselgeld,rendu,a rendre,
		monnaie,cambio,vuelto,devolucion,resto,baki,wisselgeld,balance returned`)
	tipWords      = PhraseList(`tip,gratuity,trinkgeld,pourboire,propina,mancia`)
	discountWords = PhraseList(`discount,disc,less,rabatt,nachlass,remise,reduction,descuento,dto,
		sconto,saving,savings,coupon,voucher,promo,promotion,gutschein,offerta,ersparnis,
		preisvorteil,member discount,korting,diskaun`)
	roundingWords = PhraseList(`rounding,rounding adj,rounding adjustment,round,rounded,round adj,
		roundings,rnd,rundung,gerundet,arrondi,redondeo,arrotondamento`)
	// countWords name numbers of articles, points or savings. These are not amounts to pay.
	countWords = PhraseList(`qty,quantity,item,items,item s,pcs,count,no of items,artikel,anzahl,
		menge,posten,articles,nombre,articulos,unidades,pezzi,articoli,points,point,punkte,
		points earned,saving,savings,saved,discount,disc,rabatt,weight`)
	// inclusiveWords and exclusiveWords say whether a total contains the tax.
	inclusiveWords = PhraseList(`incl,inclusive,including,inclu,inkl,inklusive,inc,included,
		inclusief,after,ttc,with,ti,brutto,payable,incluido,iva incl,compreso`)
	exclusiveWords = PhraseList(`excl,exclusive,excluding,exclude,before,ohne,ex,hors,ht,netto,
		excluded,w o,without`)
)

// Fold returns lower case without accents.
func Fold(s string) string {
	var b strings.Builder
	for _, r := range norm.NFD.String(s) {
		switch {
		case unicode.Is(unicode.Mn, r):
		case r == 'ß':
			b.WriteString("ss")
		default:
			b.WriteRune(unicode.ToLower(r))
		}
	}
	return b.String()
}

// Tokens returns the folded words of a line. It repairs misread letters, and joins those printed
// with spaces between them. Numbers are omitted.
func Tokens(text string) []string {
	fields := strings.FieldsFunc(Fold(text), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '|'
	})
	var out []string
	spaced := ""
	flush := func() {
		// Fewer single letters are abbreviations, such as "S A", and not a word printed with
		// spaces.
		if len(spaced) >= 4 {
			out = append(out, spaced)
		} else {
			for _, r := range spaced {
				out = append(out, string(r))
			}
		}
		spaced = ""
	}
	for _, f := range fields {
		if len(f) == 1 && unicode.IsLetter(rune(f[0])) {
			spaced += f
			continue
		}
		flush()
		word := asLetters(f)
		if rest, glued := strings.CutPrefix(word, "total"); glued && len(rest) >= 3 {
			// "TOTAL(INCL" was read as one word, with the bracket as a letter, or "TOTAL GST"
			// without the space.
			out = append(out, "total", strings.TrimPrefix(rest, "c"))
		} else if word != "" {
			out = append(out, word)
		}
	}
	flush()
	return out
}

// gst matches the name of a tax, whose letters resemble digits.
var gst = regexp.MustCompile(`^[g6o0c][s58]t$`)

// letterFor replaces digits that engines read in place of letters, the inverse of lookalike.
var letterFor = strings.NewReplacer("0", "o", "1", "l", "5", "s", "8", "b", "|", "l")

// asLetters repairs misread letters in a word. It returns "" for a number.
func asLetters(field string) string {
	if gst.MatchString(field) {
		return "gst"
	}
	// In "change10", the engine has lost the space before an amount.
	word := strings.TrimRight(field, "0123456789")
	if len(word) >= 4 && len(field)-len(word) >= 2 && !strings.ContainsAny(word, "0123456789") {
		return word
	}
	letters, digits := 0, 0
	for _, r := range field {
		if unicode.IsLetter(r) {
			letters++
		} else {
			digits++
		}
	}
	switch {
	case letters == 0:
		return ""
	case digits == 0:
		return field
	// A word may have one misread letter in four. With more digits, it is a code.
	case letters >= 3 && digits*3 <= letters:
		return letterFor.Replace(field)
	}
	// In "rm12", the letters are a currency code.
	return strings.TrimRightFunc(field, unicode.IsDigit)
}

// Has reports whether the words contain one of the phrases, also misspelled.
func (p Phrases) Has(words []string) bool { return p.Find(words) >= 0 }

// Find returns the index of the first word of the first match, or -1.
func (p Phrases) Find(words []string) int {
	for i := range words {
		for _, phrase := range p {
			n := min(len(phrase), len(words)-i)
			if slices.EqualFunc(phrase, words[i:i+n], similar) {
				return i
			}
		}
	}
	return -1
}

// similar reports whether a recognized word is the word of the vocabulary. One wrong letter is
// allowed from five letters, two from nine. Shorter words must be equal, because too many others
// are one letter away.
func similar(want, got string) bool {
	if want == got {
		return true
	}
	// A "nett total" is the amount to pay, and "netto" an amount without tax.
	if want == "netto" && got == "nett" {
		return false
	}
	allowed := 0
	switch n := len(want); {
	case n >= 9:
		allowed = 2
	case n >= 5:
		allowed = 1
	}
	// "charge" is one letter from "change", but is another kind of amount.
	if want == "change" && strings.HasPrefix(got, "charge") {
		return false
	}
	if allowed == 0 || len(got) > len(want)+allowed || len(got) < len(want)-allowed {
		return false
	}
	// A wrong first letter must be the only error, because many words have the same ending.
	if want[0] != got[0] && want[1:] != got[1:] {
		return false
	}
	return Distance(want, got) <= allowed
}

// Distance returns the Levenshtein distance of two strings, in bytes.
func Distance(a, other string) int {
	row := make([]int, len(other)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(other) {
			cost := diagonal
			if a[i] != other[j] {
				cost++
			}
			diagonal = row[j+1]
			row[j+1] = min(cost, row[j]+1, diagonal+1)
		}
	}
	return row[len(other)]
}

// Lettered matches a word of at least three letters.
var Lettered = regexp.MustCompile(`\p{L}{3,}`)

// notNames are units, tax codes, currencies and words of a table.
var notNames = PhraseList(`pcs,pkt,unit,units,each,nos,set,eur,usd,myr,rm,kg,gst,sst,tax,disc,stk,
	btl,ctn,box,bag`)

// CodesOnly reports whether all words are figures or notNames.
func CodesOnly(words []string) bool {
	for _, w := range words {
		if Lettered.MatchString(w) && !notNames.Has(Tokens(w)) {
			return false
		}
	}
	return true
}
