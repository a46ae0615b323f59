package budget

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"

	budgetv1 "github.com/coffer-budget/coffer/proto/gen/coffer/budget/v1"
)

func (b *bundle) notifications(t *testing.T, who person) []*budgetv1.Notification {
	t.Helper()
	resp, err := b.ListNotifications(who.ctx, &budgetv1.ListNotificationsRequest{})
	require.NoError(t, err)
	return resp.GetNotifications()
}

// types of a user's notifications, newest first.
func (b *bundle) types(t *testing.T, who person) []string {
	t.Helper()
	types := []string{}
	for _, n := range b.notifications(t, who) {
		types = append(types, n.GetType())
	}
	return types
}

func TestPeopleAreNotifiedOfWhatOthersDo(t *testing.T) {
	t.Parallel()
	b := setup(t)
	owner, member := b.person(t, "Owner"), b.person(t, "Member")
	made := b.budget(t, owner)
	b.share(t, owner, made.GetId(), member, "viewer")
	require.Equal(t, []string{"budget.v1.invitation.sent"}, b.types(t, member))
	require.Empty(t, b.types(t, owner))

	_, err := b.respond(member, made.GetId(), "accepted")
	require.NoError(t, err)
	require.Equal(t, []string{"budget.v1.invitation.answered"}, b.types(t, owner))

	_, err = b.RemoveMember(owner.ctx, &budgetv1.RemoveMemberRequest{BudgetId: made.GetId(), MemberId: member.id.String()})
	require.NoError(t, err)
	require.Equal(t, []string{"budget.v1.member.removed", "budget.v1.invitation.sent"}, b.types(t, member))

	b.join(t, owner, made.GetId(), member, "editor")
	_, err = b.RemoveMember(member.ctx, &budgetv1.RemoveMemberRequest{BudgetId: made.GetId(), MemberId: member.id.String()})
	require.NoError(t, err)
	require.Equal(t, "budget.v1.member.removed", b.types(t, owner)[0])

	b.join(t, owner, made.GetId(), member, "editor")
	_, err = b.UpdateBudget(member.ctx, &budgetv1.UpdateBudgetRequest{Id: made.GetId(), Name: new("Food")})
	require.NoError(t, err)
	before := len(b.types(t, owner))
	_, err = b.DeleteBudget(owner.ctx, &budgetv1.DeleteBudgetRequest{Id: made.GetId()})
	require.NoError(t, err)
	require.Equal(t, "budget.v1.budget.deleted", b.types(t, member)[0])
	require.Len(t, b.types(t, owner), before)
}

func TestANotificationIsTheEventThatItTellsOf(t *testing.T) {
	t.Parallel()
	b := setup(t)
	owner, member := b.person(t, "Owner"), b.person(t, "Member")
	made := b.budget(t, owner)
	b.events(t)
	b.share(t, owner, made.GetId(), member, "viewer")
	n := b.notifications(t, member)[0]
	var event uuid.UUID
	require.NoError(t, b.db.QueryRow(t.Context(), `SELECT id FROM outbox WHERE user_id = $1`, member.id).Scan(&event))
	require.Equal(t, event.String(), n.GetId())
	require.Equal(t, "2026-03-15T12:00:00.000Z", n.GetCreatedAt())
	data, err := n.GetData().UnmarshalNew()
	require.NoError(t, err)
	requireTold(t, b.events(t), data, owner, member)
}

func TestUnreadNotificationsComeFirstAndPagesMeet(t *testing.T) {
	t.Parallel()
	b := setup(t)
	owner, member := b.person(t, "Owner"), b.person(t, "Member")
	for i := range 7 {
		req := newBudget()
		req.Name = fmt.Sprint(i)
		made, err := b.CreateBudget(owner.ctx, req)
		require.NoError(t, err)
		b.share(t, owner, made.GetBudget().GetId(), member, "viewer")
	}
	newestFirst := b.notifications(t, member)
	require.Len(t, newestFirst, 7)
	for _, i := range []int{0, 3} {
		resp, err := b.UpdateNotification(member.ctx, &budgetv1.UpdateNotificationRequest{Id: newestFirst[i].GetId(), Read: new(true)})
		require.NoError(t, err)
		require.True(t, resp.GetNotification().GetRead())
		require.Equal(t, "2026-03-15T12:00:00.000Z", resp.GetNotification().GetReadAt())
	}
	var got []string
	req := &budgetv1.ListNotificationsRequest{Limit: new(int32(2))}
	for {
		page, err := b.ListNotifications(member.ctx, req)
		require.NoError(t, err)
		require.EqualValues(t, 5, page.GetUnreadCount())
		for _, n := range page.GetNotifications() {
			got = append(got, n.GetId())
		}
		if req.Cursor = page.GetPagination().GetNextCursor(); req.GetCursor() == "" {
			break
		}
	}
	var want []string
	for _, i := range []int{1, 2, 4, 5, 6, 0, 3} {
		want = append(want, newestFirst[i].GetId())
	}
	require.Equal(t, want, got)
}

func TestReadingTwiceKeepsTheTimeAndUnreadForgetsIt(t *testing.T) {
	t.Parallel()
	b := setup(t)
	owner, member := b.person(t, "Owner"), b.person(t, "Member")
	b.share(t, owner, b.budget(t, owner).GetId(), member, "viewer")
	id := b.notifications(t, member)[0].GetId()
	mark := func(read bool) *budgetv1.Notification {
		resp, err := b.UpdateNotification(member.ctx, &budgetv1.UpdateNotificationRequest{Id: id, Read: &read})
		require.NoError(t, err)
		return resp.GetNotification()
	}
	first := mark(true)
	b.now = func() time.Time { return today.Add(time.Hour) }
	require.Equal(t, first.GetReadAt(), mark(true).GetReadAt())
	unread := mark(false)
	require.False(t, unread.GetRead())
	require.Nil(t, unread.ReadAt)
	require.Equal(t, "2026-03-15T13:00:00.000Z", mark(true).GetReadAt())
}

func TestSomebodyElsesNotificationDoesNotExist(t *testing.T) {
	t.Parallel()
	b := setup(t)
	owner, member := b.person(t, "Owner"), b.person(t, "Member")
	b.share(t, owner, b.budget(t, owner).GetId(), member, "viewer")
	id := b.notifications(t, member)[0].GetId()
	mark := func(ctx context.Context, id string, read *bool) func() error {
		return func() error {
			_, err := b.UpdateNotification(ctx, &budgetv1.UpdateNotificationRequest{Id: id, Read: read})
			return err
		}
	}
	b.refuses(t, codes.NotFound, "NOTIFICATION_NOT_FOUND", mark(owner.ctx, id, new(true)))
	b.refuses(t, codes.NotFound, "NOTIFICATION_NOT_FOUND", mark(member.ctx, uuid.NewString(), new(true)))
	b.refuses(t, codes.InvalidArgument, "INVALID_NOTIFICATION_ID", mark(member.ctx, "1", new(true)))
	b.refuses(t, codes.InvalidArgument, "EMPTY_UPDATE", mark(member.ctx, id, nil))
	b.refuses(t, codes.InvalidArgument, "INVALID_CURSOR", func() error {
		_, err := b.ListNotifications(owner.ctx, &budgetv1.ListNotificationsRequest{Cursor: "x"})
		return err
	})
}

func TestOldNotificationsAreForgotten(t *testing.T) {
	t.Parallel()
	b := setup(t)
	owner, member := b.person(t, "Owner"), b.person(t, "Member")
	b.share(t, owner, b.budget(t, owner).GetId(), member, "viewer")
	require.NoError(t, deleteNotifications(t.Context(), b.db, today))
	require.Len(t, b.notifications(t, member), 1)
	require.NoError(t, deleteNotifications(t.Context(), b.db, today.Add(time.Second)))
	require.Empty(t, b.notifications(t, member))
}

func TestListNotificationsFilter(t *testing.T) {
	t.Parallel()
	b := setup(t)
	owner, member := b.person(t, "Owner"), b.person(t, "Member")
	for i := range 7 {
		req := newBudget()
		req.Name = fmt.Sprint(i)
		made, err := b.CreateBudget(owner.ctx, req)
		require.NoError(t, err)
		b.share(t, owner, made.GetBudget().GetId(), member, "viewer")
	}
	all := b.notifications(t, member)
	for _, i := range []int{0, 3, 4} {
		_, err := b.UpdateNotification(member.ctx, &budgetv1.UpdateNotificationRequest{Id: all[i].GetId(), Read: new(true)})
		require.NoError(t, err)
	}
	for read, want := range map[bool][]int{false: {1, 2, 5, 6}, true: {0, 3, 4}} {
		var got, ids []string
		req := &budgetv1.ListNotificationsRequest{Limit: new(int32(2)), Read: &read}
		for {
			page, err := b.ListNotifications(member.ctx, req)
			require.NoError(t, err)
			require.EqualValues(t, 4, page.GetUnreadCount())
			for _, n := range page.GetNotifications() {
				require.Equal(t, read, n.GetRead())
				got = append(got, n.GetId())
			}
			if req.Cursor = page.GetPagination().GetNextCursor(); req.GetCursor() == "" {
				break
			}
			b.refuses(t, codes.InvalidArgument, "INVALID_CURSOR", func() error {
				_, err := b.ListNotifications(member.ctx, &budgetv1.ListNotificationsRequest{Cursor: req.GetCursor()})
				return err
			})
		}
		for _, i := range want {
			ids = append(ids, all[i].GetId())
		}
		require.Equal(t, ids, got)
	}
}

func TestUpdateNotifications(t *testing.T) {
	t.Parallel()
	b := setup(t)
	owner, member, other := b.person(t, "Owner"), b.person(t, "Member"), b.person(t, "Other")
	id := b.budget(t, owner).GetId()
	b.join(t, owner, id, member, "viewer")
	b.share(t, owner, id, other, "viewer")
	_, err := b.RemoveMember(owner.ctx, &budgetv1.RemoveMemberRequest{BudgetId: id, MemberId: member.id.String()})
	require.NoError(t, err)
	first := b.notifications(t, member)[0].GetId()
	_, err = b.UpdateNotification(member.ctx, &budgetv1.UpdateNotificationRequest{Id: first, Read: new(true)})
	require.NoError(t, err)
	b.now = func() time.Time { return today.Add(time.Hour) }
	for _, want := range []int64{1, 0} {
		resp, err := b.UpdateNotifications(member.ctx, &budgetv1.UpdateNotificationsRequest{Read: new(true)})
		require.NoError(t, err)
		require.Equal(t, want, resp.GetUpdatedCount())
	}
	for _, n := range b.notifications(t, member) {
		require.Equal(t, n.GetId() == first, n.GetReadAt() == "2026-03-15T12:00:00.000Z")
	}
	require.False(t, b.notifications(t, other)[0].GetRead())
	b.refuses(t, codes.InvalidArgument, "EMPTY_UPDATE", func() error {
		_, err := b.UpdateNotifications(member.ctx, &budgetv1.UpdateNotificationsRequest{})
		return err
	})
	b.refuses(t, codes.InvalidArgument, "VALIDATION_ERROR", func() error {
		_, err := b.UpdateNotifications(member.ctx, &budgetv1.UpdateNotificationsRequest{Read: new(false)})
		return err
	})
}

func TestDeleteNotification(t *testing.T) {
	t.Parallel()
	b := setup(t)
	owner, member := b.person(t, "Owner"), b.person(t, "Member")
	id := b.budget(t, owner).GetId()
	b.join(t, owner, id, member, "viewer")
	n := b.notifications(t, member)[0].GetId()
	remove := func(who person, id string) func() error {
		return func() error {
			_, err := b.DeleteNotification(who.ctx, &budgetv1.DeleteNotificationRequest{Id: id})
			return err
		}
	}
	b.refuses(t, codes.NotFound, "NOTIFICATION_NOT_FOUND", remove(owner, n))
	b.refuses(t, codes.InvalidArgument, "INVALID_NOTIFICATION_ID", remove(member, "1"))
	resp, err := b.DeleteNotification(member.ctx, &budgetv1.DeleteNotificationRequest{Id: n})
	require.NoError(t, err)
	require.Equal(t, n, resp.GetId())
	require.Empty(t, b.notifications(t, member))
	require.Len(t, b.notifications(t, owner), 1)
	b.refuses(t, codes.NotFound, "NOTIFICATION_NOT_FOUND", remove(member, n))
}
