// Package daymonth infers the order of day and month of dates that are days of the calendar in
// several orders, such as 03/04/2026, from evidence in the rest of their file.
//
// Infer asks its rules one after the other, from strong to weak. Each rule returns the orders that
// its evidence allows. If rules contradict each other, or more than one order stays possible,
// nothing is inferred, and the user is asked. Otherwise the user sees the evidence. All functions
// are pure.
//
//   - daymonth.go: Infer and the rules of the rows
//   - elsewhere.go: dates in the lines around the rows, with the words of periods in period.txt
//   - year.go: the year of dates without one
//   - language.go: headings, currencies and accounts of countries that never write the month first,
//     with the words in dayfirst.txt
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
	Around [][]string         // The cells of the lines outside of the rows.
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

// rule returns the orders of a file that its evidence allows: all without any evidence, and none if
// the evidence contradicts itself.
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

// among returns the orders of a file that are in a set.
func (f *File) among(set written.Orders) []written.Orders {
	return slices.DeleteFunc(slices.Clone(f.Orders), func(o written.Orders) bool {
		return set&o == 0
	})
}

// allowed returns the orders of a file that fit. If none does, the condition is no evidence, and
// all are allowed.
func (f *File) allowed(fits func(written.Orders) bool) []written.Orders {
	var set written.Orders
	for _, o := range f.Orders {
		if fits(o) {
			set |= o
		}
	}
	if set == 0 {
		return f.Orders
	}
	return f.among(set)
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

// excludes reports whether a set lacks an order of a file.
func (f *File) excludes(set written.Orders) bool { return len(f.among(set)) < len(f.Orders) }

// byOthers asks the further columns of dates, which have the form of the rows' dates.
func byOthers(f *File) ([]written.Orders, statement.Evidence) {
	all, name := ^written.Orders(0), ""
	for _, other := range f.Others {
		if !f.isLike(other.Example) {
			continue
		}
		if all &= other.Orders; name == "" && f.excludes(other.Orders) {
			name = other.Name
		}
	}
	return f.among(all), statement.Shows("DATES_BY_COLUMN", "column", name)
}

// maxAhead is the time after the upload for which a file may have planned payments.
const maxAhead = 31 * 24 * time.Hour

// byFuture excludes orders in which days lie after the upload.
func byFuture(f *File) ([]written.Orders, statement.Evidence) {
	if f.Today.IsZero() {
		return f.Orders, statement.Evidence{}
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
// several times in the others. Rows that are sorted as text, such as 01/02, 01/03 and 02/01, rise
// in the order of the parts, whichever of them is the month.
func bySequence(f *File) ([]written.Orders, statement.Evidence) {
	if slices.IsSortedFunc(f.Dates, written.DateText.CompareText) ||
		slices.IsSortedFunc(f.Dates, func(a, b written.DateText) int { return b.CompareText(a) }) {
		return f.Orders, statement.Evidence{}
	}
	mixed := 0
	sorted := f.allowed(func(o written.Orders) bool {
		up, down := turns(f.days(o))
		if min(up, down) > 1 {
			mixed++
		}
		return min(up, down) == 0 && up+down >= minDays-1
	})
	if len(sorted)+mixed < len(f.Orders) {
		return f.Orders, statement.Evidence{}
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
		return f.Orders, statement.Evidence{}
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
