package formats_test

import (
	"math/rand/v2"
	"slices"
	"strings"
	"time"
)

// entry is a transaction of a random ledger, in cents. A fee lowers the balance beside the amount.
type entry struct {
	day         time.Time
	amount, fee int64
	text        string
	status      string // booked, pending or void.
	neutral     bool   // The type column does not say a direction.
	foreign     bool   // The price was in dollars.
	currency    string // Of files with several currencies.
}

// style is a random way to write a ledger.
type style struct {
	titles  titles
	heading bool
	// mode is signed, inverted, columns, negativeColumns, type, marked or suffixed: "12.50 CR"
	// beside amounts without a sign, or "12.50-". With directions, each amount has a mark, and with
	// absolute, nothing shows the direction.
	mode                    string
	delimiter, mark, layout string
	group                   string // Separates groups of digits, or "".
	balance, currency       bool
	status, newest          bool
	preamble                string // "", account, period, balance or currency.
	footer                  string // "", text or total: a line without a date below the rows.
	fees, net               bool
	legacy                  bool   // The encoding is the legacy one of the language.
	wide                    string // UTF-8 with a mark or UTF-16, or "".
	opening, closing        bool   // Rows of the opening and the closing balance.
	debt                    bool   // The balance is that of a card.
	unnamed                 bool   // No vocabulary has the heading of the balance.
	shop                    string // The place of the amount at the shop: "", before or after.
	shopTitle, symbol       string
	odd                     bool   // No vocabulary has the word for booked payments.
	clock                   bool   // The time has a column.
	second                  string // The place of the day of the value: "", before or after.
	numbers                 bool   // References of six digits, and numbers of accounts.
	several                 bool   // Rows have several currencies.
	lines                   bool   // The heading has two lines.
	pages                   bool   // The heading is repeated in the middle.
	dashes                  bool   // A dash stands in place of no amount.
	code                    string // The currency of the account.
	decimals                int    // Of its amounts.
	titled                  bool   // The heading of the amount names the currency.
	oddFee, oddStatus       bool   // No vocabulary has the heading of the fees, or of the status.
	merchant                bool   // A column has the types of the payments of a shop.
	// days are the headings of the day of the payment and that of the posting, which posted places
	// before or after it. late is set if the rows are sorted by the second one.
	days   [2]string
	posted string
	late   bool
}

// totals reports whether a row states a balance.
func (s *style) totals() bool { return s.opening || s.closing }

// pick returns a random value.
func pick[T any](r *rand.Rand, values ...T) T { return values[r.IntN(len(values))] }

// oneOf reports true in one of n cases.
func oneOf(r *rand.Rand, n int) bool { return r.IntN(n) == 0 }

func randomStyle(r *rand.Rand) style {
	s := style{
		titles: pick(r, languages...), heading: !oneOf(r, 10),
		mode: pick(r, "signed", "signed", "inverted", "columns", "columns", "negativeColumns",
			"type", "marked", "suffixed", "directions", "absolute"),
		delimiter: pick(r, ",", ";", "\t", "|", "xlsx"), mark: pick(r, ".", ","),
		layout: pick(r, "2006-01-02", "02.01.2006", "02/01/2006", monthFirst, "20060102",
			"2 Jan 2006", "02-01-06", "2006/01/02 15:04", "02.01.2006, 15:04", "02-Jan-06",
			"January 2, 2006", "06-01-02", "06/01/02", "060102", "2 MM 2006", "2006年01月02日"),
		balance: oneOf(r, 2), currency: oneOf(r, 2), status: oneOf(r, 3), newest: oneOf(r, 2),
		legacy: oneOf(r, 3), wide: pick(r, "", "", "utf-8-bom", "utf-16", "utf-16-be"),
		clock: oneOf(r, 4), numbers: oneOf(r, 3), pages: oneOf(r, 10), dashes: oneOf(r, 6),
		preamble: pick(r, "", "", "", "account", "period", "balance", "currency"),
		footer:   pick(r, "", "", "", "text", "total"),
	}
	if oneOf(r, 3) {
		s.group = pick(r, map[string]string{".": ",", ",": "."}[s.mark], "'", " ", "\u00a0")
	}
	s.lines = s.heading && oneOf(r, 10)
	known := s.heading && !s.titles.unknown()
	// Nothing in a file shows the meaning of a status or a fee in words that no bank uses.
	s.status = s.status && known
	s.fees = oneOf(r, 4) && known && s.mode != "absolute"
	s.net = s.fees && s.mode == "signed" && oneOf(r, 2)
	s.symbol = pick(r, "", "", "", "€", "EUR ")
	// Nothing shows that a balance is a debt if the amounts rise with it.
	s.debt = s.balance && known && s.mode != "inverted" && s.mode != "marked" && oneOf(r, 4)
	s.unnamed = oneOf(r, 4)
	s.opening = oneOf(r, 5) && s.mode != "marked" && s.mode != "inverted" && s.mode != "absolute" &&
		!s.status && !s.fees && !s.debt && (!s.titles.unknown() || s.isSigned())
	// In unknown words, only an equal balance or total shows the balance.
	s.closing = s.opening && (oneOf(r, 2) || s.titles.unknown() && !s.balance)
	s.odd = s.status && oneOf(r, 4)
	if s.mode == "signed" && !s.fees && s.heading && oneOf(r, 3) {
		s.shop, s.shopTitle = pick(r, "before", "after"), pick(r, s.titles.amount, "Preis dort")
	}
	s.several = s.currency && s.shop == "" && !s.balance && !s.totals() && s.footer != "total" &&
		s.symbol == "" && oneOf(r, 4)
	if oneOf(r, 4) {
		s.second = pick(r, "before", "after")
	}
	s.addKinds(r)
	s.addDays(r)
	isEnglish := s.titles.months == "" && (s.days[1] == "" || strings.Contains(s.days[1], "Date") ||
		strings.HasSuffix(s.days[1], " date"))
	if s.layout == monthFirst && (!isEnglish || s.preamble != "" || s.numbers) {
		s.layout = "02/01/2006"
	}
	return s
}

// monthFirst is the layout that banks with headings in other languages than English, or with IBANs,
// never have.
const monthFirst = "01/02/2006"

// addKinds adds the kinds of layouts that were once read wrongly without a warning.
func (s *style) addKinds(r *rand.Rand) {
	s.code, s.decimals = "EUR", 2
	if s.symbol == "" && !s.several && oneOf(r, 5) {
		s.code = pick(r, "JPY", "ISK", "TWD", "KWD", "USD", "EUR")
		s.decimals = map[string]int{"KWD": 3, "USD": pick(r, 0, 2), "EUR": pick(r, 0, 2)}[s.code]
		if s.decimals == 0 {
			s.group = map[string]string{".": ",", ",": "."}[s.mark]
		}
	}
	s.titled = s.shop != "" && !s.currency && oneOf(r, 3)
	s.oddFee = s.fees && s.balance && !s.unnamed && !s.status && !s.debt && oneOf(r, 3)
	s.oddStatus = s.status && oneOf(r, 3)
	s.merchant = s.heading && !s.debt && s.mode == "signed" && s.titles.text == "Description" && oneOf(r, 2)
	if !s.heading && s.balance && s.mode == "columns" {
		s.debt = oneOf(r, 2)
	}
}

// twoDays are headings of the day of a payment and that of its posting.
var twoDays = [][2]string{
	{"Transaction date", "Posting date"},
	{"Date of purchase", "Date"},
	{"Date", "Posted date"},
	{"Transaktionsdatum", "Buchungsdatum"},
	{"Fecha de operación", "Fecha contable"},
	{"Data transakcji", "Data księgowania"},
	{"交易日期", "记账日期"},
	{"#Datum uskutečnění transakce", "#Datum zaúčtování transakce"},
}

// addDays adds the days of the postings, and units that several currencies have.
func (s *style) addDays(r *rand.Rand) {
	if s.heading && !s.titles.unknown() && s.second == "" && !s.lines && oneOf(r, 4) {
		s.days, s.posted, s.late = pick(r, twoDays...), pick(r, "before", "after"), oneOf(r, 2)
		s.legacy = false
	}
	if s.code == "EUR" && s.symbol != "" && !s.currency && s.shop == "" && oneOf(r, 2) {
		shared := pick(r, [2]string{"lei ", "MDL"}, [2]string{"FCFA ", "XAF"},
			[2]string{"L ", "HNL"}, [2]string{"руб. ", "BYN"}, [2]string{"Dhs ", "MAD"})
		s.symbol, s.code = shared[0], shared[1]
	}
}

// isSigned reports whether each amount has its sign.
func (s *style) isSigned() bool { return s.mode == "signed" || s.mode == "suffixed" }

// named reports whether the file names the currency of its rows.
func (s *style) named() bool {
	hasSymbol := s.symbol != "" && s.mode != "inverted" && s.mode != "negativeColumns"
	return s.currency || s.shop != "" || hasSymbol || s.preamble == "currency"
}

// spending and income are the texts of money out and in. Some of them look like balances, or like
// payments to the issuer of a card.
var (
	spending = append(strings.Split("Supermarket;Café am Eck;Shoes \"Anna\";Bücherei, Mahnung;Bus 12;"+
		"New Balance;Total;Maas Hotel;Ihre Zahlung an Shop 7;Pago de tarjeta;Report Verlag", ";"), transferring...)
	income = []string{"Anna Müller", "Flat, share", "GmbH 17", "Opening of a shop"}
)

// randomLedger returns transactions by day.
func randomLedger(r *rand.Rand, s style) []entry {
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
		if s.status && oneOf(r, 6) {
			e.status = pick(r, "pending", "void")
		}
		if s.fees && oneOf(r, 3) || s.oddFee && i == 1 {
			e.fee = 1 + r.Int64N(500)
		}
		if s.oddFee && i == 0 {
			e.fee = 0 // Nothing shows the meaning of a number that no balance follows.
		}
		e.foreign = s.shop != "" && i > 0 && oneOf(r, 4)
		e.neutral = s.mode == "type" && !s.titles.unknown() && !s.oddStatus &&
			oneOf(r, 12)
		if s.several {
			e.currency = pick(r, "EUR", "EUR", "USD", "GBP")
		}
		entries[i] = e
	}
	return entries
}

// isCard reports whether the transactions may be those of a card: most of them are money out, or
// half of them and the largest one is money in.
func isCard(entries []entry) bool {
	out, largest := 0, int64(0)
	for _, e := range entries {
		if e.amount < 0 {
			out++
		}
		if max(e.amount, -e.amount) > max(largest, -largest) {
			largest = e.amount
		}
	}
	return out*2 > len(entries) || out*2 == len(entries) && largest > 0
}

// transferring are texts of money out that are transfers. A card rarely has them.
var transferring = []string{"Überweisung Miete", "振込 ヤチン"}

// hasPurchases reports whether money out is no transfer.
func hasPurchases(entries []entry) bool {
	return slices.ContainsFunc(entries, func(e entry) bool {
		return e.amount < 0 && !slices.Contains(transferring, e.text)
	})
}

// minOddFee is the number of transactions from which balances prove a fee under an unknown heading.
const minOddFee = 4

// randomFile returns a ledger and a style that fits it.
func randomFile(r *rand.Rand) (style, []entry) {
	s := randomStyle(r)
	entries := randomLedger(r, s)
	if s.mode == "inverted" && (!isCard(entries) || !hasPurchases(entries)) {
		s.mode = "signed" // No card has more payments than purchases, or only transfers.
	}
	if s.titles.unknown() && len(entries) < 4 {
		s.opening, s.closing = false, false // A total of less than three rows may be a coincidence.
	}
	s.debt = s.debt && isCard(entries)
	s.oddFee = s.oddFee && len(entries) >= minOddFee
	separate(entries)
	return s, entries
}

// separate raises fees until no amount with its fee is the amount of another transaction. Otherwise
// the judge takes an amount without its fee for a payment on the wrong day.
func separate(entries []entry) {
	absolute := func(n int64) int64 { return max(n, -n) }
	for i := range entries {
		e := &entries[i]
		for e.fee > 0 && slices.ContainsFunc(entries, func(other entry) bool {
			return absolute(other.amount) == absolute(e.amount-e.fee)
		}) {
			e.fee++
		}
	}
}
