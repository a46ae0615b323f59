package export

import (
	"bufio"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/coffer-budget/coffer/internal/money"
	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
)

// hledgerEncoder writes a journal of hledger. A transfer is one entry. Days are days in UTC. The
// entry's comment has the id of the transaction as a tag, and one tag named tag for each tag of the
// transaction.
type hledgerEncoder struct {
	out *bufio.Writer
	chart
}

func newHledger(w io.Writer, _ *ledgerv1.ExportTransactionsRequest) encoder {
	return &hledgerEncoder{out: bufio.NewWriter(w)}
}

// begin declares all accounts and currencies, as the strict mode of hledger requires. The sample
// amount of a currency shows hledger the number of decimals. It always has a point, because a
// number such as 1000 does not show which character is the decimal mark.
func (e *hledgerEncoder) begin(b books) error {
	e.chart = newChart(b, [3]string{"assets", "expenses", "income"}, accountName)
	e.opening, e.transfers = "equity:opening balances", "equity:transfers"
	for _, w := range b.wallets {
		e.printf("account %s\n", e.assets[w.ID])
	}
	for _, c := range b.categories {
		e.printf("account %s\naccount %s\n", e.expenses[c.ID], e.income[c.ID])
	}
	e.printf("account %s\naccount %s\n", e.opening, e.transfers)
	for _, code := range slices.Sorted(maps.Keys(currencies(b))) {
		sample := money.CurrencyOf(code).Format(1000 * pow10(money.CurrencyOf(code).Decimals()))
		if !strings.Contains(sample, ".") {
			sample += "."
		}
		e.printf("commodity %s %s\n", sample, code)
	}
	for _, w := range openings(b) {
		e.printf("\n%s * Opening balance\n", w.openingDay())
		e.posting(line{account: e.assets[w.ID], amount: amountOf(w.InitialMinor, w.Currency)})
		e.posting(line{account: e.opening, amount: amountOf(-w.InitialMinor, w.Currency)})
	}
	return nil
}

func (e *hledgerEncoder) add(t entry) error {
	if t.repeats() {
		return nil
	}
	text := plain(t.Description)
	if t.Payee != "" {
		text = strings.ReplaceAll(plain(t.Payee), "|", "/") + " | " + text
	}
	if strings.HasPrefix(text, "(") {
		// Without an empty code, the parenthesis would begin one.
		text = "() " + text
	}
	e.printf("\n%s * %s  ; id:%s", day(t.Date), text, t.ID)
	for _, tag := range t.TagNames {
		e.printf(", tag:%s", plain(tag))
	}
	e.printf("\n")
	for note := range strings.Lines(t.Notes) {
		e.printf("    ; %s\n", plain(note))
	}
	for _, l := range e.lines(t) {
		e.posting(l)
	}
	return nil
}

func (e *hledgerEncoder) end() error { return e.out.Flush() }

// printf writes formatted text to the buffer. It drops the error, because a bufio.Writer keeps the
// first one and Flush returns it.
func (e *hledgerEncoder) printf(format string, args ...any) {
	_, _ = fmt.Fprintf(e.out, format, args...)
}

// posting writes a posting. Its comment must not contain tags or dates, which hledger would read.
func (e *hledgerEncoder) posting(l line) {
	e.printf("    %s  %s", l.account, l.amount)
	if l.price != "" {
		e.printf(" @@ %s", l.price)
	}
	if l.comment != "" {
		e.printf("  ; %s", strings.NewReplacer(":", "-", "[", "(", "]", ")").
			Replace(plain(l.comment)))
	}
	e.printf("\n")
}

func currencies(b books) map[string]bool {
	codes := map[string]bool{}
	for _, w := range b.wallets {
		codes[w.Currency] = true
		for _, held := range w.shown.GetBalances() {
			codes[held.GetCurrency()] = true
		}
	}
	return codes
}

func pow10(n int) int64 {
	p := int64(1)
	for range n {
		p *= 10
	}
	return p
}

// accountName returns a name as a segment of an account. Semicolons, colons and more than one blank
// in a row have a meaning in a journal and become hyphens.
func accountName(s string) string {
	var b strings.Builder
	blanks := 0
	for _, r := range strings.TrimFunc(s, isBlank) {
		switch {
		case isBlank(r):
			blanks++
			continue
		case blanks == 1:
			b.WriteByte(' ')
		case blanks > 1:
			b.WriteByte('-')
		}
		blanks = 0
		if r == ';' || r == ':' {
			r = '-'
		}
		b.WriteRune(r)
	}
	if b.Len() == 0 {
		return "unnamed"
	}
	return b.String()
}

// plain returns a text as part of a line. Each run of blanks becomes a space, and a semicolon or a
// comma, which end a description or the value of a tag, a hyphen.
func plain(s string) string { return strings.NewReplacer(";", "-", ",", "-").Replace(single(s)) }
