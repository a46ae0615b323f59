package notification

import (
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	budgetv1 "github.com/coffer-budget/coffer/proto/gen/coffer/budget/v1"
	"github.com/coffer-budget/coffer/services/budget/internal/budgettest"
)

// TestUserWithTheIDsOfAnother runs the same requests on two databases. In one of them, another user
// has notifications with the same ids. A statement that forgets the user returns or changes the
// rows of the other one.
func TestUserWithTheIDsOfAnother(t *testing.T) {
	t.Parallel()
	alone, beside := setup(t), setup(t)
	owner, user := alone.user(t, "Owner"), alone.user(t, "User")
	for range 6 {
		alone.invite(t, owner, user)
	}
	ids := []string{}
	for _, n := range alone.notifications(t, user) {
		ids = append(ids, n.GetId())
	}
	_, err := alone.UpdateNotification(user.Ctx,
		&budgetv1.UpdateNotificationRequest{Id: ids[4], Read: new(true)})
	require.NoError(t, err)
	twin := uuid.Must(uuid.NewV7())
	budgettest.Copy(t, alone.db, beside.db, "notifications", user.ID, user.ID)
	budgettest.Copy(t, alone.db, beside.db, "notifications", user.ID, twin)
	before := budgettest.RowsOf(t, beside.db, "notifications", twin)

	want, got := alone.use(user, ids), beside.use(user, ids)
	require.Len(t, got, len(want))
	for i := range want {
		require.Equal(t, want[i], got[i])
	}
	require.Equal(t, before, budgettest.RowsOf(t, beside.db, "notifications", twin))
	require.Equal(t, budgettest.RowsOf(t, alone.db, "notifications", user.ID),
		budgettest.RowsOf(t, beside.db, "notifications", user.ID))
}

// use calls every RPC that reads or changes notifications.
func (b *bundle) use(user budgettest.User, ids []string) budgettest.Record {
	var record budgettest.Record
	list := func() {
		for _, req := range []*budgetv1.ListNotificationsRequest{
			{},
			{Limit: new(int32(2))},
			{Read: new(true)},
			{Read: new(false), Limit: new(int32(1))},
		} {
			record.Add(b.ListNotifications(user.Ctx, req))
		}
	}
	list()
	b.now = func() time.Time { return budgettest.Today.Add(time.Hour) }
	record.Add(b.UpdateNotification(user.Ctx,
		&budgetv1.UpdateNotificationRequest{Id: ids[0], Read: new(true)}))
	record.Add(b.UpdateNotification(user.Ctx,
		&budgetv1.UpdateNotificationRequest{Id: ids[4], Read: new(false)}))
	list()
	record.Add(b.DeleteNotification(user.Ctx, &budgetv1.DeleteNotificationRequest{Id: ids[1]}))
	record.Add(b.DeleteNotification(user.Ctx, &budgetv1.DeleteNotificationRequest{Id: ids[1]}))
	list()
	record.Add(b.UpdateNotifications(user.Ctx,
		&budgetv1.UpdateNotificationsRequest{Read: new(true)}))
	list()
	return record
}
