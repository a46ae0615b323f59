// Package budgettest has the helpers that tests of several packages of the budget service share:
// users, the state of the database, and concurrent calls.
//
// Each package's tests create their server on a separate database (pgtest.New) and act for users by
// calling RPC methods with User.Ctx. Refuses checks the error of a rejected call, and that the call
// changed nothing. RequireWinners checks calls that run concurrently.
package budgettest

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"

	"github.com/coffer-budget/coffer/internal/apierr"
	"github.com/coffer-budget/coffer/internal/caller"
	"github.com/coffer-budget/coffer/internal/pg/pgtest"
)

// Today is the usual present time of tests.
var Today = time.Date(2026, 3, 15, 12, 0, 0, 0, time.UTC)

// Racers is the number of concurrent calls in tests. Together with the test's own connections they
// fill the pool.
const Racers = 6

// User is a user with the context that acts for them.
type User struct {
	ID    uuid.UUID
	Name  string
	Email string
	Ctx   context.Context
}

// NewUser returns a new user. The name must be unique within the test.
func NewUser(t *testing.T, name string) User {
	t.Helper()
	u := User{ID: NewID(), Name: name, Email: strings.ToLower(name) + "@example.com"}
	u.Ctx = caller.With(t.Context(), caller.Identity{UserID: u.ID, SessionID: NewID()})
	return u
}

// NewID returns a new UUIDv7.
func NewID() uuid.UUID { return uuid.Must(uuid.NewV7()) }

// State returns all rows that calls of users may change.
func State(t *testing.T, db *pgxpool.Pool) string {
	t.Helper()
	text := pgtest.Value[string](t, db, `
		SELECT coalesce((SELECT string_agg(b::text, ';' ORDER BY b.id) FROM budgets b), '')
			|| coalesce((SELECT string_agg(l::text, ';' ORDER BY l.budget_id, l.last_day)
				FROM budget_limits l), '')
			|| coalesce((SELECT string_agg(m::text, ';' ORDER BY m.budget_id, m.user_id)
				FROM members m), '')
			|| coalesce((SELECT string_agg(g::text, ';' ORDER BY g.id) FROM goals g), '')
			|| coalesce((SELECT string_agg(a::text, ';' ORDER BY a.id) FROM assignments a), '')
			|| coalesce((SELECT string_agg(s::text, ';' ORDER BY s.goal_id, s.wallet_id)
				FROM goal_wallets s), '')
			|| coalesce((SELECT string_agg(m::text, ';' ORDER BY m.goal_id, m.user_id)
				FROM goal_members m), '')
			|| coalesce((SELECT string_agg(n::text, ';' ORDER BY n.user_id, n.id)
				FROM notifications n), '')
			|| coalesce((SELECT string_agg(w::text, ';' ORDER BY w.id) FROM webhooks w), '')
			|| coalesce((SELECT string_agg(d::text, ';' ORDER BY d.id)
				FROM webhook_deliveries d), '')
			|| (SELECT count(*) FROM outbox)::text || ' '
			|| (SELECT count(*) FROM idempotency_keys)::text`)
	return text
}

// Refuses requires that call fails with a code and a reason, and that it changes nothing.
func Refuses(
	t *testing.T, db *pgxpool.Pool, code codes.Code, reason string, call func() error,
) apierr.Error {
	t.Helper()
	before := State(t, db)
	err := call()
	e := apierr.From(err)
	require.NotNil(t, e, "%v", err)
	require.Equal(t, reason, e.Reason)
	require.Equal(t, code, e.Code)
	require.Equal(t, before, State(t, db))
	return *e
}

// RequireWinners requires that n calls succeeded, and that all others failed with the error loss.
func RequireWinners(t *testing.T, n int, loss error, errs []error) {
	t.Helper()
	won := 0
	for _, err := range errs {
		if err == nil {
			won++
			continue
		}
		require.ErrorIs(t, err, loss)
	}
	require.Equal(t, n, won)
}
