package export

import (
	"bufio"
	"fmt"
	"io"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
)

// beancountEncoder writes a ledger of beancount 2. A transfer is one entry. Days are days in UTC.
//
// The names of accounts and tags are more restricted than ours: accountComponent and tag fold them.
// Two names that are equal afterwards get a number, so that each wallet, category and tag remains
// distinct.
type beancountEncoder struct {
	out *bufio.Writer
	chart
	// tags holds the folded name of each tag by its name. taken holds the folded names in use.
	tags  map[string]string
	taken map[string]bool
}

func newBeancount(w io.Writer, _ *ledgerv1.ExportTransactionsRequest) encoder {
	return &beancountEncoder{
		out: bufio.NewWriter(w), tags: map[string]string{}, taken: map[string]bool{},
	}
}

// begin opens all accounts on the first day of the books. beancount rejects an entry before its
// account is open, and the entry of a transfer has the day of one leg. This day may be before the
// first day of the other wallet.
func (e *beancountEncoder) begin(books books) error {
	e.chart = newChart(books, [3]string{"Assets", "Expenses", "Income"}, accountComponent)
	e.opening, e.transfers = "Equity:Opening-Balances", "Equity:Transfers"
	e.adjustments = "Equity:Adjustments"
	// beancount divides a total price by the amount, so the result may differ in the last of 28
	// digits. It derives no tolerance from amounts without decimals, such as yen.
	e.printf("option \"title\" \"Coffer\"\noption \"inferred_tolerance_default\" \"*:0.00001\"\n\n")
	if len(books.wallets) == 0 {
		return nil
	}
	first := books.wallets[0].Opened
	for _, w := range books.wallets {
		if w.Opened.Before(first) {
			first = w.Opened
		}
	}
	open := func(account string) { e.printf("%s open %s\n", day(first), account) }
	for _, w := range books.wallets {
		open(e.assets[w.ID])
	}
	for _, c := range books.categories {
		open(e.expenses[c.ID])
		open(e.income[c.ID])
	}
	open(e.opening)
	open(e.adjustments)
	open(e.transfers)
	for _, w := range openings(books) {
		e.printf("\n%s * \"Opening balance\"\n", w.openingDay())
		e.posting(line{account: e.assets[w.ID], amount: amountOf(w.InitialMinor, w.Currency)})
		e.posting(line{account: e.opening, amount: amountOf(-w.InitialMinor, w.Currency)})
	}
	return nil
}

// add writes an entry. A link (^coffer-...) holds the id of each transaction in it, so that users
// can find it in Coffer again.
func (e *beancountEncoder) add(entry entry) error {
	if entry.repeats() {
		return nil
	}
	e.printf("\n%s *", day(entry.Date))
	if entry.Payee != "" {
		e.printf(" %s", quote(single(entry.Payee)))
	}
	e.printf(" %s", quote(single(entry.Description)))
	for _, tag := range entry.TagNames {
		e.printf(" #%s", e.tag(tag))
	}
	e.printf(" ^coffer-%s", entry.ID)
	if entry.other != nil && entry.otherExported {
		e.printf(" ^coffer-%s", entry.other.ID)
	}
	e.printf("\n")
	if entry.Notes != "" {
		e.printf("  notes: %s\n", quote(entry.Notes))
	}
	for _, l := range e.lines(entry) {
		e.posting(l)
	}
	return nil
}

func (e *beancountEncoder) end() error { return e.out.Flush() }

// printf writes formatted text to the buffer. It drops the error, because a bufio.Writer keeps the
// first one and Flush returns it.
func (e *beancountEncoder) printf(format string, args ...any) {
	_, _ = fmt.Fprintf(e.out, format, args...)
}

func (e *beancountEncoder) posting(l line) {
	e.printf("  %s  %s", l.account, l.amount)
	if l.price != "" {
		e.printf(" @@ %s", l.price)
	}
	e.printf("\n")
	if l.comment != "" {
		e.printf("    description: %s\n", quote(single(l.comment)))
	}
}

// tag returns a name as a tag of beancount, which allows only ASCII letters, digits, hyphens,
// underscores and dots. Names that are equal afterwards get a number. The same name always returns
// the same tag.
func (e *beancountEncoder) tag(name string) string {
	folded, ok := e.tags[name]
	if !ok {
		folded = unique(e.taken, fold(name, "tag", func(r rune) bool {
			return r < utf8.RuneSelf &&
				(unicode.IsLetter(r) || unicode.IsDigit(r) || r == '_' || r == '.')
		}))
		e.tags[name] = folded
	}
	return folded
}

// accountComponent returns a name as a component of an account: letters, digits and hyphens, of
// which the first is an upper case letter or a digit.
func accountComponent(name string) string {
	folded := fold(name, "Unnamed", func(r rune) bool {
		return unicode.IsLetter(r) || unicode.Is(unicode.Nd, r)
	})
	first, size := utf8.DecodeRuneInString(folded)
	if unicode.IsUpper(first) || unicode.Is(unicode.Nd, first) {
		return folded
	}
	if upper := unicode.ToUpper(first); unicode.IsUpper(upper) {
		return string(upper) + folded[size:]
	}
	return "X-" + folded
}

// fold replaces each run of characters that are not allowed by a hyphen. It returns fallback if no
// character is allowed.
func fold(s, fallback string, allowed func(rune) bool) string {
	words := strings.FieldsFunc(s, func(r rune) bool { return !allowed(r) })
	if len(words) == 0 {
		return fallback
	}
	return strings.Join(words, "-")
}

// quote returns a string of beancount. It keeps line breaks and drops other control characters.
func quote(s string) string {
	s = strings.Map(func(r rune) rune {
		if r != '\n' && unicode.IsControl(r) {
			return -1
		}
		return r
	}, s)
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(s) + `"`
}

func day(t time.Time) string { return t.UTC().Format(time.DateOnly) }
