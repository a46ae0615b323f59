package webhook

import (
	"context"
	"log/slog"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/coffer-budget/coffer/internal/outbox"
	"github.com/coffer-budget/coffer/internal/outbox/natstest"
	budgetv1 "github.com/coffer-budget/coffer/proto/gen/coffer/budget/v1"
	"github.com/coffer-budget/coffer/services/budget/internal/budgettest"
)

// TestListWebhookDeliveriesWithoutBodies requires that a list does not read the bodies, which it
// does not show.
func TestListWebhookDeliveriesWithoutBodies(t *testing.T) {
	t.Parallel()
	env := setup(t)
	owner := env.user(t, "Owner")
	w := env.webhook(t, owner, "https://example.com/hook").GetWebhook()
	env.queue(t, happened(owner, 1))
	listed, err := selectDeliveries(t.Context(), env.db, deliveryList{
		user: owner.ID, webhook: uuid.MustParse(w.GetId()), before: uuid.Max, limit: 2,
	})
	require.NoError(t, err)
	require.Len(t, listed, 1)
	require.Empty(t, listed[0].Body)
	of := webhook{UserID: owner.ID, ID: listed[0].WebhookID}
	stored, err := selectDelivery(t.Context(), env.db, of, listed[0].ID)
	require.NoError(t, err)
	require.NotEmpty(t, stored.Body)
}

func TestRedeliverWebhookEvent(t *testing.T) {
	t.Parallel()
	env := setup(t)
	owner := env.user(t, "Owner")
	endpoint := env.receiver(t, loopback, "127.0.0.1")
	id := env.webhook(t, owner, endpoint.url).GetWebhook().GetId()
	env.queue(t, happened(owner, 1))
	env.deliverAll(t)
	first := env.log(t, owner, id)[0]
	redeliver := func(delivery string) (*budgetv1.WebhookDelivery, error) {
		req := &budgetv1.RedeliverWebhookEventRequest{WebhookId: id, Id: delivery}
		resp, err := env.RedeliverWebhookEvent(owner.Ctx, req)
		return resp.GetDelivery(), err
	}
	again, err := redeliver(first.GetId())
	require.NoError(t, err)
	require.Equal(t, "pending", again.GetStatus())
	require.Equal(t, first.GetEventId(), again.GetEventId())
	env.deliverAll(t)
	got := endpoint.deliveries()
	require.Len(t, got, 2)
	require.Equal(t, got[0].body, got[1].body)
	require.Equal(t, again.GetId(), got[1].header.Get("Coffer-Delivery-Id"))

	budgettest.Refuses(t, env.db, 5, "WEBHOOK_DELIVERY_NOT_FOUND", func() error {
		_, err := redeliver(uuid.NewString())
		return err
	})
	budgettest.Refuses(t, env.db, 3, "INVALID_WEBHOOK_DELIVERY_ID", func() error {
		_, err := redeliver("x")
		return err
	})
}

// TestDeliverFromStream publishes an event through the outbox and NATS.
func TestDeliverFromStream(t *testing.T) {
	t.Parallel()
	env := setup(t)
	owner := env.user(t, "Owner")
	endpoint := env.receiver(t, loopback, "127.0.0.1")
	env.webhook(t, owner, endpoint.url, "ledger.v1.wallet.created")
	nats := outbox.Config{NATSURL: natstest.New(t), NATSReplicas: 1}
	bus, err := outbox.Connect(nats, "ledger", slog.New(slog.DiscardHandler))
	require.NoError(t, err)
	defer bus.Close()
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	defer running.Wait()
	defer cancel()
	running.Go(func() { bus.Relay(ctx, env.db) })
	running.Go(func() {
		bus.Consume(ctx, env.db, outbox.Consumer{
			Name: "webhooks", Subject: "*.v1.*.*",
			Apply: env.QueueDeliveries, Applied: env.Deliveries.Wake,
		})
	})
	running.Go(func() { env.Run(ctx) })
	e := happened(owner, 1)
	event := outbox.Event{ID: e.ID, UserID: e.UserID, Data: e.Data}
	require.NoError(t, outbox.Add(t.Context(), env.db, event))
	bus.Wake()
	delivered := func() bool { return len(endpoint.deliveries()) == 1 }
	require.Eventually(t, delivered, time.Minute, 10*time.Millisecond)
	require.Contains(t, endpoint.deliveries()[0].body, e.ID.String())
}
