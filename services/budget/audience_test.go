package budget

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/coffer-budget/coffer/internal/outbox"
	"github.com/coffer-budget/coffer/internal/pg"
	"github.com/coffer-budget/coffer/internal/restjson"
	budgetv1 "github.com/coffer-budget/coffer/proto/gen/coffer/budget/v1"
	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
	"github.com/coffer-budget/coffer/services/budget/internal/budgettest"
)

// The fields of each type of event, as paths in its JSON. A path with "=" also has the value.
// Invitations were sent while the budget was named "Groceries". Afterwards it was renamed to
// "Secret", and changed in other ways.
const (
	snapshotFields    = "alertThresholds categoryIds createdAt currency id limit name=Secret ownerId period startDate updatedAt walletId"
	invitationFields  = "budgetId budgetName=%s memberId ownerId role"
	answerFields      = "budgetId budgetName=%s memberId ownerId previousStatus status"
	updateTermsFields = "budgetId budgetName=%s memberId ownerId previousRole role sharePercent"
	removalFields     = "budgetId budgetName=%s memberId ownerId removedBy"
	thresholdFields   = "budgetId budgetName=Secret currency limit ownerId spent threshold windowEnd windowStart"
	nameInInvitation  = "Groceries"
	nameAfterwards    = "Secret"
	withNotification  = " +notification"
	budgetCreatedType = "budget.v1.budget.created"
	budgetUpdatedType = "budget.v1.budget.updated"
	budgetDeletedType = "budget.v1.budget.deleted"
	thresholdType     = "budget.v1.budget.threshold_reached"
	lostType          = "budget.v1.budget.categories_lost"
	lostFields        = "budgetId budgetName=Secret categoryIds ownerId remainingCategoryIds"
	invitedType       = "budget.v1.invitation.sent"
	answeredType      = "budget.v1.invitation.answered"
	memberUpdatedType = "budget.v1.member.updated"
	removedType       = "budget.v1.member.removed"
)

// prefixed returns a list of paths below a field.
func prefixed(field, paths string) string {
	return field + "." + strings.Join(strings.Fields(paths), " "+field+".")
}

func updateFields() string {
	return prefixed("after", strings.Replace(snapshotFields, "=Secret", "=Another", 1)) + " " + prefixed("before", snapshotFields) + " updatedBy"
}

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
	c := &cast{bundle: setup(t), users: map[string]budgettest.User{}}
	for _, name := range []string{
		"owner", "stranger", "pending editor", "pending viewer", "accepted editor", "accepted viewer",
		"rejected editor", "rejected viewer", "left editor", "left viewer", "removed editor", "removed viewer",
	} {
		c.users[name] = c.user(t, strings.ReplaceAll(name, " ", "-"))
		c.webhook(t, c.users[name])
	}
	owner := c.users["owner"]
	c.budget = c.bundle.budget(t, owner)
	for name, who := range c.users {
		state, role, _ := strings.Cut(name, " ")
		if role == "" {
			continue
		}
		c.share(t, owner, c.budget.GetId(), who, role)
		switch state {
		case "accepted", "left", "removed":
			c.answers(t, name, "accepted")
		case "rejected":
			c.answers(t, name, "rejected")
		}
		switch state {
		case "left":
			c.answers(t, name, "rejected")
		case "removed":
			c.removes(t, "owner", name)
		}
	}
	c.renames(t, nameAfterwards)
	invitations, err := c.ListInvitations(c.users["pending viewer"].Ctx, &budgetv1.ListInvitationsRequest{})
	require.NoError(t, err)
	require.Equal(t, nameInInvitation, invitations.GetInvitations()[0].GetBudgetName())
	c.check(t)
	c.events(t)
	_, err = c.db.Exec(t.Context(), `DELETE FROM notifications`)
	require.NoError(t, err)
	return c
}

func (c *cast) renames(t *testing.T, name string) {
	t.Helper()
	_, err := c.UpdateBudget(c.users["owner"].Ctx, &budgetv1.UpdateBudgetRequest{Id: c.budget.GetId(), Name: &name, Limit: new("777")})
	require.NoError(t, err)
}

func (c *cast) answers(t *testing.T, who, answer string) {
	t.Helper()
	_, err := c.respond(c.users[who], c.budget.GetId(), answer)
	require.NoError(t, err)
}

func (c *cast) removes(t *testing.T, by, who string) {
	t.Helper()
	_, err := c.RemoveMember(c.users[by].Ctx, &budgetv1.RemoveMemberRequest{BudgetId: c.budget.GetId(), MemberId: c.users[who].ID.String()})
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
	for i, e := range c.events(t) {
		live := outbox.Received{ID: rows[i].ID, UserID: e.UserID, Subject: e.Subject, Source: "/coffer/budget", Time: budgettest.Today, Data: e.message(t)}
		require.NoError(t, pg.InTx(t.Context(), c.db, func(tx pgx.Tx) error {
			return c.webhooks.QueueDeliveries(t.Context(), tx, []outbox.Received{live})
		}))
		body := eventJSON(t, live)
		var delivered []byte
		require.NoError(t, c.db.QueryRow(t.Context(), `SELECT body FROM webhook_deliveries WHERE event_id = $1`, live.ID).Scan(&delivered))
		require.JSONEq(t, string(body), string(delivered))
		name := c.nameOf(t, e.UserID)
		all[name] = append(all[name], e.Subject+": "+fieldsIn(t, body)+c.notification(t, name, live.ID, body))
	}
	for name, who := range c.users {
		require.Len(t, c.notifications(t, who), len(slices.DeleteFunc(slices.Clone(all[name]), func(s string) bool { return !strings.HasSuffix(s, withNotification) })), name)
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

// notification returns withNotification if the user has a notification of the event, which must
// have the event's data.
func (c *cast) notification(t *testing.T, name string, id uuid.UUID, event []byte) string {
	t.Helper()
	for _, n := range c.notifications(t, c.users[name]) {
		if n.GetId() != id.String() {
			continue
		}
		body, err := restjson.Append(nil, n)
		require.NoError(t, err)
		require.Equal(t, dataIn(t, event), dataIn(t, body))
		return withNotification
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

// TestEventAudience states the fields that arrive for every event, role and state, in all three
// channels.
func TestEventAudience(t *testing.T) {
	t.Parallel()
	everybody := func(line string, names ...string) map[string][]string {
		all := map[string][]string{}
		for _, name := range names {
			all[name] = []string{line}
		}
		return all
	}
	with := func(all map[string][]string, more ...map[string][]string) map[string][]string {
		for _, m := range more {
			maps.Copy(all, m)
		}
		return all
	}
	insiders := []string{"owner", "accepted editor", "accepted viewer"}
	removal := func(name string) string { return removedType + ": " + fmt.Sprintf(removalFields, name) }
	terms := func(name string) string { return memberUpdatedType + ": " + fmt.Sprintf(updateTermsFields, name) }
	answer := func(name string) string { return answeredType + ": " + fmt.Sprintf(answerFields, name) }
	invitation := func(name string) string { return invitedType + ": " + fmt.Sprintf(invitationFields, name) }

	scenes := map[string]struct {
		// event is the type of event that the scene publishes.
		event protoreflect.Name
		play  func(t *testing.T, c *cast)
		want  map[string][]string
	}{
		"budget created": {"BudgetCreated", func(t *testing.T, c *cast) {
			t.Helper()
			req := newBudget()
			req.Name = nameAfterwards
			_, err := c.CreateBudget(c.users["owner"].Ctx, req)
			require.NoError(t, err)
		}, everybody(budgetCreatedType+": "+prefixed("budget", snapshotFields), "owner")},

		"budget updated": {
			"BudgetUpdated", func(t *testing.T, c *cast) { t.Helper(); c.renames(t, "Another") },
			everybody(budgetUpdatedType+": "+updateFields(), insiders...),
		},

		"budget deleted": {
			"BudgetDeleted", func(t *testing.T, c *cast) {
				t.Helper()
				_, err := c.DeleteBudget(c.users["owner"].Ctx, &budgetv1.DeleteBudgetRequest{Id: c.budget.GetId()})
				require.NoError(t, err)
			},
			with(
				everybody(budgetDeletedType+": "+prefixed("budget", snapshotFields), "owner"),
				everybody(budgetDeletedType+": "+prefixed("budget", snapshotFields)+withNotification, "accepted editor", "accepted viewer"),
				everybody(removal(nameInInvitation)+withNotification, "pending editor", "pending viewer"),
			),
		},

		"threshold reached": {"BudgetThresholdReached", func(t *testing.T, c *cast) {
			t.Helper()
			books := c.books()
			books.spend(c.budget.GetWalletId(), "2026-03-10", 630_00)
			c.apply(t, createdIn(c.users["owner"].ID, c.budget, "2026-03-10"))
		}, everybody(thresholdType+": "+thresholdFields+withNotification, insiders...)},

		"categories lost": {"BudgetCategoriesLost", func(t *testing.T, c *cast) {
			t.Helper()
			c.syncAll(t)
			c.ledger.current[c.budget.GetCategoryIds()[0]] = ""
			c.apply(t, outbox.Received{ID: uuid.New(), UserID: c.users["owner"].ID, Data: &ledgerv1.CategoryDeleted{CategoryId: c.budget.GetCategoryIds()[0]}})
			c.syncAll(t)
		}, everybody(lostType+": "+lostFields+withNotification, "owner")},

		"stranger invited": {"InvitationSent", func(t *testing.T, c *cast) {
			t.Helper()
			c.share(t, c.users["owner"], c.budget.GetId(), c.users["stranger"], "viewer")
		}, with(everybody(invitation(nameAfterwards), "owner"), everybody(invitation(nameAfterwards)+withNotification, "stranger"))},

		"rejected user invited again": {"InvitationSent", func(t *testing.T, c *cast) {
			t.Helper()
			c.share(t, c.users["owner"], c.budget.GetId(), c.users["rejected viewer"], "viewer")
		}, with(everybody(invitation(nameAfterwards), "owner"), everybody(invitation(nameAfterwards)+withNotification, "rejected viewer"))},

		"invitation accepted": {
			"InvitationAnswered", func(t *testing.T, c *cast) { t.Helper(); c.answers(t, "pending viewer", "accepted") },
			with(everybody(answer(nameAfterwards)+withNotification, "owner"), everybody(answer(nameAfterwards), "pending viewer")),
		},

		"invitation rejected": {
			"InvitationAnswered", func(t *testing.T, c *cast) { t.Helper(); c.answers(t, "pending editor", "rejected") },
			with(everybody(answer(nameAfterwards)+withNotification, "owner"), everybody(answer(nameInInvitation), "pending editor")),
		},

		"member leaves": {
			"InvitationAnswered", func(t *testing.T, c *cast) { t.Helper(); c.answers(t, "accepted editor", "rejected") },
			with(everybody(answer(nameAfterwards)+withNotification, "owner"), everybody(answer(nameAfterwards), "accepted editor")),
		},

		"invitation withdrawn": {
			"MemberRemoved", func(t *testing.T, c *cast) { t.Helper(); c.removes(t, "owner", "pending viewer") },
			with(everybody(removal(nameAfterwards), "owner"), everybody(removal(nameInInvitation)+withNotification, "pending viewer")),
		},

		"member removed": {
			"MemberRemoved", func(t *testing.T, c *cast) { t.Helper(); c.removes(t, "owner", "accepted editor") },
			with(everybody(removal(nameAfterwards), "owner"), everybody(removal(nameAfterwards)+withNotification, "accepted editor")),
		},

		"member removes their own membership": {
			"MemberRemoved", func(t *testing.T, c *cast) { t.Helper(); c.removes(t, "accepted viewer", "accepted viewer") },
			with(everybody(removal(nameAfterwards)+withNotification, "owner"), everybody(removal(nameAfterwards), "accepted viewer")),
		},

		"invited user removes the invitation": {
			"MemberRemoved", func(t *testing.T, c *cast) { t.Helper(); c.removes(t, "pending viewer", "pending viewer") },
			with(everybody(removal(nameAfterwards)+withNotification, "owner"), everybody(removal(nameInInvitation), "pending viewer")),
		},

		"member updated": {
			"MemberUpdated", func(t *testing.T, c *cast) { t.Helper(); c.setsShare(t, "accepted viewer") },
			with(everybody(terms(nameAfterwards), "owner"), everybody(terms(nameAfterwards)+withNotification, "accepted viewer")),
		},

		"invitation updated": {
			"MemberUpdated", func(t *testing.T, c *cast) { t.Helper(); c.setsShare(t, "pending editor") },
			with(everybody(terms(nameAfterwards), "owner"), everybody(terms(nameInInvitation)+withNotification, "pending editor")),
		},

		"webhook tested": {"WebhookTested", func(t *testing.T, c *cast) {
			t.Helper()
			webhooks, err := c.ListWebhooks(c.users["owner"].Ctx, &budgetv1.ListWebhooksRequest{})
			require.NoError(t, err)
			_, err = c.TestWebhook(c.users["owner"].Ctx, &budgetv1.TestWebhookRequest{Id: webhooks.GetWebhooks()[0].GetId()})
			require.NoError(t, err)
		}, map[string][]string{}},

		"rejected membership removed": {
			"MemberRemoved", func(t *testing.T, c *cast) { t.Helper(); c.removes(t, "owner", "rejected viewer") },
			everybody(removal(nameAfterwards), "owner"),
		},

		"membership removed that was left": {
			"MemberRemoved", func(t *testing.T, c *cast) { t.Helper(); c.removes(t, "owner", "left editor") },
			everybody(removal(nameAfterwards), "owner"),
		},

		"rejected user removes the membership": {
			"MemberRemoved", func(t *testing.T, c *cast) { t.Helper(); c.removes(t, "rejected editor", "rejected editor") },
			with(everybody(removal(nameAfterwards)+withNotification, "owner"), everybody(removal(nameInInvitation), "rejected editor")),
		},
	}
	events := map[protoreflect.Name]bool{}
	for name, scene := range scenes {
		events[scene.event] = true
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newCast(t)
			scene.play(t, c)
			require.Equal(t, scene.want, c.received(t))
		})
	}
	for i := range budgetv1.File_coffer_budget_v1_events_proto.Messages().Len() {
		name := budgetv1.File_coffer_budget_v1_events_proto.Messages().Get(i).Name()
		require.True(t, events[name], "%s has no scene", name)
	}
}
