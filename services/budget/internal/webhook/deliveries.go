package webhook

import (
	"context"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/coffer-budget/coffer/internal/apierr"
	"github.com/coffer-budget/coffer/internal/calendar"
	"github.com/coffer-budget/coffer/internal/caller"
	"github.com/coffer-budget/coffer/internal/idem"
	"github.com/coffer-budget/coffer/internal/outbox"
	"github.com/coffer-budget/coffer/internal/page"
	"github.com/coffer-budget/coffer/internal/pg"
	"github.com/coffer-budget/coffer/internal/restjson"
	"github.com/coffer-budget/coffer/internal/text"
	budgetv1 "github.com/coffer-budget/coffer/proto/gen/coffer/budget/v1"
	"github.com/coffer-budget/coffer/services/budget/internal/notification"
)

// QueueDeliveries stores a delivery for each event and each of the user's enabled webhooks that
// subscribes to it. A repeated event changes nothing. Events from before the creation of a webhook
// are not delivered to it.
func (s *Server) QueueDeliveries(ctx context.Context, tx pgx.Tx, events []outbox.Received) error {
	var users []uuid.UUID
	for _, event := range events {
		users = append(users, event.UserID)
	}
	webhooks, err := selectEnabledWebhooks(ctx, tx, users)
	if err != nil {
		return err
	}
	var deliveries []delivery
	for _, event := range events {
		var body []byte
		for _, webhook := range webhooks {
			// A subscription starts with the creation of the webhook. The stream may deliver older
			// events again.
			if webhook.UserID != event.UserID || !webhook.subscribes(event.Subject) ||
				event.Time.Before(webhook.CreatedAt) {
				continue
			}
			// The body is encoded once and stored, so that later releases do not change a queued
			// delivery.
			if body == nil {
				if body, err = eventJSON(event); err != nil {
					return err
				}
			}
			deliveries = append(deliveries, s.newDelivery(webhook, event, body))
		}
	}
	return insertDeliveries(ctx, tx, deliveries)
}

// eventJSON returns the body of a delivery. It is the same JSON that live streams send.
func eventJSON(e outbox.Received) ([]byte, error) {
	m, err := notification.CloudEvent(e)
	if err != nil {
		return nil, err
	}
	return restjson.Append(nil, m)
}

// ListWebhookDeliveries returns the log of a webhook, newest first. It contains the deliveries of
// 30 days, optionally of one status. Errors: WEBHOOK_NOT_FOUND, also for the webhook of another
// user.
func (s *Server) ListWebhookDeliveries(
	ctx context.Context, req *budgetv1.ListWebhookDeliveriesRequest,
) (*budgetv1.ListWebhookDeliveriesResponse, error) {
	var problems apierr.Problems
	// Invalid fields are reported before an unknown webhook.
	limit, problem := page.Limit(req.Limit)
	problems.Field(problem)
	switch deliveryStatus(req.GetStatus()) {
	case "", pending, delivered, failed:
	default:
		problems.Invalid("status", "must be pending, delivered or failed")
	}
	if err := problems.Err(); err != nil {
		return nil, err
	}
	webhook, err := s.webhookOf(ctx, s.db, req.GetWebhookId())
	if err != nil {
		return nil, err
	}
	list := deliveryList{
		user: webhook.UserID, webhook: webhook.ID, status: req.Status, before: uuid.Max,
		limit: limit + 1,
	}
	// The owner of the webhook was checked, so its id is a sufficient scope.
	scope := "deliveries " + webhook.ID.String() + " " + req.GetStatus()
	if req.GetCursor() != "" {
		if err := s.cursors.Open(scope, req.GetCursor(), &list.before); err != nil {
			return nil, err
		}
	}
	deliveries, err := selectDeliveries(ctx, s.db, list)
	if err != nil {
		return nil, err
	}
	deliveries, pagination, err := page.Cut(
		s.cursors, scope, deliveries, limit, func(d delivery) any { return d.ID })
	if err != nil {
		return nil, err
	}
	resp := &budgetv1.ListWebhookDeliveriesResponse{Pagination: pagination}
	for _, d := range deliveries {
		resp.Deliveries = append(resp.Deliveries, d.proto())
	}
	return resp, nil
}

// RedeliverWebhookEvent queues a delivery of an event again, whatever the status of the first one
// is. The body is the stored one, so a receiver recognizes the repetition by the event's id. A
// delivery to a disabled webhook waits until its user enables it. Errors: WEBHOOK_NOT_FOUND,
// WEBHOOK_DELIVERY_NOT_FOUND.
func (s *Server) RedeliverWebhookEvent(
	ctx context.Context, req *budgetv1.RedeliverWebhookEventRequest,
) (*budgetv1.RedeliverWebhookEventResponse, error) {
	webhookID, err := parseWebhookID(req.GetWebhookId())
	if err != nil {
		return nil, err
	}
	id, ok := text.ID(req.GetId())
	if !ok {
		return nil, errInvalidDeliveryID
	}
	resp := &budgetv1.RedeliverWebhookEventResponse{}
	call := idem.Call{Scope: caller.ID(ctx).String(), Key: req.GetIdempotencyKey(), Request: req}
	resp.Replayed, err = idem.InTx(ctx, s.db, call, resp, func(tx pgx.Tx) error {
		webhook, err := s.webhookOf(ctx, tx, webhookID.String())
		if err != nil {
			return err
		}
		redelivered, err := selectDelivery(ctx, tx, webhook, id)
		if err != nil {
			return pg.IfNoRows(err, errDeliveryNotFound)
		}
		// The number is part of a unique key. It distinguishes a redelivery from a repeated event.
		repeats, err := countRepeats(ctx, tx, redelivered)
		if err != nil {
			return err
		}
		again := s.newDelivery(webhook,
			outbox.Received{ID: redelivered.EventID, Subject: redelivered.Type}, redelivered.Body)
		again.Repeat = repeats + 1
		// A repeated request gets the recorded response, and does not deliver again.
		resp.Delivery = again.proto()
		return insertDeliveries(ctx, tx, []delivery{again})
	})
	if err != nil {
		return nil, err
	}
	s.Deliveries.Wake()
	return resp, nil
}

// TestWebhook queues a delivery with the id of a new event. The webhook receives it regardless of
// its subscriptions. The event is not published: other webhooks and live streams do not receive it.
// A user sees in the log whether the webhook has received it. Errors: WEBHOOK_NOT_FOUND.
func (s *Server) TestWebhook(
	ctx context.Context, req *budgetv1.TestWebhookRequest,
) (*budgetv1.TestWebhookResponse, error) {
	if _, err := parseWebhookID(req.GetId()); err != nil {
		return nil, err
	}
	resp := &budgetv1.TestWebhookResponse{}
	call := idem.Call{Scope: caller.ID(ctx).String(), Key: req.GetIdempotencyKey(), Request: req}
	replayed, err := idem.InTx(ctx, s.db, call, resp, func(tx pgx.Tx) error {
		w, err := s.lockedWebhook(ctx, tx, req.GetId(), "")
		if err != nil {
			return err
		}
		d, err := s.testDelivery(w)
		if err != nil {
			return err
		}
		resp.Delivery = d.proto()
		return insertDeliveries(ctx, tx, []delivery{d})
	})
	if err != nil {
		return nil, err
	}
	resp.Replayed = replayed
	s.Deliveries.Wake()
	return resp, nil
}

func (s *Server) testDelivery(webhook webhook) (delivery, error) {
	data := &budgetv1.WebhookTested{WebhookId: webhook.ID.String()}
	e := outbox.Received{
		ID: s.newID(), UserID: webhook.UserID, Source: "/coffer/budget", Time: s.now().UTC(),
		Data: data, Subject: outbox.Type(data.ProtoReflect().Descriptor().FullName()),
	}
	body, err := eventJSON(e)
	if err != nil {
		return delivery{}, err
	}
	return s.newDelivery(webhook, e, body), nil
}

func (s *Server) newDelivery(w webhook, e outbox.Received, body []byte) delivery {
	now := s.now().UTC()
	return delivery{
		ID: s.newID(), UserID: w.UserID, WebhookID: w.ID,
		EventID: e.ID, Type: e.Subject, Body: body,
		Status: pending, NextAttemptAt: now, CreatedAt: now,
	}
}

// proto converts the delivery. Only a pending one has a next attempt.
func (d delivery) proto() *budgetv1.WebhookDelivery {
	message := &budgetv1.WebhookDelivery{
		Id:             d.ID.String(),
		WebhookId:      d.WebhookID.String(),
		EventId:        d.EventID.String(),
		Type:           d.Type,
		Status:         string(d.Status),
		Attempts:       d.Attempts,
		ResponseStatus: d.ResponseStatus,
		Error:          d.Error,
		DurationMs:     d.DurationMS,
		CreatedAt:      calendar.FormatTime(d.CreatedAt),
	}
	if d.Status == pending {
		message.NextAttemptAt = new(calendar.FormatTime(d.NextAttemptAt))
	}
	if d.LastAttemptAt != nil {
		message.LastAttemptAt = new(calendar.FormatTime(*d.LastAttemptAt))
	}
	return message
}
