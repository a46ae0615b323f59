// Package daymonth infers the order of day and month of dates that are days of the calendar in
// several orders, such as 03/04/2026, from evidence in the rest of their file.
//
// Infer asks its rules one after the other, from strong to weak. Each rule returns the orders that
// its evidence allows. If rules contradict each other, or more than one order stays possible,
// nothing is inferred, and the user is asked. Otherwise the user sees the evidence. All functions
// are pure.
//
//   - daymonth.go: the rules. elsewhere.go: dates in the lines around the rows.
//     language.go: headings, currencies and accounts of countries that never write the month
//     first, with the words in dayfirst.txt
package daymonth

import (
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/coffer-budget/coffer/services/ledger/imports/formats/statement"
	"github.com/coffer-budget/coffer/services/ledger/imports/formats/written"
)

// File holds what a file shows about the order of the dates of a column.
type File struct {
	Orders []written.Orders   // In which all dates are days of the calendar.
	Dates  []written.DateText // Of the rows, in their order.
	Around []string           // Cells outside of the rows.
	Others []Other            // Further columns of dates.
	// Headings, Currencies and Account are those of the file. Each may be empty.
	Headings, Currencies []string
	Account              string    // The IBAN.
	Today                time.Time // The day of the upload, or zero.
}

// Other is a further column of dates.
type Other struct {
	Name    string
	Example written.DateText
	Orders  written.Orders // In which all its dates are days of the calendar.
}

// rule returns the orders of a file that its evidence allows, none or all without any.
type rule func(f *File) ([]written.Orders, statement.Evidence)

// Infer returns the only order that the evidence allows, with the evidence that excludes the last
// other one.
func Infer(f *File) (order written.Orders, evidence statement.Evidence, ok bool) {
	for _, order := range f.Orders {
		if days := f.days(order); len(days) == 0 || len(days) < len(f.Dates) {
			return 0, evidence, false
		}
	}
	left := f.Orders
	for _, rule := range []rule{
		byOthers, byDates, byPeriod, byFuture, bySequence, byDistance, byLanguage, byCurrency,
		byAccount,
	} {
		allowed, found := rule(f)
		if len(allowed) == 0 || len(allowed) == len(f.Orders) {
			continue
		}
		both := slices.DeleteFunc(slices.Clone(left), func(o written.Orders) bool {
			return !slices.Contains(allowed, o)
		})
		switch {
		case len(both) == 0:
			return 0, evidence, false // The evidence is contradictory.
		case len(both) < len(left):
			left, evidence = both, found
		}
	}
	return left[0], evidence, len(left) == 1
}

// allowed returns the orders of a file that fit.
func (f *File) allowed(fits func(written.Orders) bool) []written.Orders {
	return slices.DeleteFunc(slices.Clone(f.Orders), func(o written.Orders) bool {
		return !fits(o)
	})
}

// days returns the days of the rows in an order.
func (f *File) days(order written.Orders) []time.Time {
	days := make([]time.Time, 0, len(f.Dates))
	for _, date := range f.Dates {
		if day, ok := date.Date(order); ok {
			days = append(days, day)
		}
	}
	return days
}

// isLike reports whether a date has the form of those of the rows.
func (f *File) isLike(date written.DateText) bool {
	if len(f.Dates) == 0 || date.Separator == 0 || date.Separator != f.Dates[0].Separator {
		return false
	}
	for i, part := range date.Parts {
		if part.Digits == 0 || (part.Digits > 2) != (f.Dates[0].Parts[i].Digits > 2) {
			return false
		}
	}
	return true
}

// byOthers asks the further columns of dates, which have the form of the rows' dates.
func byOthers(f *File) ([]written.Orders, statement.Evidence) {
	for _, other := range f.Others {
		if f.isLike(other.Example) {
			allowed := f.allowed(func(o written.Orders) bool { return other.Orders&o != 0 })
			if len(allowed) > 0 && len(allowed) < len(f.Orders) {
				return allowed, statement.Shows("DATES_BY_COLUMN", "column", other.Name)
			}
		}
	}
	return nil, statement.Evidence{}
}

// byDates asks dates of the same form outside of the rows.
func byDates(f *File) ([]written.Orders, statement.Evidence) {
	all, example := ^written.Orders(0), ""
	for date, text := range datesIn(f.Around) {
		if !f.isLike(date) {
			continue
		}
		orders := date.Orders()
		excludes := func(o written.Orders) bool { return orders&o == 0 }
		if all &= orders; example == "" && slices.ContainsFunc(f.Orders, excludes) {
			example = text
		}
	}
	return f.allowed(func(o written.Orders) bool { return all&o != 0 }),
		statement.Shows("DATES_BY_EXAMPLE", "example", strconv.Quote(example))
}

// maxPeriod is the longest period of a statement.
const maxPeriod = 400 * 24 * time.Hour

// byPeriod asks the period that the lines around the rows state.
func byPeriod(f *File) ([]written.Orders, statement.Evidence) {
	var first, last time.Time
	for date := range datesIn(f.Around) {
		day, ok := date.Date(date.Orders()) // Unless it has several orders.
		if !ok || date.Separator == 0 {
			continue
		}
		if first.IsZero() || day.Before(first) {
			first = day
		}
		if day.After(last) {
			last = day
		}
	}
	if !first.Before(last) || last.Sub(first) > maxPeriod {
		return nil, statement.Evidence{}
	}
	return f.allowed(func(o written.Orders) bool {
			return !slices.ContainsFunc(f.days(o), func(day time.Time) bool {
				return day.Before(first) || day.After(last)
			})
		}), statement.Shows("DATES_BY_PERIOD", "first", first.Format(time.DateOnly),
			"last", last.Format(time.DateOnly))
}

// maxAhead is the time after the upload for which a file may have planned payments.
const maxAhead = 31 * 24 * time.Hour

// byFuture excludes orders in which days lie after the upload.
func byFuture(f *File) ([]written.Orders, statement.Evidence) {
	if f.Today.IsZero() {
		return nil, statement.Evidence{}
	}
	var future time.Time
	allowed := f.allowed(func(o written.Orders) bool {
		latest := slices.MaxFunc(f.days(o), time.Time.Compare)
		if latest.Sub(f.Today) <= maxAhead {
			return true
		}
		future = latest
		return false
	})
	return allowed, statement.Shows("DATES_BY_FUTURE", "date", future.Format(time.DateOnly))
}

// minDays is the number of different days from which their sequence or distance is evidence.
const minDays = 5

// bySequence asks the order of the rows: they rise or fall in one order, and change their direction
// several times in the others.
func bySequence(f *File) ([]written.Orders, statement.Evidence) {
	mixed := 0
	sorted := f.allowed(func(o written.Orders) bool {
		up, down := turns(f.days(o))
		if min(up, down) > 1 {
			mixed++
		}
		return min(up, down) == 0 && up+down >= minDays-1
	})
	if len(sorted)+mixed < len(f.Orders) {
		return nil, statement.Evidence{}
	}
	return sorted, statement.Shows("DATES_BY_SEQUENCE")
}

// turns counts the days after and before the previous one.
func turns(days []time.Time) (up, down int) {
	for i := 1; i < len(days); i++ {
		switch days[i].Compare(days[i-1]) {
		case 1:
			up++
		case -1:
			down++
		}
	}
	return up, down
}

// The longest span of days that are near to each other, and the shortest one of those that are not.
const (
	maxNear = 62 * 24 * time.Hour
	minFar  = 90 * 24 * time.Hour
)

// byDistance excludes orders that spread the rows over months, if they are near to each other in
// another one. Then each month has the same one or two days. So do payments of each month or each
// third one, even if some are missing. They exclude nothing.
func byDistance(f *File) ([]written.Orders, statement.Evidence) {
	span := make(map[written.Orders]time.Duration)
	nearest := f.Orders[0]
	for _, o := range f.Orders {
		days := f.days(o)
		span[o] = slices.MaxFunc(days, time.Time.Compare).
			Sub(slices.MinFunc(days, time.Time.Compare))
		if span[o] < span[nearest] {
			nearest = o
		}
	}
	if span[nearest] > maxNear || len(distinct(f.days(nearest))) < minDays {
		return nil, statement.Evidence{}
	}
	var far time.Duration
	allowed := f.allowed(func(o written.Orders) bool {
		isFar := span[o] >= max(minFar, 3*span[nearest]) && !isRegular(f.days(o))
		if isFar {
			far = span[o]
		}
		return !isFar
	})
	count := func(d time.Duration) string { return strconv.Itoa(int(d.Hours()/24) + 1) }
	return allowed, statement.Shows("DATES_BY_DISTANCE",
		"days", count(span[nearest]), "other", count(far))
}

// distinct returns the different days, sorted.
func distinct(days []time.Time) []time.Time {
	return slices.Compact(slices.SortedFunc(slices.Values(days), time.Time.Compare))
}

// isRegular reports whether days may be those of regular payments: most are in months at equal
// distances, or each day has equally many payments.
func isRegular(days []time.Time) bool {
	payments := make(map[time.Time]int)
	for _, day := range days {
		payments[day]++
	}
	numbers := slices.Sorted(maps.Values(payments))
	if numbers[0] == numbers[len(numbers)-1] {
		return true
	}
	var months []int
	for _, day := range distinct(days) {
		months = append(months, day.Year()*12+int(day.Month()))
	}
	months = slices.Compact(months)
	steps := make(map[int]int)
	for i := 1; i < len(months); i++ {
		steps[months[i]-months[i-1]]++
	}
	return slices.Max(slices.Collect(maps.Values(steps)))*3 >= (len(months)-1)*2
}
