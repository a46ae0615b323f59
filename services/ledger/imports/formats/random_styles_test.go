package formats_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/unicode"

	"github.com/coffer-budget/coffer/services/ledger/imports/formats/fixture"
)

// entry is a transaction of a random ledger, in cents. A fee lowers the balance beside the amount.
type entry struct {
	day         time.Time
	amount, fee int64
	text        string
	status      string // booked, pending or void.
	neutral     bool   // The type column does not say a direction.
	foreign     bool   // The price was in dollars.
}

// titles are the headings of a language.
type titles struct {
	date, text, amount, out, in, kind, balance, currency, status string
	kinds                                                        [2]string // Money out and in.
	states                                                       map[string]string
	fee, net                                                     string
	opening, closing                                             string // Texts of balances.
}

// unknown reports whether no vocabulary has the headings.
func (t titles) unknown() bool { return t.fee == "" }

var languages = []titles{
	{"Date", "Description", "Amount", "Debit", "Credit", "Type", "Balance", "Currency", "Status", [2]string{"debit", "credit"}, map[string]string{"booked": "Completed", "pending": "Pending", "void": "Declined"}, "Fee", "Net", "Previous balance", "Closing balance"},
	{"Date", "Text", "Amount", "Money out", "Money in", "Debit/Credit", "Balance", "Currency", "State", [2]string{"D", "C"}, map[string]string{"booked": "Posted", "pending": "Pending", "void": "Failed"}, "Transaction Fee", "Net amount", "Balance brought forward", "Balance carried forward"},
	{"Buchungstag", "Verwendungszweck", "Betrag", "Soll", "Haben", "S/H", "Saldo", "Währung", "Status", [2]string{"S", "H"}, map[string]string{"booked": "Gebucht", "pending": "Vorgemerkt", "void": "Storniert"}, "Gebühr", "Netto", "Alter Kontostand", "Endsaldo"},
	{"Date opération", "Libellé", "Montant", "Débit", "Crédit", "Sens", "Solde", "Devise", "Statut", [2]string{"Débit", "Crédit"}, map[string]string{"booked": "Comptabilisé", "pending": "En attente", "void": "Annulé"}, "Frais", "Montant net", "Ancien solde", "Nouveau solde"},
	{"Fecha", "Concepto", "Importe", "Cargo", "Abono", "Tipo", "Saldo", "Divisa", "Estado", [2]string{"Cargo", "Abono"}, map[string]string{"booked": "Completado", "pending": "Pendiente", "void": "Cancelado"}, "Comisión", "Importe neto", "Saldo inicial", "Saldo final"},
	{"Datum", "Omschrijving", "Bedrag", "Af", "Bij", "Af Bij", "Saldo", "Munt", "Status", [2]string{"Af", "Bij"}, map[string]string{"booked": "Geboekt", "pending": "In behandeling", "void": "Geweigerd"}, "Fee", "Netto", "Beginsaldo", "Eindsaldo"},
	{"Dato", "Tekst", "Beløb", "Ud", "Ind", "Type", "Saldo", "Valuta", "Status", [2]string{"Debet", "Kredit"}, map[string]string{"booked": "Udført", "pending": "Venter", "void": "Slettet"}, "Gebyr", "Netto", "Primosaldo", "Ultimosaldo"},
	{"Data operacji", "Opis operacji", "Kwota", "Obciążenia", "Uznania", "Typ", "Saldo", "Waluta", "Status", [2]string{"Wn", "Ma"}, map[string]string{"booked": "Zaksięgowano", "pending": "Oczekująca", "void": "Odrzucona"}, "Prowizja", "Netto", "Saldo początkowe", "Saldo końcowe"},
	{"交易日期", "摘要", "交易金额", "支出", "收入", "收/支", "余额", "币种", "状态", [2]string{"支出", "收入"}, map[string]string{"booked": "交易成功", "pending": "处理中", "void": "已取消"}, "手续费", "net amount", "期初余额", "期末余额"},
	// Words that no vocabulary has.
	{"Zeitpunkt X", "Wofür genau", "Wieviel", "Raus", "Rein", "Dings", "Danach", "Einheit", "Zustand", [2]string{"raus", "rein"}, map[string]string{"booked": "fertig", "pending": "bald", "void": "nie"}, "", "", "Davor", "Hernach"},
}

// style is a random way to write a ledger.
type style struct {
	titles  titles
	heading bool
	// mode is signed, inverted, columns, negativeColumns, type, marked or suffixed: "12.50 CR"
	// beside amounts without a sign, or "12.50-".
	mode                       string
	delimiter, mark, layout    string
	grouped, balance, currency bool
	status, newest, preamble   bool
	fees, net                  bool
	encoding                   string
	totals                     bool   // Rows of the opening and the closing balance.
	debt                       bool   // The balance is that of a card.
	unnamed                    bool   // No vocabulary has the heading of the balance.
	shop                       string // The place of the amount at the shop: "", before or after.
	shopTitle, symbol          string
	odd                        bool // No vocabulary has the word for booked payments.
}

// pick returns a random value.
func pick[T any](r *rand.Rand, values ...T) T { return values[r.IntN(len(values))] }

func randomStyle(r *rand.Rand) style {
	s := style{
		titles: pick(r, languages...), heading: r.IntN(10) > 0,
		mode: pick(r, "signed", "signed", "inverted", "columns", "negativeColumns", "type", "marked",
			"suffixed"),
		delimiter: pick(r, ",", ";", "\t", "|", "xlsx"), mark: pick(r, ".", ","),
		layout: pick(r, "2006-01-02", "02.01.2006", "02/01/2006", "01/02/2006", "20060102", "2 Jan 2006", "02-01-06",
			"2006/01/02 15:04", "02.01.2006, 15:04", "02-Jan-06", "January 2, 2006"),
		grouped: r.IntN(3) == 0, balance: r.IntN(2) == 0, currency: r.IntN(2) == 0,
		status: r.IntN(3) == 0, newest: r.IntN(2) == 0, preamble: r.IntN(4) == 0,
		encoding: pick(r, "utf-8", "utf-8", "utf-8-bom", "utf-16", "windows-1252"),
	}
	// Nothing in a file shows the meaning of a status or a fee in words that no bank uses.
	s.status = s.status && s.heading && !s.titles.unknown()
	s.fees = r.IntN(4) == 0 && s.heading && !s.titles.unknown()
	s.net = s.fees && s.mode == "signed" && r.IntN(2) == 0
	s.symbol = pick(r, "", "", "", "€", "EUR ")
	// Nothing shows that a balance is a debt if the amounts rise with it.
	s.debt = s.balance && s.heading && !s.titles.unknown() && s.mode != "inverted" &&
		s.mode != "marked" && r.IntN(4) == 0
	s.unnamed = r.IntN(4) == 0
	s.totals = r.IntN(4) == 0 && s.mode != "marked" && s.mode != "inverted" &&
		!s.status && !s.fees && !s.debt &&
		(!s.titles.unknown() || s.mode == "signed" || s.mode == "suffixed")
	s.odd = s.status && r.IntN(4) == 0
	if s.mode == "signed" && !s.fees && s.heading && r.IntN(3) == 0 {
		s.shop, s.shopTitle = pick(r, "before", "after"), pick(r, s.titles.amount, "Preis dort")
	}
	return s
}

// randomLedger returns transactions by day.
func randomLedger(r *rand.Rand, s style) []entry {
	spending := []string{"Supermarket", "Café am Eck", "Shoes \"Anna\"", "Bücherei; Mahnung", "Bus 12"}
	income := []string{"Anna Müller", "Flat, share", "GmbH 17"}
	day := time.Date(2023+r.IntN(2), time.Month(1+r.IntN(12)), 1+r.IntN(28), 0, 0, 0, 0, time.UTC)
	entries := make([]entry, 2+r.IntN(25))
	for i := range entries {
		day = day.AddDate(0, 0, r.IntN(5))
		e := entry{day: day, amount: -1 - r.Int64N(20_000), text: pick(r, spending...), status: "booked"}
		switch r.IntN(12) {
		case 0, 1, 2:
			e.amount, e.text = 1+r.Int64N(400_000), pick(r, income...)
		case 3:
			e.amount = -100 * (1 + r.Int64N(3_000))
		}
		if s.status && r.IntN(6) == 0 {
			e.status = pick(r, "pending", "void")
		}
		if s.fees && r.IntN(3) == 0 {
			e.fee = 1 + r.Int64N(500)
		}
		e.foreign = s.shop != "" && i > 0 && r.IntN(4) == 0
		e.neutral = s.mode == "type" && !s.titles.unknown() && r.IntN(12) == 0
		entries[i] = e
	}
	return entries
}

// mostlySpent reports whether more than half of the transactions are money out.
func mostlySpent(entries []entry) bool {
	out := 0
	for _, e := range entries {
		if e.amount < 0 {
			out++
		}
	}
	return out*2 > len(entries)
}

// number writes cents.
func (s style) number(cents int64) (text string) {
	sign := ""
	if cents < 0 {
		sign, cents = "-", -cents
	}
	whole := fmt.Sprint(cents / 100)
	if s.mode == "suffixed" {
		defer func() { text = text[len(sign):] + sign }()
	}
	if s.grouped && len(whole) > 3 {
		group := map[string]string{".": ",", ",": "."}[s.mark]
		whole = whole[:len(whole)-3] + group + whole[len(whole)-3:]
	}
	return fmt.Sprintf("%s%s%s%02d", sign, whole, s.mark, cents%100)
}

// cells returns cells if on is set.
func cells(on bool, cells ...string) []string {
	if on {
		return cells
	}
	return nil
}

// heading returns the headings of the columns.
func (s style) titlesOf() []string {
	t := s.titles
	amounts := []string{t.amount}
	switch s.mode {
	case "columns", "negativeColumns":
		amounts = []string{t.out, t.in}
	case "type":
		amounts = []string{t.amount, t.kind}
	}
	balance := t.balance
	if s.unnamed {
		balance = "Danach"
	}
	return slices.Concat([]string{t.date, t.text}, cells(s.shop == "before", s.shopTitle, t.currency),
		amounts, cells(s.fees, t.fee), cells(s.net, t.net), cells(s.currency, t.currency),
		cells(s.shop == "after", s.shopTitle, t.currency), cells(s.balance, balance),
		cells(s.status, t.status))
}

// row returns the cells of a transaction. balance is the one after it.
func (s style) row(e entry, balance int64) []string {
	price, unit := e.amount, "EUR"
	if e.foreign {
		price, unit = e.amount*11/10-1, "USD"
	}
	if s.debt {
		balance = -balance
	}
	state := s.titles.states[e.status]
	if s.odd && e.status == "booked" {
		state = "Vollzogen X"
	}
	return slices.Concat([]string{e.day.Format(s.layout), e.text},
		cells(s.shop == "before", s.number(price), unit), s.amount(e),
		cells(s.fees, s.number(e.fee)), cells(s.net, s.number(e.amount-e.fee)),
		cells(s.currency, "EUR"), cells(s.shop == "after", s.number(price), unit),
		cells(s.balance, s.number(balance)), cells(s.status, state))
}

// table returns the cells of the ledger.
func (s style) table(entries []entry) [][]string {
	balance := int64(123_456)
	var rows [][]string
	state := func(text string, day time.Time) {
		if s.totals {
			opening := entry{day: day, amount: balance, text: text, status: "booked"}
			rows = append(rows, s.row(opening, balance))
		}
	}
	state(s.titles.opening, entries[0].day)
	for _, e := range entries {
		if e.status == "booked" {
			balance += e.amount - e.fee
		}
		rows = append(rows, s.row(e, balance))
	}
	state(s.titles.closing, entries[len(entries)-1].day)
	if s.newest {
		slices.Reverse(rows)
	}
	if s.heading {
		rows = append([][]string{s.titlesOf()}, rows...)
	}
	if s.preamble {
		rows = append([][]string{{"IBAN", "DE02120300000000202051"}}, rows...)
	}
	return rows
}

// amount returns the cells of an amount.
func (s style) amount(e entry) []string {
	absolute, direction := s.symbol+s.number(max(e.amount, -e.amount)), 1
	if e.amount < 0 {
		direction = 0
	}
	pair := []string{"", ""}
	switch s.mode {
	case "inverted":
		return []string{s.number(-e.amount)}
	case "columns":
		pair[direction] = absolute
		return pair
	case "negativeColumns":
		pair[direction] = s.number(e.amount)
		return pair
	case "type":
		kind := s.titles.kinds[direction]
		if e.neutral {
			kind = "/"
		}
		return []string{absolute, kind}
	case "marked":
		return []string{absolute + []string{"", " CR"}[direction]}
	}
	return []string{s.symbol + s.number(e.amount)}
}

// file returns the bytes of a table.
func (s style) file(t *testing.T, rows [][]string) []byte {
	t.Helper()
	if s.delimiter == "xlsx" {
		return fixture.Workbook(t, map[string]string{
			"xl/worksheets/sheet1.xml": fixture.Sheet(rows...),
		})
	}
	var b strings.Builder
	for _, cells := range rows {
		for i, cell := range cells {
			if i > 0 {
				b.WriteString(s.delimiter)
			}
			if strings.ContainsAny(cell, s.delimiter+"\"") {
				cell = `"` + strings.ReplaceAll(cell, `"`, `""`) + `"`
			}
			b.WriteString(cell)
		}
		b.WriteString("\r\n")
	}
	encodings := map[string]encoding.Encoding{
		"utf-8": encoding.Nop, "utf-8-bom": unicode.UTF8BOM, "windows-1252": charmap.Windows1252,
		"utf-16": unicode.UTF16(unicode.LittleEndian, unicode.UseBOM),
	}
	file, err := encodings[s.encoding].NewEncoder().Bytes([]byte(b.String()))
	if err != nil {
		return []byte(b.String()) // The encoding lacks characters of the language.
	}
	return file
}
