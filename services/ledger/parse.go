package ledger

import (
	"regexp"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/coffer-budget/coffer/internal/apierr"
	"github.com/coffer-budget/coffer/internal/money"
	"github.com/coffer-budget/coffer/internal/page"
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

var rfc3339 = regexp.MustCompile(`^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$`)

// currencyOf is for codes that were checked before.
func currencyOf(code string) money.Currency {
	c, _ := money.ParseCurrency(code)
	return c
}

func formatTime(t time.Time) string { return t.UTC().Format(timestamp) }

// parseTime reads RFC 3339 or YYYY-MM-DD, to the millisecond; bare tells the latter.
func parseTime(s string) (t time.Time, bare, ok bool) {
	t, err := time.Parse(dateLayout, s)
	bare = err == nil
	if !bare {
		t, err = time.Parse(time.RFC3339, s)
	}
	t = t.UTC().Truncate(time.Millisecond)
	// The package time would also take "T7:00:00Z" and "T07:00:00,5Z".
	return t, bare, err == nil && (bare || rfc3339.MatchString(s)) && t.Year() >= minYear && t.Year() <= maxYear
}

// parseBound reads an end of a window. As its last moment it returns the first one after it, so that a bare date is a
// whole day.
func parseBound(p *apierr.Problems, field, s string, last bool) time.Time {
	t, bare, ok := parseTime(s)
	switch {
	case !ok:
		p.Add(errInvalidTransactionDate.With(field, "must be RFC 3339 or YYYY-MM-DD, of the years 1900 to 2200"))
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

// parsePage reads what lists have in common: how many rows to answer, and the position after which they start.
func (s *server) parsePage(scope string, limit *int32, cursor string, position any) (int, error) {
	var p apierr.Problems
	rows, problem := page.Limit(limit)
	p.Field(problem)
	if err := p.Err(); err != nil || cursor == "" {
		return rows, err
	}
	return rows, s.cursors.Open(scope, cursor, position)
}
