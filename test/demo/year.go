package demo

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"time"
)

// Types of entries. The API has no transactions of type transfer: POST /transfers creates both
// sides.
const (
	expense  = "expense"
	income   = "income"
	transfer = "transfer"
)

// season has a factor for each month, from January. It is nil if all are 1.
type season []float64

func (s season) factor(m time.Month) float64 {
	if s == nil {
		return 1
	}
	return s[m-time.January]
}

// source is a repeated cause of transactions.
type source struct {
	category, wallet string
	// payees are separated by semicolons. Each has a comma and a description if it has one.
	payees string
	// day is the day of the month. If 0, perWeek is the average number in a week.
	day     int
	perWeek float64
	// cents is the average amount. spread is the standard deviation of its logarithm: 0 makes all
	// amounts equal, 0.5 varies them by half.
	cents  int64
	spread float64
	season season
	// kind is expense by default.
	kind string
	tags []string
	// part is the category of a quarter of the amount. If it is empty, the transaction is not
	// split.
	part string
	// to is the wallet that receives a transfer, and rate the price of one unit of the wallet's
	// currency in its currency.
	to   string
	rate float64
}

// entry is a transaction, or a transfer to another wallet, where toCents arrive. partCents of a
// split transaction belong to the category part.
type entry struct {
	at                                         time.Time
	kind, category, wallet, payee, description string
	cents                                      int64
	tags                                       []string
	part                                       string
	partCents                                  int64
	to                                         string
	toCents                                    int64
}

// year returns the transactions of the days before now, oldest first. It is a pure function: the
// same arguments give the same transactions.
func year(seed uint64, now time.Time, days int) []entry {
	random := rand.New(rand.NewPCG(seed, 0))
	var entries []entry
	for ago := days; ago >= 0; ago-- {
		day := time.Date(now.Year(), now.Month(), now.Day()-ago, 0, 0, 0, 0, time.UTC)
		for _, s := range household {
			for range s.count(day, random) {
				// The values are drawn even for a transaction in the future, so that the current
				// time changes no other day.
				if e := s.entry(day, random); !e.at.After(now) {
					entries = append(entries, e)
				}
			}
		}
	}
	slices.SortStableFunc(entries, func(a, b entry) int { return a.at.Compare(b.at) })
	return entries
}

// count returns the number of transactions on a day. Fridays and Saturdays have the most, and
// Sundays the fewest. The factors of a week add up to 7, so perWeek stays the average.
func (s source) count(day time.Time, random *rand.Rand) int {
	if s.day > 0 {
		if day.Day() == s.day {
			return 1
		}
		return 0
	}
	rate := s.perWeek / 7 * s.season.factor(day.Month())
	switch day.Weekday() {
	case time.Friday, time.Saturday:
		rate *= 1.5
	case time.Sunday:
		rate *= 0.7
	default:
		rate *= 0.825
	}
	n := int(rate)
	if random.Float64() < rate-float64(n) {
		n++
	}
	return n
}

// entry returns a transaction on a day, between 7:00 and 20:59. Amounts are log-normal, so that
// large ones are rare.
func (s source) entry(day time.Time, random *rand.Rand) entry {
	cents := float64(s.cents)
	if s.day > 0 {
		cents *= s.season.factor(day.Month())
	}
	cents *= math.Exp(random.NormFloat64()*s.spread - s.spread*s.spread/2)
	entry := entry{
		at:   day.Add(7*time.Hour + time.Duration(random.IntN(14*60))*time.Minute),
		kind: cmp.Or(s.kind, expense), category: s.category, wallet: s.wallet, tags: s.tags,
		part: s.part, to: s.to,
	}
	payees := strings.Split(s.payees, "; ")
	entry.payee, entry.description, _ = strings.Cut(payees[random.IntN(len(payees))], ", ")
	entry.cents = max(50, int64(math.Round(cents)))
	if s.part != "" {
		entry.partCents = entry.cents / 4
	}
	entry.toCents = int64(math.Round(float64(entry.cents) * cmp.Or(s.rate, 1)))
	return entry
}

// net returns the total of a wallet's income and incoming transfers less its expenses and outgoing
// transfers, in cents. createAccounts subtracts it from the final balance to get the opening
// balance.
func net(entries []entry, wallet string) (cents int64) {
	for _, entry := range entries {
		switch {
		case entry.to == wallet:
			cents += entry.toCents
		case entry.wallet != wallet:
		case entry.kind == income:
			cents += entry.cents
		default:
			cents -= entry.cents
		}
	}
	return cents
}

// firstDay returns the day of the first entry.
func firstDay(entries []entry) time.Time {
	first := slices.MinFunc(entries, func(a, b entry) int { return a.at.Compare(b.at) })
	return first.at.UTC().Truncate(24 * time.Hour)
}

// valuation is the value of the fund at the end of a day.
type valuation struct {
	day   time.Time
	cents int64
}

// valuations returns the values of the fund at the ends of the last three months, from the first
// day on. Before it, the wallet has no opening balance.
func valuations(now, first time.Time) []valuation {
	var out []valuation
	month := time.Date(now.Year(), now.Month(), 1, 0, 0, 0, 0, time.UTC)
	for i, cents := range []int64{861_240, 855_010, 878_930} {
		if day := month.AddDate(0, i-2, -1); !day.Before(first) {
			out = append(out, valuation{day, cents})
		}
	}
	return out
}

// currencyOf returns the currency of a wallet.
func currencyOf(wallet string) string {
	for _, w := range wallets {
		if w.name == wallet {
			return w.currency
		}
	}
	return ""
}
