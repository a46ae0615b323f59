package learning

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
)

const (
	merchants  = 60
	categories = 12
	months     = 36
	perMonth   = 120
)

// merchant is a shop with its category. Its name is random, so that nothing can be tuned to it.
type merchant struct {
	name     string
	category uuid.UUID
	weight   float64
}

// household generates the statement of a household.
type household struct {
	*rand.Rand
	merchants []merchant
	cities    []string
}

// word returns a random word of some syllables.
func (h *household) word(syllables int) string {
	var b strings.Builder
	for range syllables {
		b.WriteByte("bdfgklmnprstvw"[h.IntN(14)])
		b.WriteByte("aeiou"[h.IntN(5)])
		if h.IntN(3) == 0 {
			b.WriteByte("lnrst"[h.IntN(5)])
		}
	}
	return b.String()
}

// newHousehold returns a household whose merchants have Zipf-distributed frequencies. Half of them
// have a word for their trade, which the merchants of a category share.
func newHousehold(seed uint64) *household {
	household := &household{Rand: rand.New(rand.NewPCG(seed, 0))}
	var ids [categories]uuid.UUID
	var trades [categories]string
	for i := range ids {
		ids[i], trades[i] = uuid.NewSHA1(uuid.Nil, fmt.Append(nil, seed, i)), household.word(3)
	}
	for range 15 {
		household.cities = append(household.cities, household.word(3))
	}
	for i := range merchants {
		category := i % categories
		name := household.word(2 + household.IntN(2))
		if household.IntN(2) == 0 {
			name += " " + trades[category]
		}
		household.merchants = append(household.merchants,
			merchant{name, ids[category], 1 / math.Pow(float64(i+1), 1)})
	}
	return household
}

// purchase returns the payee on a statement, and its merchant.
func (h *household) purchase() (payee string, merchant merchant) {
	total := 0.0
	for _, m := range h.merchants {
		total += m.weight
	}
	at := h.Float64() * total
	merchant = h.merchants[len(h.merchants)-1]
	for _, candidate := range h.merchants {
		if at -= candidate.weight; at < 0 {
			merchant = candidate
			break
		}
	}
	payee = merchant.name
	if h.IntN(25) == 0 {
		payee = h.typo(payee)
	}
	if h.IntN(3) == 0 {
		payee += []string{" GmbH", " Ltd", " e.K.", " thanks you", " AG", " & Co"}[h.IntN(6)]
	}
	if h.IntN(2) == 0 {
		payee += fmt.Sprintf(" %04d", h.IntN(10_000))
	}
	if h.IntN(2) == 0 {
		payee += " " + h.cities[h.IntN(len(h.cities))]
	}
	if h.IntN(10) == 0 {
		payee = []string{"PAYPAL *", "SUMUP  *", "CARD 4711 "}[h.IntN(3)] + payee
	}
	if h.IntN(2) == 0 {
		payee = strings.ToUpper(payee)
	}
	return payee, merchant
}

// typo drops, doubles or swaps a letter.
func (h *household) typo(s string) string {
	i := h.IntN(len(s) - 1)
	switch h.IntN(3) {
	case 0:
		return s[:i] + s[i+1:]
	case 1:
		return s[:i+1] + s[i:]
	}
	return s[:i] + s[i+1:i+2] + s[i:i+1] + s[i+2:]
}

// accuracy returns the shares of rows after the first month that get the right and a wrong
// category, and the share of rows whose merchant occurs in a month that the user has corrected.
// With corrects, the user corrects each month before the next one, and otherwise only the first
// month.
func accuracy(seed uint64, corrects bool) (right, wrong, seen float64) {
	household, memory := newHousehold(seed), &Memory{}
	corrected := map[string]bool{}
	rows := 0.0
	for month := range months {
		memory.Learn()
		type row struct {
			payee string
			merchant
		}
		var statement []row
		for range perMonth {
			payee, shop := household.purchase()
			statement = append(statement, row{payee, shop})
			if month == 0 {
				continue
			}
			rows++
			if corrected[shop.name] {
				seen++
			}
			switch s := memory.Suggest(payee, "", true); {
			case s.Confidence < MinConfidence:
			case s.Category == shop.category:
				right++
			default:
				wrong++
			}
		}
		for _, r := range statement {
			if month == 0 || corrects {
				memory.Add(Example{
					Payee: r.payee, Expense: true, CategoryID: r.category, Chosen: true,
				})
				corrected[r.name] = true
			}
		}
	}
	return right / rows, wrong / rows, seen / rows
}

// TestSuggestHousehold imports the statements of ten households for three years, one month at a
// time.
func TestSuggestHousehold(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name     string
		corrects bool
	}{{"one month of corrections", false}, {"a correction of each month", true}} {
		var rights, wrongs, ceiling float64
		for seed := range uint64(10) {
			right, wrong, seen := accuracy(seed, tc.corrects)
			t.Logf(
				"%s, household %d: %.1f %% right, %.1f %% wrong, %.1f %% with a corrected merchant",
				tc.name, seed, 100*right, 100*wrong, 100*seen,
			)
			rights, wrongs, ceiling = rights+right/10, wrongs+wrong/10, ceiling+seen/10
		}
		t.Logf("%s: %.1f %% right, %.1f %% wrong, %.1f %% with a corrected merchant", tc.name,
			100*rights, 100*wrongs, 100*ceiling)
		if tc.corrects {
			assert.GreaterOrEqual(t, rights, 0.95)
		} else {
			assert.GreaterOrEqual(t, rights, 0.83)
		}
		assert.LessOrEqual(t, wrongs, 0.02)
	}
}
