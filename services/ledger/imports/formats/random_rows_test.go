package formats_test

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/unicode"

	"github.com/coffer-budget/coffer/services/ledger/imports/formats/fixture"
)

// date writes a day.
func (s *style) date(day time.Time) string {
	if !strings.Contains(s.layout, "MM") {
		return day.Format(s.layout)
	}
	month := day.Format("January")
	if s.titles.months != "" {
		month = s.titles.month(int(day.Month()))
	}
	return strings.Replace(day.Format(s.layout), "MM", month, 1)
}

// number writes cents.
func (s *style) number(cents int64) (text string) {
	sign := ""
	if cents < 0 {
		sign, cents = "-", -cents
	}
	scale := int64(math.Pow10(s.decimals))
	whole := fmt.Sprint(cents / scale)
	if s.mode == "suffixed" {
		defer func() { text = text[len(sign):] + sign }()
	}
	for end := len(whole) - 3; s.group != "" && end > 0; end -= 3 {
		whole = whole[:end] + s.group + whole[end:]
	}
	if s.decimals == 0 {
		return sign + whole
	}
	return fmt.Sprintf("%s%s%s%0*d", sign, whole, s.mark, s.decimals, cents%scale)
}

// cells returns cells if on is set.
func cells(on bool, cells ...string) []string {
	if on {
		return cells
	}
	return nil
}

// headings returns the headings of the columns.
func (s *style) headings() []string {
	t := s.titles
	amounts := []string{t.amount}
	if s.titled {
		amounts[0] += " (" + s.code + ")"
	}
	fee := t.fee
	if s.oddFee {
		fee = "Danebst"
	}
	switch s.mode {
	case "columns", "negativeColumns":
		amounts = []string{t.out, t.in}
	case "type":
		amounts = []string{t.amount, t.kind}
	}
	status := t.status
	if s.oddStatus {
		status = "Merkmal"
	}
	balance := t.balance
	if s.unnamed {
		balance = "Danach"
	}
	date := t.date
	if s.posted != "" {
		date = s.days[0]
	}
	return slices.Concat(cells(s.second == "before", t.value),
		cells(s.posted == "before", s.days[1]), []string{date},
		cells(s.clock, t.time), cells(s.second == "after", t.value),
		cells(s.posted == "after", s.days[1]), cells(s.numbers, "Ref. X"),
		[]string{t.text}, cells(s.numbers, "IBAN"), cells(s.shop == "before", s.shopTitle, t.currency),
		amounts, cells(s.fees, fee), cells(s.net, t.net), cells(s.currency, t.currency),
		cells(s.shop == "after", s.shopTitle, t.currency), cells(s.balance, balance),
		cells(s.status, status), cells(s.merchant, "Type"))
}

// row returns the cells of a transaction. balance is the one after it.
func (s *style) row(e entry, balance int64) []string {
	price, unit := e.amount, s.code
	if e.foreign {
		price, unit = e.amount*11/10-1, "USD"
	}
	if s.debt {
		balance = -balance
	}
	state := s.titles.state(e.status)
	if s.odd && e.status == "booked" {
		state = "Vollzogen X"
	}
	currency := s.code
	if e.currency != "" {
		currency = e.currency
	}
	value := s.date(e.day.AddDate(0, 0, int(e.amount&1)))
	number := fmt.Sprintf("44%04d", max(e.amount, -e.amount)*7919%10_000)
	posted := s.date(e.posted())
	return slices.Concat(cells(s.second == "before", value), cells(s.posted == "before", posted),
		[]string{s.date(e.day)}, cells(s.clock, "14:03:22"), cells(s.second == "after", value),
		cells(s.posted == "after", posted), cells(s.numbers, number),
		[]string{e.text}, cells(s.numbers, "DE02120300000000202051"),
		cells(s.shop == "before", s.number(price), unit), s.amount(e),
		cells(s.fees, s.number(e.fee)), cells(s.net, s.number(e.amount-e.fee)),
		cells(s.currency, currency), cells(s.shop == "after", s.number(price), unit),
		cells(s.balance, s.number(balance)), cells(s.status, state),
		cells(s.merchant, merchantType(e)))
}

// posted returns the day of the posting.
func (e entry) posted() time.Time { return e.day.AddDate(0, 0, int(e.amount&3)) }

// merchantType returns the type of a payment of a shop, whose sales are money in.
func merchantType(e entry) string {
	switch {
	case e.amount > 0:
		return "sale"
	case e.amount%2 == 0:
		return "payout"
	}
	return "refund"
}

// amount returns the cells of an amount.
func (s *style) amount(e entry) []string {
	absolute, direction := s.symbol+s.number(max(e.amount, -e.amount)), 1
	if e.amount < 0 {
		direction = 0
	}
	pair := []string{"", ""}
	if s.dashes {
		pair = []string{"-", "-"}
	}
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
	case "directions":
		return []string{absolute + " " + s.titles.direction[direction]}
	case "absolute":
		return []string{absolute}
	}
	return []string{s.symbol + s.number(e.amount)}
}

// table returns the cells of the ledger.
func (s *style) table(entries []entry) [][]string {
	balance, sum := int64(123_456), int64(0)
	var rows [][]string
	state := func(on bool, text string, day time.Time) {
		if on {
			opening := entry{day: day, amount: balance, text: text, status: "booked"}
			rows = append(rows, s.row(opening, balance))
		}
	}
	state(s.opening, s.titles.opening, entries[0].day)
	if s.late {
		entries = slices.SortedStableFunc(slices.Values(entries), func(a, b entry) int {
			return a.posted().Compare(b.posted())
		})
	}
	for _, e := range entries {
		if e.status == "booked" {
			balance += e.amount - e.fee
		}
		sum += e.amount
		rows = append(rows, s.row(e, balance))
	}
	state(s.closing, s.titles.closing, entries[len(entries)-1].day)
	if s.newest {
		slices.Reverse(rows)
	}
	if s.pages && s.heading && len(rows) > 3 {
		rows = slices.Insert(rows, len(rows)/2, s.headings())
	}
	if s.heading {
		rows = slices.Concat(s.head(), rows)
	}
	return slices.Concat(s.above(entries, balance), rows, s.below(sum))
}

// head returns the lines of the heading. The second line has the words of the debits and credits,
// or is one of units.
func (s *style) head() [][]string {
	first := s.headings()
	if !s.lines {
		return [][]string{first}
	}
	second := make([]string, len(first))
	for i, title := range first {
		if title == s.titles.out || title == s.titles.in {
			first[i], second[i] = s.titles.amount, title
		} else if words := strings.Fields(title); len(words) > 1 {
			first[i], second[i] = words[0], strings.Join(words[1:], " ")
		}
	}
	return [][]string{first, second}
}

// above returns the lines before the heading.
func (s *style) above(entries []entry, balance int64) [][]string {
	iban := []string{"IBAN", "DE02120300000000202051"}
	first, last := s.date(entries[0].day), s.date(entries[len(entries)-1].day)
	switch s.preamble {
	case "account":
		return [][]string{iban}
	case "period":
		return [][]string{iban, {"Period", first, last}, {"Created: " + last + " 10:00"}}
	case "balance":
		return [][]string{{s.titles.closing, s.number(balance)}, iban}
	case "currency":
		return [][]string{{s.titles.currency, s.code}, iban}
	}
	return nil
}

// below returns the lines after the rows.
func (s *style) below(sum int64) [][]string {
	switch s.footer {
	case "text":
		return [][]string{{"This is no statement of account. Page 1 of 1"}}
	case "total":
		total := s.row(entry{text: s.titles.total, amount: sum}, 0)
		for i, cell := range total {
			if cell != s.titles.total && !strings.Contains(cell, s.number(max(sum, -sum))) {
				total[i] = ""
			}
		}
		return [][]string{total}
	}
	return nil
}

// file returns the bytes of a table.
func (s *style) file(t *testing.T, rows [][]string) []byte {
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
	e := map[string]encoding.Encoding{
		"": encoding.Nop, "utf-8-bom": unicode.UTF8BOM,
		"utf-16":    unicode.UTF16(unicode.LittleEndian, unicode.UseBOM),
		"utf-16-be": unicode.UTF16(unicode.BigEndian, unicode.UseBOM),
	}[s.wide]
	if s.legacy {
		e = s.titles.legacy
	}
	file, err := e.NewEncoder().Bytes([]byte(b.String()))
	if err != nil {
		return []byte(b.String()) // The encoding lacks characters of the texts.
	}
	return file
}
