package notification

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/anypb"

	"github.com/coffer-budget/coffer/internal/apierr"
	"github.com/coffer-budget/coffer/internal/calendar"
	"github.com/coffer-budget/coffer/internal/caller"
	"github.com/coffer-budget/coffer/internal/outbox"
	"github.com/coffer-budget/coffer/internal/page"
	"github.com/coffer-budget/coffer/internal/pg"
	"github.com/coffer-budget/coffer/internal/text"
	budgetv1 "github.com/coffer-budget/coffer/proto/gen/coffer/budget/v1"
)

// position is a place in a user's list. The list starts with the unread notifications, and has the
// newest first in both groups.
type position struct {
	Unread bool
	ID     uuid.UUID
}

// ListNotifications returns a page of the acting user's notifications, and the number of all unread
// ones. The filter read selects the read or the unread ones.
func (s *Server) ListNotifications(
	ctx context.Context, req *budgetv1.ListNotificationsRequest,
) (*budgetv1.ListNotificationsResponse, error) {
	user, scope := caller.ID(ctx), "notifications "+caller.ID(ctx).String()
	// Without a filter, last is zero: the list ends after the oldest read notification.
	list := notificationList{user: user, before: position{Unread: true, ID: uuid.Max}}
	if req.Read != nil {
		scope += fmt.Sprintf(" read=%t", req.GetRead())
		// The filter limits the list to the unread or the read part of the same order.
		list.before.Unread, list.last.Unread = !req.GetRead(), !req.GetRead()
	}
	notifications, pagination, err := page.List(s.cursors, page.Query[notification, position]{
		Scope: scope, Limit: req.Limit, Cursor: req.GetCursor(), First: list.before,
		Position: func(n notification) position { return position{n.ReadAt == nil, n.ID} },
		Select: func(before position, limit int) ([]notification, error) {
			list.before, list.limit = before, limit
			return selectNotifications(ctx, s.db, list)
		},
		Size: func(n notification) int { return 300 + len(n.Data) },
	})
	if err != nil {
		return nil, err
	}
	// The count is of all notifications, regardless of page and filter.
	unread, err := countUnread(ctx, s.db, user)
	if err != nil {
		return nil, err
	}
	resp := &budgetv1.ListNotificationsResponse{UnreadCount: unread, Pagination: pagination}
	for _, n := range notifications {
		// Data of any release can be decoded, because fields are only added to events.
		m, err := n.proto()
		if err != nil {
			return nil, err
		}
		resp.Notifications = append(resp.Notifications, m)
	}
	return resp, nil
}

// UpdateNotification marks a notification as read or unread. A repeated mark as read keeps the time
// of the first one. Errors: NOTIFICATION_NOT_FOUND, also for the notification of another user, and
// EMPTY_UPDATE.
func (s *Server) UpdateNotification(
	ctx context.Context, req *budgetv1.UpdateNotificationRequest,
) (*budgetv1.UpdateNotificationResponse, error) {
	id, ok := text.ID(req.GetId())
	if !ok {
		return nil, errInvalidNotificationID
	}
	if err := apierr.CheckChange(req); err != nil {
		return nil, err
	}
	// No time means unread.
	var readAt *time.Time
	if req.GetRead() {
		readAt = new(s.now().UTC())
	}
	// The owner is part of the condition: another user's notification does not exist for the
	// caller.
	n, err := updateNotification(ctx, s.db, caller.ID(ctx), id, readAt)
	if err != nil {
		return nil, pg.IfNoRows(err, errNotificationNotFound)
	}
	m, err := n.proto()
	if err != nil {
		return nil, err
	}
	return &budgetv1.UpdateNotificationResponse{Notification: m}, nil
}

// UpdateNotifications marks all notifications as read. Marking all as unread is rejected, because
// no client needs it and it would lose the times of reading.
func (s *Server) UpdateNotifications(
	ctx context.Context, req *budgetv1.UpdateNotificationsRequest,
) (*budgetv1.UpdateNotificationsResponse, error) {
	if err := apierr.CheckChange(req); err != nil {
		return nil, err
	}
	if !req.GetRead() {
		return nil, apierr.Invalid("read", "must be true")
	}
	n, err := readNotifications(ctx, s.db, caller.ID(ctx), s.now().UTC())
	if err != nil {
		return nil, err
	}
	return &budgetv1.UpdateNotificationsResponse{UpdatedCount: n}, nil
}

// DeleteNotification deletes a read or unread notification. The event itself stays in the stream.
func (s *Server) DeleteNotification(
	ctx context.Context, req *budgetv1.DeleteNotificationRequest,
) (*budgetv1.DeleteNotificationResponse, error) {
	id, ok := text.ID(req.GetId())
	if !ok {
		return nil, errInvalidNotificationID
	}
	// A repeated deletion returns NOTIFICATION_NOT_FOUND.
	deleted, err := deleteNotification(ctx, s.db, caller.ID(ctx), id)
	if err != nil {
		return nil, err
	}
	if !deleted {
		return nil, errNotificationNotFound
	}
	return &budgetv1.DeleteNotificationResponse{Id: id.String()}, nil
}

// unread returns the notification of an event. They have the same id, so that clients can match
// them. The data is stored as a google.protobuf.Any, which includes the type.
func (s *Server) unread(event, user uuid.UUID, data proto.Message) (notification, error) {
	wrapped, err := anypb.New(data)
	if err != nil {
		return notification{}, fmt.Errorf("encoding a notification: %w", err)
	}
	encoded, err := proto.Marshal(wrapped)
	if err != nil {
		return notification{}, fmt.Errorf("encoding a notification: %w", err)
	}
	name := outbox.Type(data.ProtoReflect().Descriptor().FullName())
	return notification{
		ID: event, UserID: user, Type: name, Data: encoded, CreatedAt: s.now().UTC(),
	}, nil
}

// proto converts the notification and decodes its data. An error means that the stored data is
// damaged.
func (n notification) proto() (*budgetv1.Notification, error) {
	message := &budgetv1.Notification{
		Id:        n.ID.String(),
		Type:      n.Type,
		Data:      &anypb.Any{},
		Read:      n.ReadAt != nil,
		CreatedAt: calendar.FormatTime(n.CreatedAt),
	}
	if err := proto.Unmarshal(n.Data, message.GetData()); err != nil {
		return nil, fmt.Errorf("decoding notification %s: %w", n.ID, err)
	}
	if n.ReadAt != nil {
		message.ReadAt = new(calendar.FormatTime(*n.ReadAt))
	}
	return message, nil
}
