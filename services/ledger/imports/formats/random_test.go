package formats_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/unicode"

	"github.com/coffer-budget/coffer/services/ledger/imports/formats"
	"github.com/coffer-budget/coffer/services/ledger/imports/formats/fixture"
	"github.com/coffer-budget/coffer/services/ledger/imports/formats/statement"
)

// randomLayouts is the number of random files that TestRandomLayouts reads. Each has its number as
// seed, so a failure is repeated by its name.
const randomLayouts = 500

// entry is a transaction of a random ledger, in cents. A fee lowers the balance beside the amount.
type entry struct {
	day         time.Time
	amount, fee int64
	text        string
	status      string // booked, pending or void.
	neutral     bool   // The type column does not say a direction.
}

// titles are the headings of a language.
type titles struct {
	date, text, amount, out, in, kind, balance, currency, status string
	kinds                                                        [2]string // Money out and in.
	states                                                       map[string]string
	fee, net                                                     string
}

// unknown reports whether no vocabulary has the headings.
func (t titles) unknown() bool { return t.fee == "" }

var languages = []titles{
	{"Date", "Description", "Amount", "Debit", "Credit", "Type", "Balance", "Currency", "Status", [2]string{"debit", "credit"}, map[string]string{"booked": "Completed", "pending": "Pending", "void": "Declined"}, "Fee", "Net"},
	{"Date", "Text", "Amount", "Money out", "Money in", "Debit/Credit", "Balance", "Currency", "State", [2]string{"D", "C"}, map[string]string{"booked": "Posted", "pending": "Pending", "void": "Failed"}, "Transaction Fee", "Net amount"},
	{"Buchungstag", "Verwendungszweck", "Betrag", "Soll", "Haben", "S/H", "Saldo", "Währung", "Status", [2]string{"S", "H"}, map[string]string{"booked": "Gebucht", "pending": "Vorgemerkt", "void": "Storniert"}, "Gebühr", "Netto"},
	{"Date opération", "Libellé", "Montant", "Débit", "Crédit", "Sens", "Solde", "Devise", "Statut", [2]string{"Débit", "Crédit"}, map[string]string{"booked": "Comptabilisé", "pending": "En attente", "void": "Annulé"}, "Frais", "Montant net"},
	{"Fecha", "Concepto", "Importe", "Cargo", "Abono", "Tipo", "Saldo", "Divisa", "Estado", [2]string{"Cargo", "Abono"}, map[string]string{"booked": "Completado", "pending": "Pendiente", "void": "Cancelado"}, "Comisión", "Importe neto"},
	{"Datum", "Omschrijving", "Bedrag", "Af", "Bij", "Af Bij", "Saldo", "Munt", "Status", [2]string{"Af", "Bij"}, map[string]string{"booked": "Geboekt", "pending": "In behandeling", "void": "Geweigerd"}, "Fee", "Netto"},
	{"Dato", "Tekst", "Beløb", "Ud", "Ind", "Type", "Saldo", "Valuta", "Status", [2]string{"Debet", "Kredit"}, map[string]string{"booked": "Udført", "pending": "Venter", "void": "Slettet"}, "Gebyr", "Netto"},
	// Words that no vocabulary has.
	{"Zeitpunkt X", "Wofür genau", "Wieviel", "Raus", "Rein", "Dings", "Danach", "Einheit", "Zustand", [2]string{"raus", "rein"}, map[string]string{"booked": "fertig", "pending": "bald", "void": "nie"}, "", ""},
}

// style is a random way to write a ledger.
type style struct {
	titles                     titles
	heading                    bool
	mode                       string // signed, inverted, columns, negativeColumns or type.
	delimiter, mark, layout    string
	grouped, balance, currency bool
	status, newest, preamble   bool
	fees, net                  bool
	encoding                   string
}

// pick returns a random value.
func pick[T any](r *rand.Rand, values ...T) T { return values[r.IntN(len(values))] }

func randomStyle(r *rand.Rand) style {
	s := style{
		titles: pick(r, languages...), heading: r.IntN(10) > 0,
		mode:      pick(r, "signed", "signed", "inverted", "columns", "negativeColumns", "type"),
		delimiter: pick(r, ",", ";", "\t", "|", "xlsx"), mark: pick(r, ".", ","),
		layout:  pick(r, "2006-01-02", "02.01.2006", "02/01/2006", "01/02/2006", "20060102", "2 Jan 2006", "02-01-06"),
		grouped: r.IntN(3) == 0, balance: r.IntN(2) == 0, currency: r.IntN(2) == 0,
		status: r.IntN(3) == 0, newest: r.IntN(2) == 0, preamble: r.IntN(4) == 0,
		encoding: pick(r, "utf-8", "utf-8", "utf-8-bom", "utf-16", "windows-1252"),
	}
	// Nothing in a file shows the meaning of a status or a fee in words that no bank uses.
	s.status = s.status && s.heading && !s.titles.unknown()
	s.fees = r.IntN(4) == 0 && s.heading && !s.titles.unknown()
	s.net = s.fees && s.mode == "signed" && r.IntN(2) == 0
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
func (s style) number(cents int64) string {
	sign := ""
	if cents < 0 {
		sign, cents = "-", -cents
	}
	whole := fmt.Sprint(cents / 100)
	if s.grouped && len(whole) > 3 {
		group := map[string]string{".": ",", ",": "."}[s.mark]
		whole = whole[:len(whole)-3] + group + whole[len(whole)-3:]
	}
	return fmt.Sprintf("%s%s%s%02d", sign, whole, s.mark, cents%100)
}

// table returns the cells of the ledger.
func (s style) table(entries []entry) [][]string {
	t, balance := s.titles, int64(123_456)
	heading := []string{t.date, t.text}
	switch s.mode {
	case "columns", "negativeColumns":
		heading = append(heading, t.out, t.in)
	case "type":
		heading = append(heading, t.amount, t.kind)
	default:
		heading = append(heading, t.amount)
	}
	add := func(cells []string, on bool, cell string) []string {
		if on {
			return append(cells, cell)
		}
		return cells
	}
	heading = add(add(heading, s.fees, t.fee), s.net, t.net)
	heading = add(add(add(heading, s.currency, t.currency), s.balance, t.balance), s.status, t.status)
	var rows [][]string
	for _, e := range entries {
		if e.status == "booked" {
			balance += e.amount - e.fee
		}
		cells := append([]string{e.day.Format(s.layout), e.text}, s.amount(e)...)
		cells = add(add(cells, s.fees, s.number(e.fee)), s.net, s.number(e.amount-e.fee))
		cells = add(add(cells, s.currency, "EUR"), s.balance, s.number(balance))
		rows = append(rows, add(cells, s.status, t.states[e.status]))
	}
	if s.newest {
		slices.Reverse(rows)
	}
	if s.heading {
		rows = append([][]string{heading}, rows...)
	}
	if s.preamble {
		rows = append([][]string{{"IBAN", "DE02120300000000202051"}}, rows...)
	}
	return rows
}

// amount returns the cells of an amount.
func (s style) amount(e entry) []string {
	absolute, direction := s.number(max(e.amount, -e.amount)), 1
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
	}
	return []string{s.number(e.amount)}
}

// file returns the bytes of a table.
func (s style) file(t *testing.T, rows [][]string) []byte {
	t.Helper()
	if s.delimiter == "xlsx" {
		return fixture.Workbook(t, map[string]string{"xl/worksheets/sheet1.xml": fixture.Sheet(rows...)})
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
	require.NoError(t, err)
	return file
}

// TestRandomLayouts writes random ledgers in random layouts and reads them: each row is right, or a
// warning or a problem names the error. A warning about a wrong amount blocks the commit.
func TestRandomLayouts(t *testing.T) {
	t.Parallel()
	counts := make(map[string]int)
	for seed := range uint64(randomLayouts) {
		r := rand.New(rand.NewPCG(seed, 1))
		s := randomStyle(r)
		entries := randomLedger(r, s)
		if s.mode == "inverted" && !mostlySpent(entries) {
			s.mode = "signed" // No card has more payments than purchases.
		}
		l := layout{File: fmt.Sprint(seed)}
		for _, e := range entries {
			if e.status == "void" {
				continue
			}
			amount := strings.TrimSuffix(style{mark: "."}.number(e.amount-e.fee), ".00")
			want := row{Date: e.day.Format("2006-01-02"), Amount: amount}
			if s.currency {
				want.Currency = "EUR"
			}
			l.Rows = append(l.Rows, want)
		}
		contents := s.file(t, s.table(entries))
		file, err := formats.Open(bytes.NewReader(contents), statement.Options{})
		require.NoError(t, err, "seed %d: %+v\n%s", seed, s, contents)
		got := read(file)
		result, wrong := got.judge(l)
		counts[result]++
		isBlocked := slices.ContainsFunc(got.facts.Warnings, func(code string) bool {
			return statement.Blocking[code] != ""
		})
		if isBlocked {
			counts["blocked"]++
		}
		isWrong := strings.Contains(wrong, " sign") || strings.Contains(wrong, " amount")
		if result == resultSilent || isWrong && got.err == nil && !isBlocked {
			t.Errorf("seed %d, %s, warnings %v: %+v\n%s\n%+v", seed, wrong, got.facts.Warnings, s,
				contents, got.facts.Mapping)
		}
	}
	t.Logf("of %d random layouts, %d are exact, %d warned and %d blocked", randomLayouts,
		counts[resultExact], counts[resultWarned], counts["blocked"])
	require.Less(t, counts["blocked"], randomLayouts*4/10)
}
