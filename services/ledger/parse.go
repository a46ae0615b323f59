package ledger

import (
	"cmp"
	"regexp"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/coffer-budget/coffer/internal/apierr"
	"github.com/coffer-budget/coffer/internal/money"
	"github.com/coffer-budget/coffer/internal/text"
)

const (
	// Layouts of package time. timestamp is for UTC only.
	dateLayout  = "2006-01-02"
	monthLayout = "2006-01"
	timestamp   = "2006-01-02T15:04:05.000Z"

	// minYear and maxYear are the years that a date may have, inclusive.
	minYear = 1900
	maxYear = 2200
	// mostDecimals is the maximum number of decimals of a currency.
	mostDecimals = 4
)

// invalidDate is the detail of an invalid transaction date: the specification's message and the accepted values.
const invalidDate = "Invalid transaction date: must be an ISO 8601 date or date-time of the years 1900 to 2200"

// ISO 8601's extended and basic forms of a calendar date with an optional time of day. Seconds and the offset may be omitted.
var (
	extendedTime = regexp.MustCompile(`^(\d{4})-(\d\d)-(\d\d)(?:[Tt](\d\d):(\d\d)(?::(\d\d)(?:[.,](\d+))?)?` + offset + `)?$`)
	basicTime    = regexp.MustCompile(`^(\d{4})(\d\d)(\d\d)(?:[Tt](\d\d)(\d\d)(?:(\d\d)(?:[.,](\d+))?)?` + offset + `)?$`)
)

// offset matches Z, +02:00, +0200 or +02. Its groups are the sign with the hours, and the minutes.
const offset = `(?:[Zz]|([+-](?:[01]\d|2[0-3]))(?::?([0-5]\d))?)?`

// currencyOf returns the currency of a valid code, such as one from the database.
func currencyOf(code string) money.Currency {
	c, _ := money.ParseCurrency(code)
	return c
}

// formatTime formats t in UTC with milliseconds, like layout timestamp. It inserts the milliseconds into RFC 3339, which Go formats
// much faster than other layouts.
func formatTime(t time.Time) string {
	b := t.UTC().AppendFormat(make([]byte, 0, len("2006-01-02T15:04:05.000Z")), time.RFC3339)
	ms := t.Nanosecond() / int(time.Millisecond)
	return string(append(b[:len(b)-1], '.', byte('0'+ms/100), byte('0'+ms/10%10), byte('0'+ms%10), 'Z'))
}

// parseTime parses an ISO 8601 date or date-time, and truncates it to milliseconds. The zone is UTC unless an offset is given.
// bare reports whether s has no time of day. ok is false for other syntax, dates that do not exist, and years outside of minYear to
// maxYear.
func parseTime(s string) (t time.Time, bare, ok bool) {
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
	t, err := time.Parse(time.RFC3339, part[1]+"-"+part[2]+"-"+part[3]+
		"T"+cmp.Or(part[4], "00")+":"+cmp.Or(part[5], "00")+":"+cmp.Or(part[6], "00")+"."+cmp.Or(part[7], "0")+zone)
	t = t.UTC().Truncate(time.Millisecond)
	return t, part[4] == "", err == nil && t.Year() >= minYear && t.Year() <= maxYear
}

// parseBound parses a bound of a window. For the last moment it returns the first moment after the window, so that a bare
// date includes its whole day.
func parseBound(p *apierr.Problems, field, s string, last bool) time.Time {
	t, bare, ok := parseTime(s)
	switch {
	case !ok:
		p.Add(errInvalidTransactionDate.With(field, invalidDate))
	case last && bare:
		return t.AddDate(0, 0, 1)
	case last:
		return t.Add(time.Millisecond)
	}
	return t
}

// parseCurrency parses an ISO 4217 code. For an unknown code it adds a problem and returns the zero currency.
func parseCurrency(p *apierr.Problems, field, s string) money.Currency {
	currency, ok := money.ParseCurrency(s)
	if !ok {
		p.Add(errUnsupportedCurrency.With(field, "must be an active ISO 4217 code, such as EUR"))
		return money.Currency{}
	}
	return currency
}

// requireCurrency is parseCurrency with a separate problem for an absent code.
func requireCurrency(p *apierr.Problems, field, s string) money.Currency {
	if strings.TrimSpace(s) == "" {
		p.Field(&apierr.Field{Name: field, Message: "is required"})
		return money.Currency{}
	}
	return parseCurrency(p, field, s)
}

// parseAmount parses an amount and returns it in minor units of the currency. If the currency is zero, because the request's is
// invalid, it only validates the number.
func parseAmount(currency money.Currency, s string) (int64, error) {
	if currency == (money.Currency{}) {
		return money.ParseDecimal(s, mostDecimals)
	}
	return currency.Parse(s)
}

// parseID parses the id of a filter. For a malformed one it adds a problem and returns the zero id.
func parseID(p *apierr.Problems, field, s string, malformed *apierr.Error) uuid.UUID {
	id, ok := text.ID(s)
	if !ok {
		p.Add(malformed.With(field, "must be a UUID"))
	}
	return id
}

// parseReference parses the id of a wallet or category in a body. It returns nil and adds a problem if the id is malformed.
func parseReference(p *apierr.Problems, field, s string, malformed *apierr.Error) *uuid.UUID {
	id, ok := text.ID(s)
	if !ok {
		p.Add(malformed.With(field, "must be a UUID"))
		return nil
	}
	return &id
}

// requireReference is parseReference with a separate problem for an absent id.
func requireReference(p *apierr.Problems, field, s string, malformed *apierr.Error) *uuid.UUID {
	if strings.TrimSpace(s) == "" {
		p.Field(&apierr.Field{Name: field, Message: "is required"})
		return nil
	}
	return parseReference(p, field, s, malformed)
}
