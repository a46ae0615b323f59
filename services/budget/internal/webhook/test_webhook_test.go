package webhook

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/coffer-budget/coffer/internal/pg/pgtest"
	budgetv1 "github.com/coffer-budget/coffer/proto/gen/coffer/budget/v1"
)

func TestTestWebhook(t *testing.T) {
	t.Parallel()
	env := setup(t)
	owner := env.user(t, "Owner")
	endpoint := env.receiver(t, loopback, "127.0.0.1")
	made := env.webhook(t, owner, endpoint.url, "ledger.v1.wallet.created")
	env.webhook(t, owner, endpoint.url)
	id := made.GetWebhook().GetId()
	req := &budgetv1.TestWebhookRequest{Id: id, IdempotencyKey: "once"}
	resp, err := env.TestWebhook(owner.Ctx, req)
	require.NoError(t, err)
	require.Equal(t, "budget.v1.webhook.tested", resp.GetDelivery().GetType())
	require.Equal(t, "pending", resp.GetDelivery().GetStatus())
	again, err := env.TestWebhook(owner.Ctx, req)
	require.NoError(t, err)
	require.True(t, again.GetReplayed())

	env.deliverAll(t)
	require.Len(t, endpoint.deliveries(), 1, "only to the tested webhook, once")
	got := endpoint.deliveries()[0]
	requireSigned(t, got, made.GetSecret())
	require.Equal(t, resp.GetDelivery().GetEventId(), got.header.Get("Coffer-Event-Id"))
	require.JSONEq(t, `{"specversion": "1.0", "id": "`+resp.GetDelivery().GetEventId()+`",
		"source": "/coffer/budget",
		"type": "budget.v1.webhook.tested", "subject": "`+owner.ID.String()+`",
		"time": "2026-03-15T12:00:00.000Z", "datacontenttype": "application/json",
		"data": {"webhookId": "`+id+`"}}`, got.body)
	published := pgtest.Value[int](t, env.db, `SELECT count(*) FROM outbox`)
	require.Zero(t, published)
	log := env.log(t, owner, id)
	require.Len(t, log, 1)
	require.Equal(t, "delivered", log[0].GetStatus())
}
