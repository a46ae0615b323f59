package notification

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/coffer-budget/coffer/internal/pg"
)

type notification struct {
	// ID is the id of the event.
	ID     uuid.UUID
	UserID uuid.UUID `db:"user_id"`
	// Type is the event's type, such as budget.v1.budget.deleted. It is repeated from Data for SQL
	// and clients.
	Type string
	// Data is a google.protobuf.Any.
	Data      []byte
	ReadAt    *time.Time `db:"read_at"`
	CreatedAt time.Time  `db:"created_at"`
}

// notificationColumns lists the columns of type notification, with the table alias n.
const notificationColumns = `n.id, n.user_id, n.type, n.data, n.read_at, n.created_at`

// insertNotifications inserts unread notifications. Their ids are the ids of the events, so an id
// exists at most once per user: a repeated event inserts nothing.
func insertNotifications(ctx context.Context, q pg.Querier, notifications []notification) error {
	if len(notifications) == 0 {
		return nil
	}
	var ids, users []uuid.UUID
	var types []string
	var data [][]byte
	var times []time.Time
	for _, n := range notifications {
		ids, users, types = append(ids, n.ID), append(users, n.UserID), append(types, n.Type)
		data, times = append(data, n.Data), append(times, n.CreatedAt)
	}
	return pg.Exec(ctx, q, `
		INSERT INTO notifications (id, user_id, type, data, created_at)
		SELECT * FROM unnest($1::uuid[], $2::uuid[], $3::text[], $4::bytea[], $5::timestamptz[])
		ON CONFLICT DO NOTHING`, ids, users, types, data, times)
}

// notificationList selects a page of a user's notifications, after the position before, and up to
// the position last inclusively.
type notificationList struct {
	user         uuid.UUID
	before, last position
	limit        int
}

// selectNotifications returns a page, unread notifications first, then newest first. Both ends are
// index conditions. So a page of any filter reads as many index entries as it returns. The index is
// notifications_unread_first.
func selectNotifications(
	ctx context.Context, q pg.Querier, list notificationList,
) ([]notification, error) {
	return pg.All[notification](ctx, q, `
		SELECT `+notificationColumns+`
		FROM notifications n
		WHERE n.user_id = @user AND ((n.read_at IS NULL), n.id) < (@unread, @id)
			AND ((n.read_at IS NULL), n.id) >= (@last_unread, @last_id)
		ORDER BY (n.read_at IS NULL) DESC, n.id DESC
		LIMIT @limit`,
		pgx.NamedArgs{
			"user": list.user, "unread": list.before.Unread, "id": list.before.ID,
			"last_unread": list.last.Unread, "last_id": list.last.ID, "limit": list.limit,
		})
}

// countUnread returns the number of a user's unread notifications. The condition has the form of
// the expression in the index notifications_unread_first, which contains the unread ones as one
// range.
func countUnread(ctx context.Context, q pg.Querier, user uuid.UUID) (int64, error) {
	return pg.Value[int64](ctx, q,
		`SELECT count(*) FROM notifications WHERE user_id = $1 AND (read_at IS NULL)`, user)
}

// updateNotification sets or clears the time of reading, and keeps an earlier time. It returns
// pgx.ErrNoRows if the user has no notification with this id.
func updateNotification(
	ctx context.Context, q pg.Querier, user, id uuid.UUID, readAt *time.Time,
) (notification, error) {
	return pg.One[notification](ctx, q, `
		UPDATE notifications n
		SET read_at = CASE WHEN $3::timestamptz IS NOT NULL THEN coalesce(n.read_at, $3) END
		WHERE n.user_id = $1 AND n.id = $2
		RETURNING `+notificationColumns, user, id, readAt)
}

// readNotifications marks a user's unread notifications as read and returns their number.
// Notifications that were read before keep their time.
func readNotifications(
	ctx context.Context, q pg.Querier, user uuid.UUID, at time.Time,
) (int64, error) {
	tag, err := q.Exec(ctx,
		`UPDATE notifications SET read_at = $2 WHERE user_id = $1 AND (read_at IS NULL)`, user, at)
	if err != nil {
		return 0, fmt.Errorf("marking notifications as read: %w", err)
	}
	return tag.RowsAffected(), nil
}

func deleteNotification(ctx context.Context, q pg.Querier, user, id uuid.UUID) (bool, error) {
	return pg.Affected(ctx, q, `DELETE FROM notifications WHERE user_id = $1 AND id = $2`, user, id)
}

// deleteNotifications deletes all notifications from before a time. The hourly cleanup calls it.
// The index notifications_created_at finds the rows.
func deleteNotifications(ctx context.Context, q pg.Querier, before time.Time) error {
	return pg.Exec(ctx, q, `DELETE FROM notifications WHERE created_at < $1`, before)
}
