package daymonth

import (
	"regexp"
	"strconv"
	"strings"
	"unicode"

	"github.com/coffer-budget/coffer/services/ledger/imports/formats/statement"
	"github.com/coffer-budget/coffer/services/ledger/imports/formats/written"
)

// dayFirst are words in the headings of languages that never write the month first. Words that are
// also English are left out.
var dayFirst = written.WordSet(`datum buchungstag buchungsdatum betrag umsatz wertstellung
	verwendungszweck buchungstext auftraggeber empfanger bedrag omschrijving naam tegenrekening
	libelle montant solde fecha importe monto concepto movimiento cargo abono saldo
	valor descricao lancamento historico importo descrizione causale dato tekst belopp belob belop
	beloep transaktionsdatum bokforingsdag bokforingsdato paivamaara kirjauspaiva maara summa kwota
	opis castka popis suma osszeg kozlemeny descriere iznos svrha znesek namen tarih tutar aciklama
	kuupaev selgitus datums merkis paskirtis shuma pershkrimi dagsetning upphaed tanggal tgl
	keterangan jumlah tarikh nominal ngay tarehe maelezo kiasi`)

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

// byLanguage asks the language of the headings. Some Spanish files of accounts in dollars have the
// month first.
func byLanguage(f *File) ([]written.Orders, statement.Evidence) {
	if f.Currency == "USD" {
		return nil, statement.Evidence{}
	}
	var found []string
	for _, title := range f.Headings {
		if isDayFirst(title) {
			found = append(found, title)
		}
	}
	if len(found) < minHeadings {
		return nil, statement.Evidence{}
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
	switch f.Currency {
	case "GBP", "AUD", "NZD", "INR", "ZAR", "SGD", "MYR", "CHF", "SEK", "NOK", "DKK":
		return f.withoutMonthFirst(), statement.Shows("DATES_BY_CURRENCY", "currency", f.Currency)
	}
	return nil, statement.Evidence{}
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
		return nil, statement.Evidence{}
	}
	return f.withoutMonthFirst(), statement.Shows("DATES_BY_ACCOUNT", "account", f.Account)
}
