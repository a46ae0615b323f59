package budget

import (
	"testing"

	"github.com/stretchr/testify/require"

	budgetv1 "github.com/coffer-budget/coffer/proto/gen/coffer/budget/v1"
	"github.com/coffer-budget/coffer/services/budget/internal/budgettest"
)

func (b *bundle) notifications(t *testing.T, who budgettest.User) []*budgetv1.Notification {
	t.Helper()
	resp, err := b.ListNotifications(who.Ctx, &budgetv1.ListNotificationsRequest{})
	require.NoError(t, err)
	return resp.GetNotifications()
}

// types returns the types of a user's notifications, newest first.
func (b *bundle) types(t *testing.T, who budgettest.User) []string {
	t.Helper()
	types := []string{}
	for _, n := range b.notifications(t, who) {
		types = append(types, n.GetType())
	}
	return types
}

func TestNotificationRecipients(t *testing.T) {
	t.Parallel()
	env := setup(t)
	owner, member := env.user(t, "Owner"), env.user(t, "Member")
	made := env.budget(t, owner)
	env.share(t, owner, made.GetId(), member, "viewer")
	require.Equal(t, []string{"budget.v1.invitation.sent"}, env.types(t, member))
	require.Empty(t, env.types(t, owner))

	_, err := env.respond(member, made.GetId(), "accepted")
	require.NoError(t, err)
	require.Equal(t, []string{"budget.v1.invitation.answered"}, env.types(t, owner))

	_, err = env.RemoveMember(owner.Ctx,
		&budgetv1.RemoveMemberRequest{BudgetId: made.GetId(), MemberId: member.ID.String()})
	require.NoError(t, err)
	require.Equal(t, []string{"budget.v1.member.removed", "budget.v1.invitation.sent"},
		env.types(t, member))

	env.join(t, owner, made.GetId(), member, "editor")
	_, err = env.RemoveMember(member.Ctx,
		&budgetv1.RemoveMemberRequest{BudgetId: made.GetId(), MemberId: member.ID.String()})
	require.NoError(t, err)
	require.Equal(t, "budget.v1.member.removed", env.types(t, owner)[0])

	env.join(t, owner, made.GetId(), member, "editor")
	_, err = env.UpdateBudget(member.Ctx,
		&budgetv1.UpdateBudgetRequest{Id: made.GetId(), Name: new("Food")})
	require.NoError(t, err)
	before := len(env.types(t, owner))
	_, err = env.DeleteBudget(owner.Ctx, &budgetv1.DeleteBudgetRequest{Id: made.GetId()})
	require.NoError(t, err)
	require.Equal(t, "budget.v1.budget.deleted", env.types(t, member)[0])
	require.Len(t, env.types(t, owner), before)
}
