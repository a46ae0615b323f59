package formats_test

import (
	"bytes"
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/coffer-budget/coffer/services/ledger/imports/formats"
	"github.com/coffer-budget/coffer/services/ledger/imports/formats/statement"
	"github.com/coffer-budget/coffer/services/ledger/imports/formats/written"
)

// randomLayouts is the number of random files that TestRandomLayouts reads. Each has its number as
// seed, so a failure is repeated by its name.
var randomLayouts = flag.Int("layouts", 500, "random files that TestRandomLayouts reads")

// TestRandomLayouts writes random ledgers in random layouts and reads them: each row is right, or a
// warning or a problem names the error. A warning about a wrong amount blocks the commit.
func TestRandomLayouts(t *testing.T) {
	t.Parallel()
	counts := make(map[string]int)
	for seed := range uint64(*randomLayouts) {
		r := rand.New(rand.NewPCG(seed, 1))
		s, entries := randomFile(r)
		l := layout{File: fmt.Sprint(seed)}
		for _, e := range entries {
			if e.status == "void" {
				continue
			}
			plain := style{mark: ".", decimals: s.decimals}
			amount := written.TrimDecimals(plain.number(e.amount - e.fee))
			want := row{Date: e.day.Format("2006-01-02"), Amount: amount, Currency: e.currency}
			if s.named() && !s.several {
				want.Currency = s.code
			}
			l.Rows = append(l.Rows, want)
		}
		rows := s.table(entries)
		contents := s.file(t, rows)
		file, err := formats.Open(bytes.NewReader(contents), statement.Options{})
		require.NoError(t, err, "seed %d: %+v\n%s", seed, s, contents)
		got := read(file)
		result, wrong := got.judge(l)
		counts[result]++
		isBlocked := slices.ContainsFunc(got.facts.Warnings, func(code string) bool {
			return code == statement.SignAssumed || code == statement.AmountAssumed ||
				code == statement.BalanceMismatch || code == statement.DecimalsAssumed
		})
		if isBlocked {
			counts["blocked"]++
		}
		isWrong := strings.Contains(wrong, " sign") || strings.Contains(wrong, " amount")
		if result == resultSilent || isWrong && got.err == nil && !isBlocked {
			t.Errorf("seed %d, %s, warnings %v: %+v\n%q\n%+v", seed, wrong, got.facts.Warnings, s,
				rows, got.facts.Mapping)
		}
	}
	t.Logf("of %d random layouts, %d are exact, %d warned and %d blocked", *randomLayouts,
		counts[resultExact], counts[resultWarned], counts["blocked"])
	require.Less(t, counts["blocked"], *randomLayouts/2)
}
