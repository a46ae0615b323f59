package notification

import (
	"log/slog"
	"os"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/coffer-budget/coffer/internal/page"
	"github.com/coffer-budget/coffer/internal/pg"
	"github.com/coffer-budget/coffer/internal/pg/pgtest"
	budgetv1 "github.com/coffer-budget/coffer/proto/gen/coffer/budget/v1"
	"github.com/coffer-budget/coffer/services/budget/internal/budgettest"
)

// bundle is a server on a separate database, with helpers. It has no ledger and no NATS: tests of
// alerts are in package budget.
type bundle struct{ *Server }

func setup(t *testing.T) *bundle {
	t.Helper()
	return &bundle{New(Dependencies{
		DB: pgtest.New(t, os.DirFS("../..")), Cursors: page.NewCursors("test"),
		WakeRelay: func() {}, Log: slog.New(slog.DiscardHandler),
		Now: func() time.Time { return budgettest.Today }, NewID: budgettest.NewID,
	})}
}

func (b *bundle) user(t *testing.T, name string) budgettest.User {
	t.Helper()
	return budgettest.NewUser(t, name)
}

// invite publishes the event of an invitation. It notifies the member, and not the owner.
func (b *bundle) invite(t *testing.T, owner, member budgettest.User) *budgetv1.InvitationSent {
	t.Helper()
	event := &budgetv1.InvitationSent{
		BudgetId: uuid.NewString(), BudgetName: "Groceries", OwnerId: owner.ID.String(),
		MemberId: member.ID.String(), Role: "viewer",
	}
	require.NoError(t, pg.InTx(t.Context(), b.db,
		func(tx pgx.Tx) error { return b.Publish(t.Context(), tx, event, member.ID, owner.ID) }))
	return event
}
