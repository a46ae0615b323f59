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
	dateLayout  = "2006-01-02"
	monthLayout = "2006-01"
	timestamp   = "2006-01-02T15:04:05.000Z"

	minYear = 1900
	maxYear = 2200
	// mostDecimals is how many the finest currency has.
	mostDecimals = 4
)

// wrongDate says what a date may be.
const wrongDate = "must be an ISO 8601 date-time or YYYY-MM-DD, of the years 1900 to 2200"

// dateTime is ISO 8601's extended form: RFC 3339, of which seconds and zone may be left out.
var dateTime = regexp.MustCompile(`^(\d{4}-\d\d-\d\d)[Tt](\d\d:\d\d)(:\d\d(?:\.\d+)?)?([Zz]|[+-]\d\d:\d\d)?$`)

// currencyOf is for codes that were checked before.
func currencyOf(code string) money.Currency {
	c, _ := money.ParseCurrency(code)
	return c
}

// formatTime writes the layout that Go formats quickest, and the milliseconds in front of its Z.
func formatTime(t time.Time) string {
	b := t.UTC().AppendFormat(make([]byte, 0, len("2006-01-02T15:04:05.000Z")), time.RFC3339)
	ms := t.Nanosecond() / int(time.Millisecond)
	return string(append(b[:len(b)-1], '.', byte('0'+ms/100), byte('0'+ms/10%10), byte('0'+ms%10), 'Z'))
}

// parseTime reads an ISO 8601 date-time or YYYY-MM-DD, to the millisecond; bare tells the latter. Both are UTC unless the
// zone is given.
func parseTime(s string) (t time.Time, bare, ok bool) {
	t, err := time.Parse(dateLayout, s)
	bare = err == nil
	if part := dateTime.FindStringSubmatch(s); part != nil {
		t, err = time.Parse(time.RFC3339, part[1]+"T"+part[2]+cmp.Or(part[3], ":00")+cmp.Or(strings.ToUpper(part[4]), "Z"))
	}
	t = t.UTC().Truncate(time.Millisecond)
	return t, bare, err == nil && t.Year() >= minYear && t.Year() <= maxYear
}

// parseBound reads an end of a window. As its last moment it returns the first one after it, so that a bare date is a
// whole day.
func parseBound(p *apierr.Problems, field, s string, last bool) time.Time {
	t, bare, ok := parseTime(s)
	switch {
	case !ok:
		p.Add(errInvalidTransactionDate.With(field, wrongDate))
	case last && bare:
		return t.AddDate(0, 0, 1)
	case last:
		return t.Add(time.Millisecond)
	}
	return t
}

// parseCurrency returns the zero currency for a code that is none.
func parseCurrency(p *apierr.Problems, field, s string) money.Currency {
	currency, ok := money.ParseCurrency(s)
	if !ok {
		p.Add(errUnsupportedCurrency.With(field, "must be an ISO 4217 code"))
		return money.Currency{}
	}
	return currency
}

func requireCurrency(p *apierr.Problems, field, s string) money.Currency {
	if strings.TrimSpace(s) == "" {
		p.Field(&apierr.Field{Name: field, Message: "is required"})
		return money.Currency{}
	}
	return parseCurrency(p, field, s)
}

// parseAmount reads an amount in minor units of a currency; without one it only judges the number.
func parseAmount(currency money.Currency, s string) (int64, error) {
	if currency == (money.Currency{}) {
		return money.ParseDecimal(s, mostDecimals)
	}
	return currency.Parse(s)
}

// parseID reads the id of what a path or a filter names.
func parseID(p *apierr.Problems, field, s string, malformed *apierr.Error) uuid.UUID {
	id, ok := text.ID(s)
	if !ok {
		p.Add(malformed.With(field, "must be an id"))
	}
	return id
}

// parseReference reads the id of what a body must name.
func parseReference(p *apierr.Problems, field, s string, malformed *apierr.Error) uuid.UUID {
	if strings.TrimSpace(s) == "" {
		p.Field(&apierr.Field{Name: field, Message: "is required"})
		return uuid.Nil
	}
	return parseID(p, field, s, malformed)
}
