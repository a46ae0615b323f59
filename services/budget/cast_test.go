package budget

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/coffer-budget/coffer/internal/outbox"
	"github.com/coffer-budget/coffer/internal/pg"
	"github.com/coffer-budget/coffer/internal/pg/pgtest"
	"github.com/coffer-budget/coffer/internal/restjson"
	budgetv1 "github.com/coffer-budget/coffer/proto/gen/coffer/budget/v1"
	"github.com/coffer-budget/coffer/services/budget/internal/budgettest"
)

// cast is a budget with one user in every role and state. All of them have a webhook for every
// event.
type cast struct {
	*bundle
	budget *budgetv1.Budget
	users  map[string]budgettest.User
}

// newCast returns a budget that was renamed after all invitations. "left" and "removed" users were
// accepted before.
func newCast(t *testing.T) *cast {
	t.Helper()
	cast := &cast{bundle: setup(t), users: map[string]budgettest.User{}}
	for _, name := range []string{
		"owner", "stranger", "pending editor", "pending viewer", "accepted editor",
		"accepted viewer", "rejected editor", "rejected viewer", "left editor", "left viewer",
		"removed editor", "removed viewer",
	} {
		cast.users[name] = cast.user(t, strings.ReplaceAll(name, " ", "-"))
		cast.webhook(t, cast.users[name])
	}
	owner := cast.users["owner"]
	cast.budget = cast.bundle.budget(t, owner)
	for name, who := range cast.users {
		state, role, _ := strings.Cut(name, " ")
		if role == "" {
			continue
		}
		cast.share(t, owner, cast.budget.GetId(), who, role)
		switch state {
		case "accepted", "left", "removed":
			cast.answers(t, name, "accepted")
		case "rejected":
			cast.answers(t, name, "rejected")
		}
		switch state {
		case "left":
			cast.answers(t, name, "rejected")
		case "removed":
			cast.removes(t, "owner", name)
		}
	}
	cast.renames(t, newName)
	invitations, err := cast.ListInvitations(cast.users["pending viewer"].Ctx,
		&budgetv1.ListInvitationsRequest{})
	require.NoError(t, err)
	require.Equal(t, oldName, invitations.GetInvitations()[0].GetBudgetName())
	cast.check(t)
	cast.events(t)
	pgtest.Exec(t, cast.db, `DELETE FROM notifications`)
	return cast
}

func (c *cast) renames(t *testing.T, name string) {
	t.Helper()
	_, err := c.UpdateBudget(c.users["owner"].Ctx,
		&budgetv1.UpdateBudgetRequest{Id: c.budget.GetId(), Name: &name, Limit: new("777")})
	require.NoError(t, err)
}

func (c *cast) answers(t *testing.T, who, answer string) {
	t.Helper()
	_, err := c.respond(c.users[who], c.budget.GetId(), answer)
	require.NoError(t, err)
}

func (c *cast) removes(t *testing.T, by, who string) {
	t.Helper()
	_, err := c.RemoveMember(c.users[by].Ctx, &budgetv1.RemoveMemberRequest{
		BudgetId: c.budget.GetId(), MemberId: c.users[who].ID.String(),
	})
	require.NoError(t, err)
}

func (c *cast) setsShare(t *testing.T, who string) {
	t.Helper()
	_, err := c.RespondToInvitation(c.users["owner"].Ctx, &budgetv1.RespondToInvitationRequest{
		BudgetId: c.budget.GetId(), MemberId: c.users[who].ID.String(), SharePercent: new("25"),
	})
	require.NoError(t, err)
}

// received empties the outbox and returns the events of each user, as "type: fields" by name. It
// requires that live events, notifications and webhooks have the same data.
func (c *cast) received(t *testing.T) map[string][]string {
	t.Helper()
	type row struct {
		ID     uuid.UUID
		UserID uuid.UUID `db:"user_id"`
		Data   []byte
	}
	rows, err := pg.All[row](t.Context(), c.db, `SELECT id, user_id, data FROM outbox ORDER BY seq`)
	require.NoError(t, err)
	all := map[string][]string{}
	for i, published := range c.events(t) {
		live := outbox.Received{
			ID: rows[i].ID, UserID: published.UserID, Subject: published.Subject,
			Source: "/coffer/budget", Time: budgettest.Today, Data: published.message(t),
		}
		require.NoError(t, pg.InTx(t.Context(), c.db, func(tx pgx.Tx) error {
			return c.webhooks.QueueDeliveries(t.Context(), tx, []outbox.Received{live})
		}))
		body := eventJSON(t, live)
		delivered := pgtest.Value[[]byte](t, c.db,
			`SELECT body FROM webhook_deliveries WHERE event_id = $1`, live.ID)
		require.JSONEq(t, string(body), string(delivered))
		name := c.nameOf(t, published.UserID)
		all[name] = append(all[name],
			published.Subject+": "+fieldsIn(t, body)+c.notification(t, name, live.ID, body))
	}
	for name, who := range c.users {
		want := strings.Count(strings.Join(all[name], "\n")+"\n", notified+"\n")
		require.Len(t, c.notifications(t, who), want, name)
	}
	return all
}

func (c *cast) nameOf(t *testing.T, id uuid.UUID) string {
	t.Helper()
	for name, who := range c.users {
		if who.ID == id {
			return name
		}
	}
	t.Fatalf("no user has the id %s", id)
	return ""
}

// notification returns notified if the user has a notification of the event, which must have the
// event's data.
func (c *cast) notification(t *testing.T, name string, id uuid.UUID, event []byte) string {
	t.Helper()
	for _, n := range c.notifications(t, c.users[name]) {
		if n.GetId() != id.String() {
			continue
		}
		body, err := restjson.Append(nil, n)
		require.NoError(t, err)
		require.Equal(t, dataIn(t, event), dataIn(t, body))
		return notified
	}
	return ""
}

func dataIn(t *testing.T, body []byte) any {
	t.Helper()
	var e struct{ Data any }
	require.NoError(t, json.Unmarshal(body, &e))
	return e.Data
}

// fieldsIn returns the sorted paths in the data of an event, with the values of names.
func fieldsIn(t *testing.T, event []byte) string {
	t.Helper()
	var paths []string
	var walk func(prefix string, v any)
	walk = func(prefix string, v any) {
		for key, value := range v.(map[string]any) {
			path := prefix + key
			if nested, ok := value.(map[string]any); ok {
				walk(path+".", nested)
				continue
			}
			if key == "name" || key == "budgetName" {
				path += fmt.Sprintf("=%v", value)
			}
			paths = append(paths, path)
		}
	}
	walk("", dataIn(t, event))
	slices.Sort(paths)
	return strings.Join(paths, " ")
}
