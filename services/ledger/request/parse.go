// Package request validates the fields that several of the ledger's requests have: dates,
// currencies, amounts, and the ids of wallets and categories.
//
// A parse function adds a problem to the request's problems instead of returning an error, so that
// one response names all of them. References are the wallet and the category that a request names.
// SelectReferences and SelectOwned find those that belong to the caller, and their Check adds a
// problem for each that does not.
//
// A wallet or category may be deleted after the check. So the check only decides the error, and a
// foreign key or a condition of the writing statement decides whether anything is written.
package request

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/coffer-budget/coffer/internal/apierr"
	"github.com/coffer-budget/coffer/internal/calendar"
	"github.com/coffer-budget/coffer/internal/money"
	"github.com/coffer-budget/coffer/internal/text"
)

// InvalidDate is the detail of an invalid transaction date: the specification's message and the
// accepted values.
const InvalidDate = "Invalid transaction date: " +
	"must be an ISO 8601 date or date-time of the years 1900 to 2200"

// ParseBound parses a bound of a window. For the last moment it returns the first moment after the
// window, so that a bare date includes its whole day.
func ParseBound(p *apierr.Problems, field, s string, last bool) time.Time {
	bound, bare, ok := calendar.ParseTime(s)
	switch {
	case !ok:
		p.Add(ErrInvalidDate.With(field, InvalidDate))
	case last && bare:
		return bound.AddDate(0, 0, 1)
	case last:
		return bound.Add(time.Millisecond)
	}
	return bound
}

// ParseCurrency parses an ISO 4217 code. For an unknown code it adds a problem and returns the zero
// currency.
func ParseCurrency(p *apierr.Problems, field, s string) money.Currency {
	currency, ok := money.ParseCurrency(s)
	if !ok {
		p.Add(ErrUnsupportedCurrency.With(field, "must be an active ISO 4217 code, such as EUR"))
		return money.Currency{}
	}
	return currency
}

// RequireCurrency is ParseCurrency with a separate problem for an absent code.
func RequireCurrency(p *apierr.Problems, field, s string) money.Currency {
	if strings.TrimSpace(s) == "" {
		p.Invalid(field, "is required")
		return money.Currency{}
	}
	return ParseCurrency(p, field, s)
}

// ParseAmount parses an amount and returns it in minor units of the currency. If the currency is
// zero, because the request's is invalid, it only validates the number.
func ParseAmount(currency money.Currency, s string) (int64, error) {
	if currency == (money.Currency{}) {
		return money.ParseDecimal(s, money.MaxDecimals)
	}
	return currency.Parse(s)
}

// ParseID parses the id of a filter. For a malformed one it adds a problem and returns the zero id.
func ParseID(p *apierr.Problems, field, s string, malformed *apierr.Error) uuid.UUID {
	id, ok := text.ID(s)
	if !ok {
		p.Add(malformed.With(field, "must be a UUID"))
	}
	return id
}

// ParseReference parses the id of a wallet or category in a body. It returns nil and adds a problem
// if the id is malformed.
func ParseReference(p *apierr.Problems, field, s string, malformed *apierr.Error) *uuid.UUID {
	id, ok := text.ID(s)
	if !ok {
		p.Add(malformed.With(field, "must be a UUID"))
		return nil
	}
	return &id
}

// RequireReference is ParseReference with a separate problem for an absent id.
func RequireReference(p *apierr.Problems, field, s string, malformed *apierr.Error) *uuid.UUID {
	if strings.TrimSpace(s) == "" {
		p.Invalid(field, "is required")
		return nil
	}
	return ParseReference(p, field, s, malformed)
}

// ParseIDs returns the distinct ids of a list, and adds the problem malformed for each id that is
// not a UUID.
func ParseIDs(p *apierr.Problems, field string, ss []string, malformed *apierr.Error) []uuid.UUID {
	var ids []uuid.UUID
	for _, s := range ss {
		if id := ParseID(p, field, s, malformed); !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
	}
	return ids
}

// MaxTags is the maximum number of tags of a transaction.
const MaxTags = 20

// ParseTags parses up to MaxTags names of tags, and adds a problem for each invalid one.
// posting.UseTags decides whether two names are the same tag.
func ParseTags(problems *apierr.Problems, field string, names []string) []string {
	tags := []string{}
	if len(names) > MaxTags {
		problems.Invalid(field, fmt.Sprintf("must be at most %d names", MaxTags))
		return tags
	}
	for i, s := range names {
		name, problem := text.Tag(fmt.Sprintf("%s[%d]", field, i), s)
		problems.Field(problem)
		tags = append(tags, name)
	}
	return tags
}

// ParseServiceID parses an id that only services send. A malformed one is a defect of that service,
// so it has no specific code.
func ParseServiceID(p *apierr.Problems, field, s string) uuid.UUID {
	id, ok := text.ID(s)
	if !ok {
		p.Invalid(field, "must be an id")
	}
	return id
}

// Set assigns the value of a changed field. nil means that the request does not change it.
func Set[T any](to, value *T) {
	if value != nil {
		*to = *value
	}
}
