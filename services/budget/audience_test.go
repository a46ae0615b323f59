package budget

import (
	"fmt"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/coffer-budget/coffer/internal/outbox"
	budgetv1 "github.com/coffer-budget/coffer/proto/gen/coffer/budget/v1"
	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
	"github.com/coffer-budget/coffer/services/budget/internal/budgettest"
)

// The fields of each type of event, as paths in its JSON. A path with "=" also has the value.
// Invitations were sent while the budget was named "Groceries". Afterwards it was renamed to
// "Secret", and changed in other ways.
const (
	snapshotFields = "alertThresholds categoryIds createdAt currency id limit name=Secret " +
		"ownerId period startDate updatedAt walletId"
	invitationFields  = "budgetId budgetName=%s memberId ownerId role"
	answerFields      = "budgetId budgetName=%s memberId ownerId previousStatus status"
	mailedFields      = "again budgetId budgetName=%s email invitationId ownerId role sharePercent"
	endedFields       = "budgetId budgetName=%s email invitationId ownerId reason"
	updateTermsFields = "budgetId budgetName=%s memberId ownerId previousRole role sharePercent"
	removalFields     = "budgetId budgetName=%s memberId ownerId removedBy"
	thresholdFields   = "budgetId budgetName=Secret currency limit ownerId spent threshold " +
		"windowEnd windowStart"
	oldName           = "Groceries"
	newName           = "Secret"
	notified          = " +notification"
	budgetCreatedType = "budget.v1.budget.created"
	budgetUpdatedType = "budget.v1.budget.updated"
	budgetDeletedType = "budget.v1.budget.deleted"
	thresholdType     = "budget.v1.budget.threshold_reached"
	lostType          = "budget.v1.budget.categories_lost"
	lostFields        = "budgetId budgetName=Secret categoryIds ownerId remainingCategoryIds"
	invitedType       = "budget.v1.invitation.sent"
	mailedType        = "budget.v1.invitation.mailed"
	endedType         = "budget.v1.invitation.ended"
	answeredType      = "budget.v1.invitation.answered"
	memberUpdatedType = "budget.v1.member.updated"
	removedType       = "budget.v1.member.removed"
)

// prefixed returns a list of paths below a field.
func prefixed(field, paths string) string {
	return field + "." + strings.Join(strings.Fields(paths), " "+field+".")
}

func updateFields() string {
	return prefixed("after", strings.Replace(snapshotFields, "=Secret", "=Another", 1)) + " " +
		prefixed("before", snapshotFields) + " updatedBy"
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
	// both returns the events that a change sends to the owner and to another user.
	both := func(toOwner, name, toOther string) map[string][]string {
		return map[string][]string{"owner": {toOwner}, name: {toOther}}
	}
	type play func(t *testing.T, c *cast)
	answers := func(who, answer string) play {
		return func(t *testing.T, c *cast) { t.Helper(); c.answers(t, who, answer) }
	}
	removes := func(by, who string) play {
		return func(t *testing.T, c *cast) { t.Helper(); c.removes(t, by, who) }
	}
	setsShare := func(who string) play {
		return func(t *testing.T, c *cast) { t.Helper(); c.setsShare(t, who) }
	}
	invites := func(who string) play {
		return func(t *testing.T, c *cast) {
			t.Helper()
			c.share(t, c.users["owner"], c.budget.GetId(), c.users[who], "viewer")
		}
	}
	insiders := []string{"owner", "accepted editor", "accepted viewer"}
	event := func(kind, fields, name string) string {
		return kind + ": " + fmt.Sprintf(fields, name)
	}
	removal := func(name string) string { return event(removedType, removalFields, name) }
	terms := func(name string) string { return event(memberUpdatedType, updateTermsFields, name) }
	answer := func(name string) string { return event(answeredType, answerFields, name) }
	invitation := func(name string) string { return event(invitedType, invitationFields, name) }

	scenes := map[string]struct {
		// event is the type of event that the scene publishes.
		event protoreflect.Name
		play  play
		want  map[string][]string
	}{
		"budget created": {"BudgetCreated", func(t *testing.T, c *cast) {
			t.Helper()
			req := newBudget()
			req.Name = newName
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
				_, err := c.DeleteBudget(c.users["owner"].Ctx,
					&budgetv1.DeleteBudgetRequest{Id: c.budget.GetId()})
				require.NoError(t, err)
			},
			with(
				everybody(budgetDeletedType+": "+prefixed("budget", snapshotFields), "owner"),
				everybody(budgetDeletedType+": "+prefixed("budget", snapshotFields)+notified,
					"accepted editor", "accepted viewer"),
				everybody(removal(oldName)+notified, "pending editor", "pending viewer"),
			),
		},

		"threshold reached": {"BudgetThresholdReached", func(t *testing.T, c *cast) {
			t.Helper()
			books := c.books()
			books.spend(c.budget.GetWalletId(), "2026-03-10", 630_00)
			c.apply(t, createdIn(c.users["owner"].ID, c.budget, "2026-03-10"))
		}, everybody(thresholdType+": "+thresholdFields+notified, insiders...)},

		"categories lost": {"BudgetCategoriesLost", func(t *testing.T, c *cast) {
			t.Helper()
			c.syncAll(t)
			c.ledger.current[c.budget.GetCategoryIds()[0]] = ""
			c.apply(t, outbox.Received{
				ID: uuid.New(), UserID: c.users["owner"].ID,
				Data: &ledgerv1.CategoryDeleted{CategoryId: c.budget.GetCategoryIds()[0]},
			})
			c.syncAll(t)
		}, everybody(lostType+": "+lostFields+notified, "owner")},

		"stranger invited": {
			"InvitationSent", invites("stranger"),
			both(invitation(newName), "stranger", invitation(newName)+notified),
		},

		"rejected user invited again": {
			"InvitationSent", invites("rejected viewer"),
			both(invitation(newName), "rejected viewer", invitation(newName)+notified),
		},

		"e-mail invited by mail": {
			"InvitationMailed", func(t *testing.T, c *cast) {
				t.Helper()
				c.mails(t, c.users["owner"], c.budget.GetId(), c.users["stranger"].Email)
			}, everybody(event(mailedType, mailedFields, newName), "owner"),
		},

		"invited e-mail verified": {
			"InvitationSent", func(t *testing.T, c *cast) {
				t.Helper()
				stranger := c.users["stranger"]
				c.mails(t, c.users["owner"], c.budget.GetId(), stranger.Email)
				c.events(t)
				c.apply(t, verified(stranger, stranger.Email))
			}, everybody(invitation(newName)+" sharePercent"+notified, "stranger"),
		},

		"invitation by mail expired": {
			"InvitationEnded", func(t *testing.T, c *cast) {
				t.Helper()
				c.mails(t, c.users["owner"], c.budget.GetId(), mum)
				c.events(t)
				c.now = func() time.Time { return budgettest.Today.Add(mailedTTL) }
				require.NoError(t, c.server.members.ExpireMailed(t.Context()))
			}, everybody(event(endedType, endedFields, newName)+notified, "owner"),
		},

		"invitation accepted": {
			"InvitationAnswered", answers("pending viewer", "accepted"),
			both(answer(newName)+notified, "pending viewer", answer(newName)),
		},

		"invitation rejected": {
			"InvitationAnswered", answers("pending editor", "rejected"),
			both(answer(newName)+notified, "pending editor", answer(oldName)),
		},

		"member leaves": {
			"InvitationAnswered", answers("accepted editor", "rejected"),
			both(answer(newName)+notified, "accepted editor", answer(newName)),
		},

		"invitation withdrawn": {
			"MemberRemoved", removes("owner", "pending viewer"),
			both(removal(newName), "pending viewer", removal(oldName)+notified),
		},

		"member removed": {
			"MemberRemoved", removes("owner", "accepted editor"),
			both(removal(newName), "accepted editor", removal(newName)+notified),
		},

		"member removes their own membership": {
			"MemberRemoved", removes("accepted viewer", "accepted viewer"),
			both(removal(newName)+notified, "accepted viewer", removal(newName)),
		},

		"invited user removes the invitation": {
			"MemberRemoved", removes("pending viewer", "pending viewer"),
			both(removal(newName)+notified, "pending viewer", removal(oldName)),
		},

		"member updated": {
			"MemberUpdated", setsShare("accepted viewer"),
			both(terms(newName), "accepted viewer", terms(newName)+notified),
		},

		"invitation updated": {
			"MemberUpdated", setsShare("pending editor"),
			both(terms(newName), "pending editor", terms(oldName)+notified),
		},

		"webhook tested": {"WebhookTested", func(t *testing.T, c *cast) {
			t.Helper()
			webhooks, err := c.ListWebhooks(c.users["owner"].Ctx, &budgetv1.ListWebhooksRequest{})
			require.NoError(t, err)
			_, err = c.TestWebhook(c.users["owner"].Ctx,
				&budgetv1.TestWebhookRequest{Id: webhooks.GetWebhooks()[0].GetId()})
			require.NoError(t, err)
		}, map[string][]string{}},

		"rejected membership removed": {
			"MemberRemoved", removes("owner", "rejected viewer"),
			everybody(removal(newName), "owner"),
		},

		"membership removed that was left": {
			"MemberRemoved", removes("owner", "left editor"),
			everybody(removal(newName), "owner"),
		},

		"rejected user removes the membership": {
			"MemberRemoved", removes("rejected editor", "rejected editor"),
			both(removal(newName)+notified, "rejected editor", removal(oldName)),
		},
	}
	// No user receives UserErased, see TestErase. Only the owner receives those of goals, see
	// package goals.
	events := map[protoreflect.Name]bool{
		"UserErased": true, "GoalCreated": true, "GoalUpdated": true, "GoalDeleted": true,
		"GoalReached": true, "AssignmentCreated": true, "AssignmentDeleted": true,
	}
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
