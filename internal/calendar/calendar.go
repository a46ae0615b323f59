// Package calendar holds the dates, timestamps and periods that all services share.
//
// A moment has a precision of one millisecond. A date is the midnight in UTC at which its day
// starts. Requests may use the years MinYear to MaxYear: ParseTime reads a date or a date-time in
// both forms of ISO 8601, and ParseDate only YYYY-MM-DD.
//
// Period is the only type of a span of time. It is half-open: it includes From and excludes End. A
// request names the last included day instead; Days converts it.
package calendar

import (
	"cmp"
	"regexp"
	"time"
)

const (
	DateLayout  = "2006-01-02"
	MonthLayout = "2006-01"

	// MinYear and MaxYear are the years that a date of a request may have, inclusive.
	MinYear = 1900
	MaxYear = 2200
)

// ISO 8601's extended and basic forms of a calendar date with an optional time of day.
var (
	extendedTime = regexp.MustCompile(`^(\d{4})-(\d\d)-(\d\d)` +
		`(?:[Tt](\d\d):(\d\d)(?::(\d\d)(?:[.,](\d+))?)?` + offset + `)?$`)
	basicTime = regexp.MustCompile(`^(\d{4})(\d\d)(\d\d)` +
		`(?:[Tt](\d\d)(\d\d)(?:(\d\d)(?:[.,](\d+))?)?` + offset + `)?$`)
)

// offset matches Z, +02:00, +0200 or +02. Its groups are the sign with the hours, and the minutes.
const offset = `(?:[Zz]|([+-](?:[01]\d|2[0-3]))(?::?([0-5]\d))?)?`

// FormatTime formats t in UTC with milliseconds: 2006-01-02T15:04:05.000Z. It inserts the
// milliseconds into RFC 3339, which Go formats much faster than other layouts.
func FormatTime(t time.Time) string {
	b := t.UTC().AppendFormat(make([]byte, 0, len("2006-01-02T15:04:05.000Z")), time.RFC3339)
	ms := t.Nanosecond() / int(time.Millisecond)
	b = append(b[:len(b)-1], '.', byte('0'+ms/100), byte('0'+ms/10%10), byte('0'+ms%10), 'Z')
	return string(b)
}

// ParseTime parses an ISO 8601 date or date-time, and truncates it to milliseconds. The zone is UTC
// unless an offset is given. bare reports whether s has no time of day. ok is false for other
// syntax, dates that do not exist, and years outside of MinYear to MaxYear.
func ParseTime(s string) (parsed time.Time, bare, ok bool) {
	part := extendedTime.FindStringSubmatch(s)
	if part == nil {
		part = basicTime.FindStringSubmatch(s)
	}
	if part == nil {
		return time.Time{}, false, false
	}
	zone := "Z"
	if part[8] != "" {
		zone = part[8] + ":" + cmp.Or(part[9], "00")
	}
	// The parts are joined to RFC 3339, so that package time validates days and hours.
	parsed, err := time.Parse(time.RFC3339, part[1]+"-"+part[2]+"-"+part[3]+
		"T"+cmp.Or(part[4], "00")+":"+cmp.Or(part[5], "00")+
		":"+cmp.Or(part[6], "00")+"."+cmp.Or(part[7], "0")+zone)
	parsed = parsed.UTC().Truncate(time.Millisecond)
	return parsed, part[4] == "", err == nil && inYears(parsed)
}

// ParseDate parses YYYY-MM-DD. ok is false for other syntax, dates that do not exist, and years
// outside of MinYear to MaxYear.
func ParseDate(s string) (d time.Time, ok bool) {
	d, err := time.Parse(DateLayout, s)
	return d, err == nil && inYears(d)
}

func inYears(t time.Time) bool { return t.Year() >= MinYear && t.Year() <= MaxYear }

// DayOf returns the date of a moment in UTC.
func DayOf(t time.Time) time.Time { return t.UTC().Truncate(24 * time.Hour) }

// MonthOf returns the first day of the month of a moment in UTC.
func MonthOf(t time.Time) time.Time {
	t = t.UTC()
	return time.Date(t.Year(), t.Month(), 1, 0, 0, 0, 0, time.UTC)
}
