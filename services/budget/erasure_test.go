package budget

import (
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

// rowsWithout returns the rows of all users but one by table, without the messages that may name
// that user. Memberships in the budgets of that user are no rows of others.
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
