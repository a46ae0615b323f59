package notification

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/proto"

	"github.com/coffer-budget/coffer/internal/apierr"
	"github.com/coffer-budget/coffer/internal/outbox"
	"github.com/coffer-budget/coffer/internal/pg"
	"github.com/coffer-budget/coffer/internal/pg/pgtest"
	"github.com/coffer-budget/coffer/internal/rpc"
	budgetv1 "github.com/coffer-budget/coffer/proto/gen/coffer/budget/v1"
	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
	"github.com/coffer-budget/coffer/services/budget/internal/budgettest"
)

func (b *bundle) notifications(t *testing.T, who budgettest.User) []*budgetv1.Notification {
	t.Helper()
	resp, err := b.ListNotifications(who.Ctx, &budgetv1.ListNotificationsRequest{})
	require.NoError(t, err)
	return resp.GetNotifications()
}

func TestNotificationIsEvent(t *testing.T) {
	t.Parallel()
	env := setup(t)
	owner, member := env.user(t, "Owner"), env.user(t, "Member")
	event := env.invite(t, owner, member)
	notification := env.notifications(t, member)[0]
	published := pgtest.Value[uuid.UUID](t, env.db, `SELECT id FROM outbox WHERE user_id = $1`,
		member.ID)
	require.Equal(t, published.String(), notification.GetId())
	require.Equal(t, "budget.v1.invitation.sent", notification.GetType())
	require.Equal(t, "2026-03-15T12:00:00.000Z", notification.GetCreatedAt())
	data, err := notification.GetData().UnmarshalNew()
	require.NoError(t, err)
	require.True(t, proto.Equal(event, data), "%v", data)
	require.Empty(t, env.notifications(t, owner), "the owner caused the event")
}

// TestListNotificationsSize lists notifications of imports as an earlier release stored them, with
// all names in the file.
func TestListNotificationsSize(t *testing.T) {
	t.Parallel()
	env := setup(t)
	user := env.user(t, "User")
	failed := &ledgerv1.ImportFailed{OwnerId: user.ID.String(), Import: &ledgerv1.Import{
		Heading: []string{strings.Repeat("x", 1<<20)},
	}}
	const count = 20
	for range count {
		require.NoError(t, pg.InTx(t.Context(), env.db, func(tx pgx.Tx) error {
			return env.Store(t.Context(), tx, []outbox.Received{
				{
					ID: uuid.Must(uuid.NewV7()), UserID: user.ID, Data: failed,
					Time: budgettest.Today,
				},
			})
		}))
	}
	req, seen := &budgetv1.ListNotificationsRequest{Limit: new(int32(200))}, 0
	for more := true; more; {
		resp, err := env.ListNotifications(user.Ctx, req)
		require.NoError(t, err)
		require.Less(t, proto.Size(resp), rpc.MaxMessage*9/10)
		require.EqualValues(t, 200, resp.GetPagination().GetLimit())
		seen += len(resp.GetNotifications())
		req.Cursor, more = resp.GetPagination().GetNextCursor(), resp.GetPagination().GetHasMore()
	}
	require.Equal(t, count, seen)
}

func TestListNotificationsPages(t *testing.T) {
	t.Parallel()
	env := setup(t)
	owner, member := env.user(t, "Owner"), env.user(t, "Member")
	for range 7 {
		env.invite(t, owner, member)
	}
	newestFirst := env.notifications(t, member)
	require.Len(t, newestFirst, 7)
	for _, i := range []int{0, 3} {
		resp, err := env.UpdateNotification(member.Ctx,
			&budgetv1.UpdateNotificationRequest{Id: newestFirst[i].GetId(), Read: new(true)})
		require.NoError(t, err)
		require.True(t, resp.GetNotification().GetRead())
		require.Equal(t, "2026-03-15T12:00:00.000Z", resp.GetNotification().GetReadAt())
	}
	var got []string
	req := &budgetv1.ListNotificationsRequest{Limit: new(int32(2))}
	for {
		page, err := env.ListNotifications(member.Ctx, req)
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

func TestUpdateNotificationReadAt(t *testing.T) {
	t.Parallel()
	env := setup(t)
	owner, member := env.user(t, "Owner"), env.user(t, "Member")
	env.invite(t, owner, member)
	id := env.notifications(t, member)[0].GetId()
	mark := func(read bool) *budgetv1.Notification {
		resp, err := env.UpdateNotification(member.Ctx,
			&budgetv1.UpdateNotificationRequest{Id: id, Read: &read})
		require.NoError(t, err)
		return resp.GetNotification()
	}
	first := mark(true)
	env.now = func() time.Time { return budgettest.Today.Add(time.Hour) }
	require.Equal(t, first.GetReadAt(), mark(true).GetReadAt())
	unread := mark(false)
	require.False(t, unread.GetRead())
	require.Nil(t, unread.ReadAt)
	require.Equal(t, "2026-03-15T13:00:00.000Z", mark(true).GetReadAt())
}

func TestNotificationOwnership(t *testing.T) {
	t.Parallel()
	env := setup(t)
	owner, member := env.user(t, "Owner"), env.user(t, "Member")
	env.invite(t, owner, member)
	id := env.notifications(t, member)[0].GetId()
	mark := func(ctx context.Context, id string, read *bool) func() error {
		return pgtest.Call(ctx, env.UpdateNotification,
			&budgetv1.UpdateNotificationRequest{Id: id, Read: read})
	}
	budgettest.Refuses(t, env.db, codes.NotFound, "NOTIFICATION_NOT_FOUND",
		mark(owner.Ctx, id, new(true)))
	budgettest.Refuses(t, env.db, codes.NotFound, "NOTIFICATION_NOT_FOUND",
		mark(member.Ctx, uuid.NewString(), new(true)))
	budgettest.Refuses(t, env.db, codes.InvalidArgument, "INVALID_NOTIFICATION_ID",
		mark(member.Ctx, "1", new(true)))
	budgettest.Refuses(t, env.db, codes.InvalidArgument, "EMPTY_UPDATE", mark(member.Ctx, id, nil))
	budgettest.Refuses(t, env.db, codes.InvalidArgument, "INVALID_CURSOR", pgtest.Call(owner.Ctx,
		env.ListNotifications, &budgetv1.ListNotificationsRequest{Cursor: "x"}))
}

func TestNotificationRetention(t *testing.T) {
	t.Parallel()
	b := setup(t)
	owner, member := b.user(t, "Owner"), b.user(t, "Member")
	b.invite(t, owner, member)
	require.NoError(t, deleteNotifications(t.Context(), b.db, budgettest.Today))
	require.Len(t, b.notifications(t, member), 1)
	require.NoError(t, deleteNotifications(t.Context(), b.db, budgettest.Today.Add(time.Second)))
	require.Empty(t, b.notifications(t, member))
}

func TestListNotificationsFilter(t *testing.T) {
	t.Parallel()
	env := setup(t)
	owner, member := env.user(t, "Owner"), env.user(t, "Member")
	for range 7 {
		env.invite(t, owner, member)
	}
	all := env.notifications(t, member)
	for _, i := range []int{0, 3, 4} {
		_, err := env.UpdateNotification(member.Ctx,
			&budgetv1.UpdateNotificationRequest{Id: all[i].GetId(), Read: new(true)})
		require.NoError(t, err)
	}
	for read, want := range map[bool][]int{false: {1, 2, 5, 6}, true: {0, 3, 4}} {
		var got, ids []string
		req := &budgetv1.ListNotificationsRequest{Limit: new(int32(2)), Read: &read}
		for {
			page, err := env.ListNotifications(member.Ctx, req)
			require.NoError(t, err)
			require.EqualValues(t, 4, page.GetUnreadCount())
			for _, n := range page.GetNotifications() {
				require.Equal(t, read, n.GetRead())
				got = append(got, n.GetId())
			}
			if req.Cursor = page.GetPagination().GetNextCursor(); req.GetCursor() == "" {
				break
			}
			budgettest.Refuses(t, env.db, codes.InvalidArgument, "INVALID_CURSOR",
				pgtest.Call(member.Ctx, env.ListNotifications,
					&budgetv1.ListNotificationsRequest{Cursor: req.GetCursor()}))
		}
		for _, i := range want {
			ids = append(ids, all[i].GetId())
		}
		require.Equal(t, ids, got)
	}
}

func TestUpdateNotifications(t *testing.T) {
	t.Parallel()
	env := setup(t)
	owner, member, other := env.user(t, "Owner"), env.user(t, "Member"), env.user(t, "Other")
	env.invite(t, owner, member)
	env.invite(t, owner, member)
	env.invite(t, owner, other)
	first := env.notifications(t, member)[0].GetId()
	_, err := env.UpdateNotification(member.Ctx,
		&budgetv1.UpdateNotificationRequest{Id: first, Read: new(true)})
	require.NoError(t, err)
	env.now = func() time.Time { return budgettest.Today.Add(time.Hour) }
	for _, want := range []int64{1, 0} {
		resp, err := env.UpdateNotifications(member.Ctx,
			&budgetv1.UpdateNotificationsRequest{Read: new(true)})
		require.NoError(t, err)
		require.Equal(t, want, resp.GetUpdatedCount())
	}
	for _, n := range env.notifications(t, member) {
		require.Equal(t, n.GetId() == first, n.GetReadAt() == "2026-03-15T12:00:00.000Z")
	}
	require.False(t, env.notifications(t, other)[0].GetRead())
	budgettest.Refuses(t, env.db, codes.InvalidArgument, "EMPTY_UPDATE",
		pgtest.Call(member.Ctx, env.UpdateNotifications, &budgetv1.UpdateNotificationsRequest{}))
	budgettest.Refuses(t, env.db, codes.InvalidArgument, "VALIDATION_ERROR", pgtest.Call(member.Ctx,
		env.UpdateNotifications, &budgetv1.UpdateNotificationsRequest{Read: new(false)}))
}

func TestDeleteNotification(t *testing.T) {
	t.Parallel()
	env := setup(t)
	owner, member := env.user(t, "Owner"), env.user(t, "Member")
	env.invite(t, owner, member)
	env.invite(t, member, owner)
	name := env.notifications(t, member)[0].GetId()
	remove := func(who budgettest.User, id string) func() error {
		return pgtest.Call(who.Ctx, env.DeleteNotification,
			&budgetv1.DeleteNotificationRequest{Id: id})
	}
	budgettest.Refuses(t, env.db, codes.NotFound, "NOTIFICATION_NOT_FOUND", remove(owner, name))
	budgettest.Refuses(t, env.db, codes.InvalidArgument, "INVALID_NOTIFICATION_ID",
		remove(member, "1"))
	resp, err := env.DeleteNotification(member.Ctx, &budgetv1.DeleteNotificationRequest{Id: name})
	require.NoError(t, err)
	require.Equal(t, name, resp.GetId())
	require.Empty(t, env.notifications(t, member))
	require.Len(t, env.notifications(t, owner), 1)
	budgettest.Refuses(t, env.db, codes.NotFound, "NOTIFICATION_NOT_FOUND", remove(member, name))
}

func TestStreamEventsPosition(t *testing.T) {
	t.Parallel()
	b := setup(t)
	owner, other := b.user(t, "Owner"), b.user(t, "Other")
	position, err := b.cursors.Seal(eventsOf(owner.ID), uint64(7))
	require.NoError(t, err)
	after, err := b.openPosition(owner.Ctx, owner.ID, position)
	require.NoError(t, err)
	require.EqualValues(t, 7, after)
	_, err = b.openPosition(other.Ctx, other.ID, position)
	require.ErrorIs(t, err, apierr.InvalidCursor, "a position is valid for its user only")
}
