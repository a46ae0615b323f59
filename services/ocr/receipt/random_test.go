package receipt

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/coffer-budget/coffer/services/ocr/receipt/printed"
)

// TestJoinRandomText requires that generated receipts of goods, refunds, discount, tax and tip are
// read completely.
func TestJoinRandomText(t *testing.T) {
	t.Parallel()
	for seed := range uint64(200) {
		text, want := randomReceipt(rand.New(rand.NewPCG(seed, 0)))
		receipt := Join(today, Read(printed.FromText(text)))
		got := expected{
			Total: receipt.Total, Tax: receipt.Tax, Tip: receipt.Tip, Discount: receipt.Discount,
		}
		for _, it := range receipt.Items {
			if it.Description == "Discount" {
				got.Discount = strings.TrimPrefix(it.Amount, "-")
				continue
			}
			got.Amounts = append(got.Amounts, it.Amount)
		}
		require.Equal(t, want, got, "seed %d:\n%s", seed, text)
		require.NotContains(t, receipt.Warnings, LinesNotReconciled, "seed %d:\n%s", seed, text)
	}
}

// TestJoinReconciledLinesAddUp misreads digits of generated receipts, differently in each of up to
// three readings. Lines without the warning must add up to the total.
func TestJoinReconciledLinesAddUp(t *testing.T) {
	t.Parallel()
	reconciled := 0
	for seed := range uint64(300) {
		random := rand.New(rand.NewPCG(seed, 1))
		text, _ := randomReceipt(random)
		var readings []Reading
		for range 1 + random.IntN(3) {
			readings = append(readings, Read(recognized(misreadDigits(text, random))))
		}
		receipt := Join(today, readings...)
		if len(receipt.Items) == 0 || slices.Contains(receipt.Warnings, LinesNotReconciled) {
			continue
		}
		reconciled++
		sum := inThousandths(receipt.Tax) +
			inThousandths(receipt.Tip) - inThousandths(receipt.Discount) +
			inThousandths(receipt.Rounding)
		for _, it := range receipt.Items {
			sum += inThousandths(it.Amount)
		}
		require.Equal(t, inThousandths(receipt.Total), sum, "seed %d:\n%s", seed, text)
	}
	require.Greater(t, reconciled, 150, "most can be repaired")
}

// TestJoinConfidentTotalsAreRight requires the share of correct totals that confidentTotal
// promises.
func TestJoinConfidentTotalsAreRight(t *testing.T) {
	t.Parallel()
	confident, right := 0, 0
	for seed := range uint64(300) {
		random := rand.New(rand.NewPCG(seed, 2))
		text, want := randomReceipt(random)
		r := Join(today, Read(recognized(misreadDigits(text, random))),
			Read(recognized(misreadDigits(text, random))))
		if r.Confidence["total"] < confidentTotal {
			continue
		}
		confident++
		if r.Total == want.Total {
			right++
		}
	}
	require.Greater(t, confident, 150)
	require.GreaterOrEqual(t, 100*right, 98*confident, "%d of %d", right, confident)
}

// misreadDigits replaces one digit in thirty by a random one.
func misreadDigits(text string, random *rand.Rand) string {
	return strings.Map(func(r rune) rune {
		if r >= '0' && r <= '9' && random.IntN(30) == 0 {
			return '0' + rune(random.IntN(10))
		}
		return r
	}, text)
}

func inThousandths(s string) int64 {
	v, _ := thousandths(s)
	return v
}

// expected is the content of a generated receipt.
type expected struct {
	Amounts                   []string
	Discount, Tax, Tip, Total string
}

// randomReceipt generates the text of a receipt in one of three notations of amounts.
func randomReceipt(random *rand.Rand) (text string, want expected) {
	names := strings.Fields("Milk Bread Eggs Cheese Butter Apples Coffee Tea Rice Pasta Soap " +
		"Batteries Cable Lamp Pen Juice Wine Chocolate Taxi Totem")
	withCode := func(v int64) string { return printed.Format(v) + " EUR" }
	withSign := func(v int64) string {
		if v < 0 {
			return "-€" + printed.Format(-v)
		}
		return "€" + printed.Format(v)
	}
	write := []func(v int64) string{printed.Format, withCode, withSign}[random.IntN(3)]
	var builder strings.Builder
	builder.WriteString("CORNER SHOP\n12 Mill Lane\n2026-11-03\n\n")
	row := func(name string, v int64) { fmt.Fprintf(&builder, "%s   %s\n", name, write(v)) }
	total := int64(0)
	for range 1 + random.IntN(8) {
		name := names[random.IntN(len(names))]
		price := 100 + 10*random.Int64N(20_000)
		quantity := 1 + random.Int64N(3)
		switch {
		case random.IntN(8) == 0 && total > price:
			name, price, quantity = "Returned "+name, -price, 1
		case quantity > 1:
			name = fmt.Sprintf("%s %d x %s", name, quantity, write(price))
		}
		row(name, price*quantity)
		total += price * quantity
		want.Amounts = append(want.Amounts, printed.Format(price*quantity))
	}
	// some returns a random part of an amount, up to three tenths.
	some := func(of int64) int64 { return 10 + of*random.Int64N(30)/1000*10 }
	if random.IntN(3) == 0 {
		discount := some(total)
		row("Discount", -discount)
		want.Discount, total = printed.Format(discount), total-discount
	}
	if random.IntN(2) == 0 {
		row("Subtotal", total)
	}
	if random.IntN(3) == 0 {
		tax := some(total)
		row("Tax", tax)
		want.Tax, total = printed.Format(tax), total+tax
	}
	if random.IntN(3) == 0 {
		tip := some(total)
		row("Tip", tip)
		want.Tip, total = printed.Format(tip), total+tip
	}
	row("TOTAL", total)
	if random.IntN(2) == 0 {
		row("Cash", total+5000)
		row("Change", 5000)
	}
	want.Total = printed.Format(total)
	builder.WriteString("Thank you\n")
	return builder.String(), want
}
