package budget

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/anypb"

	"github.com/coffer-budget/coffer/internal/outbox"
	"github.com/coffer-budget/coffer/internal/pg/pgtest"
	"github.com/coffer-budget/coffer/internal/restjson"
	budgetv1 "github.com/coffer-budget/coffer/proto/gen/coffer/budget/v1"
	"github.com/coffer-budget/coffer/services/budget/internal/budgettest"
)

// items returns the entries of a user's list of budgets as REST clients see them, by id.
func (b *bundle) items(t *testing.T, who budgettest.User) map[string]map[string]any {
	t.Helper()
	resp, err := b.ListBudgets(who.Ctx, &budgetv1.ListBudgetsRequest{Include: new("invited")})
	require.NoError(t, err)
	items := map[string]map[string]any{}
	for _, m := range resp.GetBudgets() {
		body, err := restjson.Append(nil, m)
		require.NoError(t, err)
		var item map[string]any
		require.NoError(t, json.Unmarshal(body, &item))
		items[m.GetId()] = item
	}
	return items
}

func TestListBudgetsInvited(t *testing.T) {
	t.Parallel()
	t.Run("returns only the contents of the invitation to a pending member", func(t *testing.T) {
		t.Parallel()
		cast := newCast(t)
		pending := map[string]string{"pending editor": "editor", "pending viewer": "viewer"}
		for name, role := range pending {
			require.Equal(t, map[string]map[string]any{cast.budget.GetId(): {
				"id": cast.budget.GetId(), "name": oldName,
				"ownerId": cast.users["owner"].ID.String(),
				"role":    role, "membershipStatus": "pending",
			}}, cast.items(t, cast.users[name]), name)
		}
		require.Empty(t, cast.ledger.summed[len(cast.ledger.summed)-1].GetWindows()[1:],
			"the ledger is not asked for pending members")
	})
	t.Run("returns the current name if an earlier release stored none", func(t *testing.T) {
		t.Parallel()
		c := newCast(t)
		pgtest.Exec(t, c.db, `UPDATE members SET known_name = NULL`)
		require.Equal(t, newName, c.items(t, c.users["pending viewer"])[c.budget.GetId()]["name"])
	})
	t.Run("returns all fields to the owner and accepted members", func(t *testing.T) {
		t.Parallel()
		cast := newCast(t)
		for _, name := range []string{"owner", "accepted editor", "accepted viewer"} {
			who := cast.users[name]
			one, err := cast.GetBudget(who.Ctx, &budgetv1.GetBudgetRequest{Id: cast.budget.GetId()})
			require.NoError(t, err)
			body, err := restjson.Append(nil, one.GetBudget())
			require.NoError(t, err)
			var want map[string]any
			require.NoError(t, json.Unmarshal(body, &want))
			require.Equal(t, want, cast.items(t, who)[cast.budget.GetId()], name)
		}
	})
	t.Run("keeps empty lists of readable budgets", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		owner := b.user(t, "Owner")
		req := newBudget()
		req.AlertThresholds = &budgetv1.AlertThresholds{}
		created, err := b.CreateBudget(owner.Ctx, req)
		require.NoError(t, err)
		item := b.items(t, owner)[created.GetBudget().GetId()]
		require.Equal(t, []any{}, item["alertThresholds"])
		require.Equal(t, []any{}, item["members"])
	})
	t.Run("returns nothing to former members and strangers", func(t *testing.T) {
		t.Parallel()
		c := newCast(t)
		for _, name := range []string{
			"stranger", "rejected editor", "left viewer", "removed editor",
		} {
			require.Empty(t, c.items(t, c.users[name]), name)
		}
	})
}

// TestListedBudget compares the wire formats, so that clients that only know Budget can read the
// items of a list.
func TestListedBudget(t *testing.T) {
	t.Parallel()
	env := setup(t)
	owner, viewer := env.user(t, "Owner"), env.user(t, "Viewer")
	req := newBudget()
	req.EndDate = new("2026-12-31")
	created, err := env.CreateBudget(owner.Ctx, req)
	require.NoError(t, err)
	env.join(t, owner, created.GetBudget().GetId(), viewer, "viewer")
	one, err := env.GetBudget(viewer.Ctx,
		&budgetv1.GetBudgetRequest{Id: created.GetBudget().GetId()})
	require.NoError(t, err)
	list, err := env.ListBudgets(viewer.Ctx, &budgetv1.ListBudgetsRequest{})
	require.NoError(t, err)
	encoded, err := proto.Marshal(list.GetBudgets()[0])
	require.NoError(t, err)
	read := &budgetv1.Budget{}
	require.NoError(t, proto.Unmarshal(encoded, read))
	require.True(t, proto.Equal(one.GetBudget(), read), "%v\n%v", one.GetBudget(), read)
	require.Empty(t, read.ProtoReflect().GetUnknown())
}

func TestMigrateLeakedDeletions(t *testing.T) {
	t.Parallel()
	env := setup(t)
	at := budgettest.Today
	env.now = func() time.Time { at = at.Add(time.Second); return at }
	owner := env.user(t, "Owner")
	// The name contains the tags and lengths by which the migration finds the ids.
	budget, other := env.budgetNamed(t, owner, `R$ "$ *`), env.budget(t, owner)
	answers := func(who budgettest.User, answer string) {
		_, err := env.respond(who, budget.GetId(), answer)
		require.NoError(t, err)
	}
	// kept contains the users whose copies stay, because they had accepted.
	users := map[string]budgettest.User{"owner": owner}
	kept := map[string]bool{"accepted": true, "accepted again": true}
	for name, happened := range map[string]func(who budgettest.User){
		"accepted": func(who budgettest.User) { env.join(t, owner, budget.GetId(), who, "viewer") },
		"pending": func(who budgettest.User) {
			env.share(t, owner, budget.GetId(), who, "viewer")
		},
		"accepted again": func(who budgettest.User) {
			env.share(t, owner, budget.GetId(), who, "viewer")
			answers(who, "rejected")
			env.join(t, owner, budget.GetId(), who, "editor")
		},
		"left": func(who budgettest.User) {
			env.join(t, owner, budget.GetId(), who, "viewer")
			answers(who, "rejected")
			env.share(t, owner, budget.GetId(), who, "viewer")
		},
		"removed": func(who budgettest.User) {
			env.join(t, owner, budget.GetId(), who, "viewer")
			_, err := env.RemoveMember(owner.Ctx,
				&budgetv1.RemoveMemberRequest{BudgetId: budget.GetId(), MemberId: who.ID.String()})
			require.NoError(t, err)
			env.share(t, owner, budget.GetId(), who, "viewer")
		},
		"accepted elsewhere": func(who budgettest.User) {
			env.join(t, owner, other.GetId(), who, "viewer")
			env.share(t, owner, budget.GetId(), who, "viewer")
		},
	} {
		users[name] = env.user(t, strings.ReplaceAll(name, " ", "-"))
		happened(users[name])
	}
	others := map[string]int{}
	for name, who := range users {
		others[name] = len(env.notifications(t, who))
		env.leak(t, who, &budgetv1.BudgetDeleted{Budget: snapshotOf(t, budget)})
	}
	migration, err := Migrations.ReadFile("migrations/0014_leaked_deletions.sql")
	require.NoError(t, err)
	pgtest.Exec(t, env.db, string(migration))

	for name, who := range users {
		var deletions int
		for _, n := range env.notifications(t, who) {
			if n.GetType() == budgetDeletedType {
				deletions++
			}
		}
		deliveries := pgtest.Value[string](t, env.db, `
				SELECT string_agg(status, ' ' ORDER BY status)
				FROM webhook_deliveries
				WHERE user_id = $1`,
			who.ID)
		require.Equal(t, kept[name], deletions == 1, name)
		require.Equal(t, kept[name] || name == "owner", deliveries == "delivered failed pending",
			"%s: %s", name, deliveries)
		require.Contains(t, deliveries, "delivered", "a delivered body is no leak any more")
		require.Len(t, env.notifications(t, who), others[name]+deletions,
			"other notifications stay")
	}
}

// leak stores an event for a user as a notification, and as a webhook delivery in each status.
func (b *bundle) leak(t *testing.T, who budgettest.User, event proto.Message) {
	t.Helper()
	wrapped, err := anypb.New(event)
	require.NoError(t, err)
	data, err := proto.Marshal(wrapped)
	require.NoError(t, err)
	pgtest.Exec(t, b.db, `
		INSERT INTO notifications (id, user_id, type, data, created_at)
		VALUES ($1, $2, $3, $4, $5)`,
		b.newID(), who.ID, budgetDeletedType, data, b.now())
	id := b.webhook(t, who)
	for _, status := range []string{"pending", "failed", "delivered"} {
		body := eventJSON(t, outbox.Received{
			ID: b.newID(), UserID: who.ID, Subject: budgetDeletedType, Time: budgettest.Today,
			Data: event,
		})
		pgtest.Exec(t, b.db, `
			INSERT INTO webhook_deliveries (id, user_id, webhook_id, event_id, type, body, status,
				next_attempt_at, created_at)
			VALUES (gen_random_uuid(), $1, $2, gen_random_uuid(), $3, $4, $5, now(), now())`,
			who.ID, id, budgetDeletedType, body, status)
	}
}
