package export

import (
	"bufio"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/google/uuid"

	"github.com/coffer-budget/coffer/internal/money"
	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
)

// hledgerEncoder writes a journal of hledger. A transfer is one entry. Days are those of UTC.
type hledgerEncoder struct {
	out *bufio.Writer
	// assets are the accounts of wallets. names are the names of categories in accounts.
	assets, names map[uuid.UUID]string
}

func newHledger(w io.Writer, _ *ledgerv1.ExportTransactionsRequest) encoder {
	return &hledgerEncoder{out: bufio.NewWriter(w), assets: map[uuid.UUID]string{}, names: map[uuid.UUID]string{}}
}

// The accounts that belong to no wallet and no category.
const (
	openingBalances = "equity:opening balances"
	transferEquity  = "equity:transfers"
)

func (e *hledgerEncoder) begin(b books) error {
	taken := map[string]bool{}
	for _, w := range b.wallets {
		e.assets[w.ID] = "assets:" + unique(taken, accountName(w.Name))
		e.printf("account %s\n", e.assets[w.ID])
	}
	taken = map[string]bool{}
	for _, c := range b.categories {
		e.names[c.ID] = unique(taken, accountName(c.Name))
		e.printf("account expenses:%s\naccount income:%s\n", e.names[c.ID], e.names[c.ID])
	}
	e.printf("account %s\naccount %s\n", openingBalances, transferEquity)
	for _, code := range slices.Sorted(maps.Keys(currencies(b))) {
		sample := money.CurrencyOf(code).Format(1000 * pow10(money.CurrencyOf(code).Decimals()))
		if !strings.Contains(sample, ".") {
			sample += "."
		}
		e.printf("commodity %s %s\n", sample, code)
	}
	for _, w := range b.wallets {
		if w.InitialMinor == 0 || !b.whole || !w.Selected {
			continue
		}
		e.printf("\n%s * Opening balance\n", w.Opened.UTC().Format(time.DateOnly))
		e.posting(e.assets[w.ID], amountOf(w.InitialMinor, w.Currency), "")
		e.posting(openingBalances, amountOf(-w.InitialMinor, w.Currency), "")
	}
	return nil
}

func (e *hledgerEncoder) add(t entry) error {
	if t.TransferID != nil && t.AmountMinor > 0 && t.otherExported {
		return nil
	}
	text := line(t.Description)
	if t.Payee != "" {
		text = strings.ReplaceAll(line(t.Payee), "|", "/") + " | " + text
	}
	if strings.HasPrefix(text, "(") {
		// Without an empty code, the parenthesis would begin one.
		text = "() " + text
	}
	e.printf("\n%s * %s  ; id:%s", t.Date.UTC().Format(time.DateOnly), text, t.ID)
	for _, tag := range t.TagNames {
		e.printf(", tag:%s", line(tag))
	}
	e.printf("\n")
	for note := range strings.Lines(t.Notes) {
		e.printf("    ; %s\n", line(note))
	}
	switch {
	case t.TransferID != nil:
		e.transfer(t)
	case len(t.Splits) > 0:
		e.posting(e.assets[t.WalletID], amountOf(t.AmountMinor, t.Currency), "")
		for _, s := range t.Splits {
			e.posting(e.account(t.AmountMinor, s.CategoryID), amountOf(-s.AmountMinor, t.Currency), s.Description)
		}
	default:
		e.posting(e.assets[t.WalletID], amountOf(t.AmountMinor, t.Currency), "")
		e.posting(e.account(t.AmountMinor, *t.CategoryID), amountOf(-t.AmountMinor, t.Currency), "")
	}
	return nil
}

func (e *hledgerEncoder) end() error { return e.out.Flush() }

// printf writes formatted text to the buffer. It drops the error, because a bufio.Writer keeps the first one and Flush returns it.
func (e *hledgerEncoder) printf(format string, args ...any) {
	_, _ = fmt.Fprintf(e.out, format, args...)
}

// account returns the account of a category, by the sign of the transaction.
func (e *hledgerEncoder) account(amount int64, category uuid.UUID) string {
	if amount < 0 {
		return "expenses:" + e.names[category]
	}
	return "income:" + e.names[category]
}

// transfer writes the postings of a transfer. Between currencies, the leg that leaves a wallet has the other one as its total price.
func (e *hledgerEncoder) transfer(t entry) {
	amount := amountOf(t.AmountMinor, t.Currency)
	switch {
	case t.other == nil:
		e.posting(e.assets[t.WalletID], amount, "")
		e.posting(transferEquity, amountOf(-t.AmountMinor, t.Currency), "")
	case t.other.Currency == t.Currency:
		e.posting(e.assets[t.WalletID], amount, "")
		e.posting(e.assets[t.other.WalletID], amountOf(t.other.AmountMinor, t.Currency), "")
		if rest := t.AmountMinor + t.other.AmountMinor; rest != 0 {
			e.posting(transferEquity, amountOf(-rest, t.Currency), "")
		}
	default:
		out, in := t.Transaction, *t.other
		if out.AmountMinor > 0 {
			out, in = in, out
		}
		e.posting(e.assets[out.WalletID], amountOf(out.AmountMinor, out.Currency)+" @@ "+amountOf(in.AmountMinor, in.Currency), "")
		e.posting(e.assets[in.WalletID], amountOf(in.AmountMinor, in.Currency), "")
	}
}

// posting writes a posting. Its comment must not contain tags or dates, which hledger would read.
func (e *hledgerEncoder) posting(account, amount, comment string) {
	e.printf("    %s  %s", account, amount)
	if comment != "" {
		e.printf("  ; %s", strings.NewReplacer(":", "-", "[", "(", "]", ")").Replace(line(comment)))
	}
	e.printf("\n")
}

// currencies returns the currencies of the wallets and their balances.
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

// amountOf returns an amount with its currency.
func amountOf(minor int64, code string) string {
	return money.CurrencyOf(code).Format(minor) + " " + code
}

// pow10 returns 10 to the power of n.
func pow10(n int) int64 {
	p := int64(1)
	for range n {
		p *= 10
	}
	return p
}

// accountName returns a name as a segment of an account. Semicolons, colons and more than one blank in a row have a meaning in a
// journal and become hyphens.
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

// line returns a text as part of a line. Each run of blanks becomes a space, and a semicolon or a comma, which end a description or the
// value of a tag, a hyphen.
func line(s string) string {
	return strings.NewReplacer(";", "-", ",", "-").Replace(strings.Join(strings.FieldsFunc(s, isBlank), " "))
}

// isBlank reports whether r is white space or a control character.
func isBlank(r rune) bool {
	return unicode.IsSpace(r) || unicode.IsControl(r) || unicode.Is(unicode.Cf, r)
}

// unique returns a name that is not taken, with a number if necessary, and marks it as taken.
func unique(taken map[string]bool, name string) string {
	chosen := name
	for n := 2; taken[chosen]; n++ {
		chosen = fmt.Sprintf("%s-%d", name, n)
	}
	taken[chosen] = true
	return chosen
}
