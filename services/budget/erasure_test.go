package budget

import (
	"context"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/coffer-budget/coffer/internal/outbox"
	"github.com/coffer-budget/coffer/internal/pg/pgtest"
	authv1 "github.com/coffer-budget/coffer/proto/gen/coffer/auth/v1"
	budgetv1 "github.com/coffer-budget/coffer/proto/gen/coffer/budget/v1"
	"github.com/coffer-budget/coffer/services/budget/internal/budgettest"
)

// erase applies the event that starts the erasure of a user, and runs the erasure.
func (b *bundle) erase(t *testing.T, who budgettest.User) (deletion uuid.UUID) {
	t.Helper()
	deletion = uuid.New()
	for _, service := range []string{"ledger", "budget", "budget"} {
		b.apply(t, outbox.Received{
			ID: budgettest.NewID(), UserID: who.ID, Subject: "auth.v1.user.erasing",
			Time: budgettest.Today, Data: &authv1.UserErasing{
				DeletionId: deletion.String(), Service: service, Email: who.Email,
			},
		})
	}
	b.erasures.Jobs.RunQueued(t.Context())
	return deletion
}

// goal creates a goal of a user with an assignment.
func (b *bundle) goal(t *testing.T, who budgettest.User) *budgetv1.Goal {
	t.Helper()
	created, err := b.CreateGoal(who.Ctx, &budgetv1.CreateGoalRequest{
		Name: "Trip", Currency: "EUR", Target: "900",
	})
	require.NoError(t, err)
	_, err = b.CreateAssignment(who.Ctx, &budgetv1.CreateAssignmentRequest{
		GoalId: created.GetGoal().GetId(), WalletId: uuid.NewString(), Amount: "900",
		Date: "2026-03-01",
	})
	require.NoError(t, err)
	return created.GetGoal()
}

// TestErase erases a user in each role and state of a shared budget. No table names the user
// afterwards, and the other users are notified.
func TestErase(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]map[string]string{
		"owner": {
			"accepted editor": "budget.v1.budget.deleted",
			"accepted viewer": "budget.v1.budget.deleted",
			"pending editor":  "budget.v1.member.removed",
			"pending viewer":  "budget.v1.member.removed",
		},
		"accepted editor": {"owner": "budget.v1.member.removed"},
		"pending viewer":  {"owner": "budget.v1.member.removed"},
		"left viewer":     {},
		"removed editor":  {},
		"stranger":        {},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newCast(t)
			erased, inviter := c.users[name], c.user(t, "Inviter")
			c.goal(t, erased)
			c.removes(t, "owner", "rejected viewer")
			c.setsShare(t, "accepted editor")
			c.received(t)
			c.mails(t, inviter, c.bundle.budget(t, inviter).GetId(), erased.Email)
			others := c.rowsWithout(t, erased)

			deletion := c.erase(t, erased)
			require.NotEmpty(t, pgtest.Mentions(t, c.db, erased.ID.String(), erased.Email),
				"an earlier event is in the outbox")
			got := map[string]string{}
			for _, e := range c.events(t) {
				if e.UserID != inviter.ID {
					got[c.nameOf(t, e.UserID)] = e.Subject
					require.NotContains(t, string(e.Data), erased.ID.String())
				}
			}
			require.Equal(t, want, got)
			c.syncs.RunQueued(t.Context())
			c.erasures.Jobs.RunQueued(t.Context())
			require.Empty(t, pgtest.Mentions(t, c.db, erased.ID.String(), erased.Email))
			reports := c.events(t)
			require.Len(t, reports, 1)
			require.Equal(t, deletion, reports[0].UserID)
			require.Equal(t, deletion.String(),
				reports[0].message(t).(*budgetv1.UserErased).GetDeletionId())
			after := c.rowsWithout(t, erased)
			for table := range others {
				require.Subset(t, after[table], others[table], "rows of other users in %s", table)
			}
		})
	}
}

// TestEraseAwaitsEvents applies a published event that names the user while the erasure waits for
// the consumer. The webhook of the other user delivers it without the name.
func TestEraseAwaitsEvents(t *testing.T) {
	t.Parallel()
	c := newCast(t)
	erased, owner := c.users["accepted editor"], c.users["owner"]
	awaited, event := 0, budgettest.NewID()
	c.erasures.AwaitApplied = func(context.Context) error {
		awaited++
		c.apply(t, outbox.Received{
			ID: event, UserID: owner.ID, Subject: "budget.v1.member.updated",
			Time: budgettest.Today, Data: &budgetv1.MemberUpdated{
				BudgetId: c.budget.GetId(), OwnerId: owner.ID.String(),
				MemberId: erased.ID.String(),
			},
		})
		return nil
	}
	c.setsShare(t, "accepted editor")
	c.erase(t, erased)
	require.Zero(t, awaited, "earlier events are in the outbox")
	pgtest.Exec(t, c.db, `DELETE FROM outbox`)
	c.syncs.RunQueued(t.Context())
	c.erasures.Jobs.RunQueued(t.Context())
	require.Equal(t, 1, awaited)
	delivered := pgtest.Value[string](t, c.db,
		`SELECT convert_from(body, 'UTF8') FROM webhook_deliveries WHERE event_id = $1`, event)
	require.Contains(t, delivered, uuid.Nil.String())
	require.Empty(t, pgtest.Mentions(t, c.db, erased.ID.String(), erased.Email))
}

// rowsWithout returns the rows of all users but one by table, without the messages that may name
// that user. It does not count memberships in the budgets of that user as rows of others.
func (c *cast) rowsWithout(t *testing.T, erased budgettest.User) map[string][]string {
	t.Helper()
	rows := map[string][]string{}
	for name, who := range c.users {
		tables := []string{"notifications", "webhooks", "webhook_deliveries"}
		if erased.ID != c.users["owner"].ID {
			tables = append(tables, "members")
		}
		for _, table := range tables {
			if who.ID == erased.ID {
				continue
			}
			for _, row := range budgettest.RowsOf(t, c.db, table, who.ID, "data", "body") {
				rows[table] = append(rows[table], name+": "+row)
			}
		}
	}
	return rows
}
