package goals

import (
	"math/bits"
	"time"

	"github.com/coffer-budget/coffer/internal/calendar"
	"github.com/coffer-budget/coffer/internal/money"
	budgetv1 "github.com/coffer-budget/coffer/proto/gen/coffer/budget/v1"
)

// progress returns the progress of a goal at a time, with the months of a time zone. Amounts in
// minor units are multiplied by numbers of months with 128 bits, because a product may exceed 64.
func (g goal) progress(saved savings, now time.Time, zone string) *budgetv1.GoalProgress {
	today := calendar.Today(now, zone)
	currency, remaining := g.money(), max(g.TargetMinor-saved.Minor, 0)
	progress := &budgetv1.GoalProgress{
		Saved:      currency.Format(saved.Minor),
		Remaining:  currency.Format(remaining),
		Percentage: money.Percentage(saved.Minor, g.TargetMinor),
		State:      g.state(saved.Minor, calendar.Today(g.CreatedAt, zone), today),
	}
	// The current month counts as a whole one: the user can still save in it.
	months := int64(1)
	if saved.FirstDay != nil {
		months = max(monthsBetween(*saved.FirstDay, today)+1, 1)
	}
	progress.AveragePerMonth = currency.Format(saved.Minor / months)
	if remaining == 0 {
		return progress
	}
	if g.TargetDate != nil {
		left := max(monthsBetween(today, *g.TargetDate)+1, 1)
		progress.NeededPerMonth = new(currency.Format((remaining + left - 1) / left))
	}
	if day, ok := projected(today, remaining, saved.Minor, months); ok {
		progress.ProjectedDate = new(day.Format(calendar.DateLayout))
	}
	return progress
}

// state compares the savings with equal amounts in each month from the day of the creation to the
// target date.
func (g goal) state(saved int64, created, today time.Time) string {
	if saved >= g.TargetMinor {
		return "reached"
	}
	if g.TargetDate == nil {
		return "onTrack"
	}
	if today.After(*g.TargetDate) {
		return "behind"
	}
	planned := max(monthsBetween(created, *g.TargetDate)+1, 1)
	past := min(max(monthsBetween(created, today), 0), planned)
	switch {
	case less(saved, planned, g.TargetMinor, past):
		return "behind"
	case less(g.TargetMinor, past+1, saved, planned):
		return "ahead"
	}
	return "onTrack"
}

// projected returns the day on which the remaining amount is saved, if saved/months continues to be
// saved each month. It is false without savings, and after the last year that dates may have.
func projected(today time.Time, remaining, saved, months int64) (time.Time, bool) {
	high, low := bits.Mul64(uint64(remaining), uint64(months))
	// The quotient would not fit into 64 bits.
	if saved <= 0 || high >= uint64(saved) {
		return time.Time{}, false
	}
	needed, rest := bits.Div64(high, low, uint64(saved))
	if rest > 0 {
		needed++
	}
	if needed > 12*calendar.MaxYear {
		return time.Time{}, false
	}
	// The day is the last one of a shorter month.
	month := calendar.MonthOf(today).AddDate(0, int(needed), 0)
	day := month.AddDate(0, 0, today.Day()-1)
	if last := month.AddDate(0, 1, -1); day.After(last) {
		day = last
	}
	return day, day.Year() <= calendar.MaxYear
}

// monthsBetween returns the number of months from the month of one day to the month of another.
func monthsBetween(from, to time.Time) int64 {
	return int64(to.Year()-from.Year())*12 + int64(to.Month()) - int64(from.Month())
}

// less reports whether a*b is less than c*d. None of them is negative.
func less(a, b, c, d int64) bool {
	high, low := bits.Mul64(uint64(a), uint64(b))
	otherHigh, otherLow := bits.Mul64(uint64(c), uint64(d))
	return high < otherHigh || high == otherHigh && low < otherLow
}
