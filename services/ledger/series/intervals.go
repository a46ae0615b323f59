package series

import (
	"time"

	"github.com/coffer-budget/coffer/internal/calendar"
)

// maxIntervals is the maximum number of intervals: the days of a year, and those around it.
const maxIntervals = 400

// split returns the intervals of a period that is not empty. The first and the last one end with
// the period. It returns nil if there are more than maxIntervals.
func split(period calendar.Period, interval string, weekStart time.Weekday) []calendar.Period {
	var intervals []calendar.Period
	for from := period.From; from.Before(period.End); {
		if len(intervals) == maxIntervals {
			return nil
		}
		end := after(from, interval, weekStart)
		if end.After(period.End) {
			end = period.End
		}
		intervals = append(intervals, calendar.Period{From: from, End: end})
		from = end
	}
	return intervals
}

// after returns the first day after the interval that contains a day.
func after(day time.Time, interval string, weekStart time.Weekday) time.Time {
	switch interval {
	case "day":
		return day.AddDate(0, 0, 1)
	case "week":
		return day.AddDate(0, 0, 7-int(day.Weekday()-weekStart+7)%7)
	case "quarter":
		return time.Date(day.Year(), (day.Month()-1)/3*3+4, 1, 0, 0, 0, 0, time.UTC)
	case "year":
		return time.Date(day.Year()+1, 1, 1, 0, 0, 0, 0, time.UTC)
	}
	return calendar.MonthOf(day).AddDate(0, 1, 0)
}
