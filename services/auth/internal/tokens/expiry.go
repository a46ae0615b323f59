package tokens

import (
	"time"

	"github.com/coffer-budget/coffer/internal/apierr"
	"github.com/coffer-budget/coffer/internal/calendar"
)

const (
	day = 24 * time.Hour
	// usualLife is the lifetime of a token if the request names none.
	usualLife = 90 * day
	maxLife   = 366 * day
	// exchangedLife is the lifetime of an access token that is issued for a token.
	exchangedLife = 5 * time.Minute
	// expiredKept is the time for which an expired token is listed, so that the user sees why a
	// script fails.
	expiredKept = 30 * day
)

// parseExpiry returns the time at which a token expires that is created at now.
func parseExpiry(given *string, now time.Time) (time.Time, *apierr.Field) {
	if given == nil {
		return now.Add(usualLife), nil
	}
	at, _, ok := calendar.ParseTime(*given)
	if !ok {
		return time.Time{}, &apierr.Field{
			Name: "expiresAt", Message: "must be a time such as 2026-12-31T12:00:00Z",
		}
	}
	if !at.After(now) || at.After(now.Add(maxLife)) {
		return time.Time{}, &apierr.Field{
			Name: "expiresAt", Message: "must be in the future, at most 366 days from now",
		}
	}
	return at, nil
}

// lifeOf returns the lifetime of an access token that is issued at now for a token. It does not
// exceed the one of sessions, because verifiers keep ended sessions, and auth its keys, for that
// time.
func lifeOf(expires, now time.Time, sessions time.Duration) time.Duration {
	return min(exchangedLife, sessions, expires.Sub(now))
}

// isNewUse reports whether a use must be stored. Uses within a minute are stored once.
func isNewUse(last *time.Time, now time.Time) bool {
	return last == nil || last.Before(now.Truncate(time.Minute))
}
