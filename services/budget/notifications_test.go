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
	b := setup(t)
	owner, member := b.user(t, "Owner"), b.user(t, "Member")
	made := b.budget(t, owner)
	b.share(t, owner, made.GetId(), member, "viewer")
	require.Equal(t, []string{"budget.v1.invitation.sent"}, b.types(t, member))
	require.Empty(t, b.types(t, owner))

	_, err := b.respond(member, made.GetId(), "accepted")
	require.NoError(t, err)
	require.Equal(t, []string{"budget.v1.invitation.answered"}, b.types(t, owner))

	_, err = b.RemoveMember(owner.Ctx,
		&budgetv1.RemoveMemberRequest{BudgetId: made.GetId(), MemberId: member.ID.String()})
	require.NoError(t, err)
	require.Equal(t, []string{"budget.v1.member.removed", "budget.v1.invitation.sent"},
		b.types(t, member))

	b.join(t, owner, made.GetId(), member, "editor")
	_, err = b.RemoveMember(member.Ctx,
		&budgetv1.RemoveMemberRequest{BudgetId: made.GetId(), MemberId: member.ID.String()})
	require.NoError(t, err)
	require.Equal(t, "budget.v1.member.removed", b.types(t, owner)[0])

	b.join(t, owner, made.GetId(), member, "editor")
	_, err = b.UpdateBudget(member.Ctx,
		&budgetv1.UpdateBudgetRequest{Id: made.GetId(), Name: new("Food")})
	require.NoError(t, err)
	before := len(b.types(t, owner))
	_, err = b.DeleteBudget(owner.Ctx, &budgetv1.DeleteBudgetRequest{Id: made.GetId()})
	require.NoError(t, err)
	require.Equal(t, "budget.v1.budget.deleted", b.types(t, member)[0])
	require.Len(t, b.types(t, owner), before)
}
