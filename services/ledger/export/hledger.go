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
func (e *hledgerEncoder) begin(books books) error {
	e.chart = newChart(books, [3]string{"assets", "expenses", "income"}, accountName)
	e.opening, e.transfers = "equity:opening balances", "equity:transfers"
	e.adjustments = "equity:adjustments"
	for _, w := range books.wallets {
		e.printf("account %s\n", e.assets[w.ID])
	}
	for _, c := range books.categories {
		e.printf("account %s\naccount %s\n", e.expenses[c.ID], e.income[c.ID])
	}
	e.printf("account %s\naccount %s\naccount %s\n", e.opening, e.adjustments, e.transfers)
	for _, code := range slices.Sorted(maps.Keys(currencies(books))) {
		sample := money.CurrencyOf(code).Format(1000 * pow10(money.CurrencyOf(code).Decimals()))
		if !strings.Contains(sample, ".") {
			sample += "."
		}
		e.printf("commodity %s %s\n", sample, code)
	}
	for _, w := range openings(books) {
		e.printf("\n%s * Opening balance\n", w.openingDay())
		e.posting(line{account: e.assets[w.ID], amount: amountOf(w.InitialMinor, w.Currency)})
		e.posting(line{account: e.opening, amount: amountOf(-w.InitialMinor, w.Currency)})
	}
	return nil
}

func (e *hledgerEncoder) add(entry entry) error {
	if entry.repeats() {
		return nil
	}
	text := plain(entry.Description)
	if entry.Payee != "" {
		text = strings.ReplaceAll(plain(entry.Payee), "|", "/") + " | " + text
	}
	if strings.HasPrefix(text, "(") {
		// Without an empty code, the parenthesis would begin one.
		text = "() " + text
	}
	e.printf("\n%s * %s  ; id:%s", day(entry.Date), text, entry.ID)
	for _, tag := range entry.TagNames {
		e.printf(", tag:%s", plain(tag))
	}
	e.printf("\n")
	for note := range strings.Lines(entry.Notes) {
		e.printf("    ; %s\n", plain(note))
	}
	for _, l := range e.lines(entry) {
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
func (e *hledgerEncoder) posting(line line) {
	e.printf("    %s  %s", line.account, line.amount)
	if line.price != "" {
		e.printf(" @@ %s", line.price)
	}
	if line.comment != "" {
		e.printf("  ; %s", strings.NewReplacer(":", "-", "[", "(", "]", ")").
			Replace(plain(line.comment)))
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
	var builder strings.Builder
	blanks := 0
	for _, char := range strings.TrimFunc(s, isBlank) {
		switch {
		case isBlank(char):
			blanks++
			continue
		case blanks == 1:
			builder.WriteByte(' ')
		case blanks > 1:
			builder.WriteByte('-')
		}
		blanks = 0
		if char == ';' || char == ':' {
			char = '-'
		}
		builder.WriteRune(char)
	}
	if builder.Len() == 0 {
		return "unnamed"
	}
	return builder.String()
}

// plain returns a text as part of a line. Each run of blanks becomes a space, and a semicolon or a
// comma, which end a description or the value of a tag, a hyphen.
func plain(s string) string { return strings.NewReplacer(";", "-", ",", "-").Replace(single(s)) }
