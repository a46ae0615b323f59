package receipt

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/coffer-budget/coffer/services/ocr/fixture"
	"github.com/coffer-budget/coffer/services/ocr/receipt/printed"
)

var misreadReceipts = flag.Int("receipts", 200,
	"receipts that TestJoinSolvesMisreadEquations reads")

// TestJoinSolvesMisreadEquations misreads digits of generated receipts with charges, roundings and
// payments, and requires a share of correct totals, and of correct totals among the confident ones.
func TestJoinSolvesMisreadEquations(t *testing.T) {
	t.Parallel()
	right, confident, wrong := 0, 0, 0
	receipts := *misreadReceipts
	for seed := range uint64(receipts) {
		random := rand.New(rand.NewPCG(seed, 3))
		text, total := randomChain(random)
		r := Join(today, Read(recognized(misreadDigits(text, random))),
			Read(recognized(misreadDigits(text, random))))
		if r.Total == total {
			right++
		}
		if r.Confidence["total"] >= confidentTotal {
			confident++
			if r.Total != total {
				wrong++
			}
		}
	}
	t.Logf("of %d receipts, %d are right, %d confident and %d of these wrong", receipts, right,
		confident, wrong)
	require.GreaterOrEqual(t, right, receipts*99/100)
	require.GreaterOrEqual(t, confident, receipts*88/100)
	require.LessOrEqual(t, wrong, receipts/100)
}

// TestJoinLimitsSolutions reads a receipt with more sums than the equation is solved for.
func TestJoinLimitsSolutions(t *testing.T) {
	t.Parallel()
	var text strings.Builder
	text.WriteString("SHOP\nTea 1.00\n")
	for i := range 4 * maxCandidates {
		fmt.Fprintf(&text, "Cake 3.%02d\nSubtotal %d.00\nTip 1.%02d\n", i%100, i+1, i%100)
	}
	text.WriteString("Total 900.00\nCash 1000.00\nChange 100.00")
	j := join{readings: []Reading{Read(recognized(text.String()))}, now: today}
	j.chooseTexts()
	j.collectFigures()
	solutions := j.solutions()
	require.Len(t, solutions, maxCandidates)
	require.Equal(t, int64(900_000), solutions[0].value)
}

// TestJoinLimitsWork reads a text with thousands of sums, each of which charges lead to from most
// others. Without limits, it takes minutes.
func TestJoinLimitsWork(t *testing.T) { //nolint:paralleltest // It measures the process.
	var text strings.Builder
	text.WriteString("ROYAL KITCHEN\nNASI LEMAK 12.00\nTEH TARIK 3.00\n")
	for i := range 6 {
		fmt.Fprintf(&text, "GST 6%% 0.%02d\nTip 0.%02d\nDiscount 0.%02d\n", i+1, 3*i+2, 7*i+5)
	}
	text.WriteString("ROUNDING 0.02\nROUNDING 0.01\n")
	for _, label := range []string{"SUBTOTAL", "TOTAL"} {
		for i := range 2000 {
			fmt.Fprintf(&text, "%s %d.%02d\n", label, 100+i/100, i%100)
		}
	}
	start := fixture.ProcessorTime()
	Join(today, Read(recognized(text.String())), Read(recognized(text.String())))
	require.Less(t, fixture.ProcessorTime()-start, 10.0)
}

// TestJoinLimitsReadings compares thousands of rows of three readings. If the place of a row were
// computed in each comparison, this would take more than 20 seconds.
func TestJoinLimitsReadings(t *testing.T) { //nolint:paralleltest // It measures the process.
	readings := make([]Reading, 3)
	for i := range readings {
		var text strings.Builder
		text.WriteString("ROYAL KITCHEN\n")
		for row := range 3000 {
			fmt.Fprintf(&text, "Cake %d.%02d\n", 1+row/100, (row+7*i)%100)
		}
		readings[i] = Read(recognized(text.String() + "Total 900.00\n"))
	}
	start := fixture.ProcessorTime()
	Join(today, readings...)
	require.Less(t, fixture.ProcessorTime()-start, 10.0)
}

// randomChain generates a receipt whose total follows from its goods by a charge, a tax and a
// rounding, and returns its text and total.
func randomChain(random *rand.Rand) (text, total string) {
	var builder strings.Builder
	row := func(name string, v int64) {
		fmt.Fprintf(&builder, "%s   %s\n", name, printed.Format(v))
	}
	one := func(names ...string) string { return names[random.IntN(len(names))] }
	builder.WriteString("GREEN KITCHEN SDN BHD\nTax invoice RM\n12/03/2024 10:15\n")
	sum := int64(0)
	for range 1 + random.IntN(8) {
		price := 500 + 10*random.Int64N(3000)
		row(one("Nasi lemak", "Iced tea", "Fried rice", "Rice soup", "Toast", "Bag deposit"), price)
		sum += price
	}
	if random.IntN(2) == 0 {
		row(one("Subtotal", "Sub Total", "Gross"), sum)
	}
	share := func(percent int64) int64 { return (sum*percent/100 + 5) / 10 * 10 }
	if random.IntN(2) == 0 {
		charge := share(10)
		row(one("Service Charge 10%", "Srvc Chrg 10%", "Krepko", "Surcharge"), charge)
		sum += charge
	}
	switch random.IntN(4) {
	case 0:
		tax := share(6)
		row(one("GST 6%", "SST 6%"), tax)
		sum += tax
	case 1:
		row("INC 6% GST", share(6))
	}
	row(one("TOTAL RM", "Total", "Total Amount"), sum)
	if rounded := (sum + 25) / 50 * 50; rounded != sum && random.IntN(2) == 0 {
		row("Rounding Adj", rounded-sum)
		sum = rounded
		row(one("TOTAL DUE", "Nett Total", "Amount Due"), sum)
	}
	switch random.IntN(3) {
	case 0:
		cash := (sum/10_000 + 1) * 10_000
		row("Cash", cash)
		row("Change", cash-sum)
	case 1:
		row(one("VISA", "Credit Card"), sum)
	}
	builder.WriteString("Thank you\n")
	return builder.String(), printed.Format(sum)
}
