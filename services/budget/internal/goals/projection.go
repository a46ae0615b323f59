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
	first, last := saved.months(today)
	months := monthsBetween(first, last) + 1
	progress := &budgetv1.GoalProgress{
		Saved:           currency.Format(saved.Minor),
		Remaining:       currency.Format(remaining),
		Percentage:      money.Percentage(saved.Minor, g.TargetMinor),
		AveragePerMonth: currency.Format(saved.Minor / months),
		State:           reached,
	}
	if remaining == 0 {
		return progress
	}
	if g.TargetDate != nil {
		left := max(monthsBetween(today, *g.TargetDate)+1, 1)
		progress.NeededPerMonth = new(currency.Format((remaining + left - 1) / left))
	}
	needed, ok := monthsUntil(remaining, saved.Minor, months)
	if !ok {
		progress.State = g.stateWithout(saved.Minor, calendar.Today(g.CreatedAt, zone), today)
		return progress
	}
	day := g.dayIn(calendar.MonthOf(last).AddDate(0, int(needed), 0), today)
	progress.State = g.state(day)
	if day.Year() <= calendar.MaxYear {
		progress.ProjectedDate = new(day.Format(calendar.DateLayout))
	}
	return progress
}

// The states of a goal.
const (
	reached = "reached"
	ahead   = "ahead"
	onTrack = "onTrack"
	behind  = "behind"
)

// months returns a day of the first and of the last month of the average. The current month counts
// as a whole one as soon as money is assigned in it. Otherwise the average would be too low at the
// beginning of each month, before the user has saved.
func (s savings) months(today time.Time) (first, last time.Time) {
	if s.FirstDay == nil || monthsBetween(*s.FirstDay, today) <= 0 {
		return today, today
	}
	if monthsBetween(*s.LastDay, today) > 0 {
		return *s.FirstDay, calendar.MonthOf(today).AddDate(0, -1, 0)
	}
	return *s.FirstDay, today
}

// state compares the projected day with the target date, so that the two cannot contradict.
func (g goal) state(projected time.Time) string {
	switch {
	case g.TargetDate == nil:
		return onTrack
	case projected.After(*g.TargetDate):
		return behind
	case monthsBetween(projected, *g.TargetDate) > 0:
		return ahead
	}
	return onTrack
}

// stateWithout returns the state of a goal without a projected day. A user who has saved nothing is
// behind from the month after the creation on.
func (g goal) stateWithout(saved int64, created, today time.Time) string {
	if g.TargetDate == nil || saved == 0 && monthsBetween(created, today) <= 0 &&
		!today.After(*g.TargetDate) {
		return onTrack
	}
	return behind
}

// dayIn returns the day of a month on which the target is saved: the day of today, but not after
// the last day of a shorter month. In the month of the target date it is not after that date,
// unless the date has passed.
func (g goal) dayIn(month, today time.Time) time.Time {
	day := month.AddDate(0, 0, today.Day()-1)
	if last := month.AddDate(0, 1, -1); day.After(last) {
		day = last
	}
	if g.TargetDate != nil && !today.After(*g.TargetDate) &&
		monthsBetween(day, *g.TargetDate) == 0 && day.After(*g.TargetDate) {
		return *g.TargetDate
	}
	return day
}

// monthsUntil returns the number of months in which the remaining amount is saved, if saved/months
// continues to be saved each month. It is false without savings, and if the number exceeds all
// dates.
func monthsUntil(remaining, saved, months int64) (needed uint64, ok bool) {
	high, low := bits.Mul64(uint64(remaining), uint64(months))
	// The quotient would not fit into 64 bits.
	if saved <= 0 || high >= uint64(saved) {
		return 0, false
	}
	needed, rest := bits.Div64(high, low, uint64(saved))
	if rest > 0 {
		needed++
	}
	return needed, needed <= 12*calendar.MaxYear
}

// monthsBetween returns the number of months from the month of one day to the month of another.
func monthsBetween(from, to time.Time) int64 {
	return int64(to.Year()-from.Year())*12 + int64(to.Month()) - int64(from.Month())
}
