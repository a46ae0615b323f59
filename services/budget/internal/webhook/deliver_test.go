package webhook

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/coffer-budget/coffer/internal/seal"
	budgetv1 "github.com/coffer-budget/coffer/proto/gen/coffer/budget/v1"
	"github.com/coffer-budget/coffer/services/budget/internal/budgettest"
)

// requireSigned verifies a delivery in the way that docs/webhooks.md describes for receivers.
func requireSigned(t *testing.T, got received, secrets ...string) {
	t.Helper()
	parts := strings.Split(got.header.Get("Coffer-Signature"), ",")
	at, ok := strings.CutPrefix(parts[0], "t=")
	require.True(t, ok)
	require.Len(t, parts, 1+len(secrets))
	for i, secret := range secrets {
		m := hmac.New(sha256.New, []byte(secret))
		m.Write([]byte(at + "." + got.body))
		require.Equal(t, "v1="+hex.EncodeToString(m.Sum(nil)), parts[1+i])
	}
}

func TestDeliverSigned(t *testing.T) {
	t.Parallel()
	env := setup(t)
	endpoint := env.receiver(t, loopback, "127.0.0.1")
	owner, other := env.user(t, "Owner"), env.user(t, "Other")
	made := env.webhook(t, owner, endpoint.url+"/hook")
	env.webhook(t, owner, endpoint.url, "budget.v1.*.*")
	off := env.webhook(t, owner, endpoint.url)
	env.enable(t, owner, off.GetWebhook().GetId(), false)
	old := happened(owner, 0)
	old.Time = budgettest.Today.Add(-time.Second)
	received := happened(owner, 1)
	env.queue(t, old, received, happened(other, 2))
	env.deliverAll(t)

	require.Len(t, endpoint.deliveries(), 1)
	got := endpoint.deliveries()[0]
	requireSigned(t, got, made.GetSecret())
	require.Equal(t, "application/cloudevents+json", got.header.Get("Content-Type"))
	require.Equal(t, "Coffer-Webhooks/1", got.header.Get("User-Agent"))
	require.Equal(t, received.ID.String(), got.header.Get("Coffer-Event-Id"))
	require.JSONEq(t, fmt.Sprintf(`{
		"specversion": "1.0", "id": %q, "source": "/coffer/ledger",
		"type": "ledger.v1.wallet.created", "subject": %q, "time": "2026-03-15T12:00:00.000Z",
		"datacontenttype": "application/json", "data": {"ownerId": %q, "wallet": {
			"id": "", "name": "1", "currency": "", "balance": 1.00, "initialBalance": 1.00,
			"kind": "", "archived": false, "balances": [], "createdAt": "", "updatedAt": ""}}}`,
		received.ID, owner.ID, owner.ID), got.body)
	log := env.log(t, owner, made.GetWebhook().GetId())
	require.Len(t, log, 1)
	require.Equal(t, got.header.Get("Coffer-Delivery-Id"), log[0].GetId())
	require.Equal(t, "delivered", log[0].GetStatus())
	require.EqualValues(t, 200, log[0].GetResponseStatus())
	require.EqualValues(t, 1, log[0].GetAttempts())
	require.NotNil(t, log[0].DurationMs)
	require.Nil(t, log[0].NextAttemptAt)
}

func TestDeliverPreviousSecret(t *testing.T) {
	t.Parallel()
	env := setup(t)
	endpoint := env.receiver(t, loopback, "127.0.0.1")
	owner := env.user(t, "Owner")
	made := env.webhook(t, owner, endpoint.url)
	rotated := env.rotate(t, owner, made.GetWebhook().GetId())
	env.queue(t, happened(owner, 1))
	env.deliverAll(t)
	requireSigned(t, endpoint.deliveries()[0], rotated, made.GetSecret())
	env.now = func() time.Time { return budgettest.Today.Add(secretLife) }
	env.queue(t, happened(owner, 2))
	env.deliverAll(t)
	requireSigned(t, endpoint.deliveries()[1], rotated)
}

// TestDeliverAfterNewServiceKey checks a promise of docs/operations.md: after a change of the
// service key, deliveries wait for a new secret.
func TestDeliverAfterNewServiceKey(t *testing.T) {
	t.Parallel()
	env := setup(t)
	endpoint := env.receiver(t, loopback, "127.0.0.1")
	owner := env.user(t, "Owner")
	id := env.webhook(t, owner, endpoint.url).GetWebhook().GetId()
	env.sealer = seal.NewKey("another", "webhook secret")
	env.queue(t, happened(owner, 1))
	env.deliverAll(t)
	require.Empty(t, endpoint.deliveries())
	require.Equal(t, "broken", env.log(t, owner, id)[0].GetError())

	rotated := env.rotate(t, owner, id)
	env.now = func() time.Time { return budgettest.Today.Add(time.Hour) }
	env.deliverAll(t)
	requireSigned(t, endpoint.deliveries()[0], rotated)
}

func TestDeliverRetry(t *testing.T) {
	t.Parallel()
	env := setup(t)
	endpoint := env.receiver(t, loopback, "127.0.0.1")
	owner := env.user(t, "Owner")
	id := env.webhook(t, owner, endpoint.url).GetWebhook().GetId()
	endpoint.reply = func(w http.ResponseWriter, _ *http.Request) {
		if len(endpoint.got) == 1 {
			w.WriteHeader(http.StatusInternalServerError)
		}
	}
	env.queue(t, happened(owner, 1))
	env.deliverAll(t)
	log := env.log(t, owner, id)[0]
	require.Equal(t, "pending", log.GetStatus())
	require.Equal(t, "status", log.GetError())
	require.EqualValues(t, 500, log.GetResponseStatus())
	next, err := time.Parse(time.RFC3339, log.GetNextAttemptAt())
	require.NoError(t, err)
	env.deliverAll(t)
	require.Len(t, endpoint.deliveries(), 1, "it is not retried before the backoff has passed")
	env.now = func() time.Time { return next.Add(time.Millisecond) }
	env.deliverAll(t)
	log = env.log(t, owner, id)[0]
	require.Equal(t, "delivered", log.GetStatus())
	require.EqualValues(t, 2, log.GetAttempts())
	require.Nil(t, log.Error)
	require.Equal(t, endpoint.deliveries()[0].body, endpoint.deliveries()[1].body)
}

func TestDeliverTimeout(t *testing.T) {
	t.Parallel()
	env := setup(t)
	owner := env.user(t, "Owner")
	r := env.receiver(t, loopback, "127.0.0.1")
	hang := make(chan struct{})
	defer close(hang)
	r.reply = func(http.ResponseWriter, *http.Request) { <-hang }
	env.client.Timeout = 100 * time.Millisecond
	id := env.webhook(t, owner, r.url).GetWebhook().GetId()
	env.queue(t, happened(owner, 1))
	env.deliverAll(t)
	require.Equal(t, "timeout", env.log(t, owner, id)[0].GetError())
}

func TestDeliverGone(t *testing.T) {
	t.Parallel()
	env := setup(t)
	owner := env.user(t, "Owner")
	endpoint := env.receiver(t, loopback, "127.0.0.1")
	endpoint.reply = func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusGone) }
	id := env.webhook(t, owner, endpoint.url).GetWebhook().GetId()
	env.queue(t, happened(owner, 1), happened(owner, 2))
	env.deliverAll(t)
	require.Len(t, endpoint.deliveries(), 1)
	got, err := env.GetWebhook(owner.Ctx, &budgetv1.GetWebhookRequest{Id: id})
	require.NoError(t, err)
	require.False(t, got.GetWebhook().GetEnabled())
	require.Equal(t, "gone", got.GetWebhook().GetDisabledReason())
	require.Equal(t, `"2"`, got.GetEtag())
	require.Equal(t, "failed", env.log(t, owner, id)[1].GetStatus())

	endpoint.reply = nil
	require.Nil(t, env.enable(t, owner, id, true).DisabledReason)
	env.deliverAll(t)
	status := env.log(t, owner, id)[0].GetStatus()
	require.Equal(t, "delivered", status, "it was queued while the webhook was disabled")
}

func TestDeliverExpiredLease(t *testing.T) {
	t.Parallel()
	env := setup(t)
	owner := env.user(t, "Owner")
	endpoint := env.receiver(t, loopback, "127.0.0.1")
	env.webhook(t, owner, endpoint.url)
	env.queue(t, happened(owner, 1))
	dead, err := env.claim(t.Context(), env.now().Add(webhookLease))
	require.NoError(t, err)
	env.deliverAll(t)
	require.Empty(t, endpoint.deliveries())
	env.now = func() time.Time { return budgettest.Today.Add(webhookLease) }
	env.deliverAll(t)
	require.Len(t, endpoint.deliveries(), 1)

	env.queue(t, happened(owner, 2))
	_, err = env.claim(t.Context(), env.now().Add(webhookLease))
	require.NoError(t, err)
	until := budgettest.Today.Add(webhookLease)
	require.NoError(t, releaseWebhook(t.Context(), env.db, dead, until, env.now()))
	env.deliverAll(t)
	require.Len(t, endpoint.deliveries(), 1,
		"an expired worker does not end the lease of another one")
}

func TestDeliverRepetition(t *testing.T) {
	t.Parallel()
	env := setup(t)
	owner := env.user(t, "Owner")
	endpoint := env.receiver(t, loopback, "127.0.0.1")
	id := env.webhook(t, owner, endpoint.url).GetWebhook().GetId()
	env.queue(t, happened(owner, 1))
	ctx, kill := context.WithCancel(t.Context())
	endpoint.reply = func(_ http.ResponseWriter, req *http.Request) {
		if len(endpoint.got) == 1 {
			kill()
			<-req.Context().Done()
		}
	}
	_, err := env.deliverBatch(ctx)
	require.NoError(t, err)
	require.Equal(t, "pending", env.log(t, owner, id)[0].GetStatus())
	env.deliverAll(t)
	got := endpoint.deliveries()
	require.Len(t, got, 2)
	require.Equal(t, got[0].header.Get("Coffer-Event-Id"), got[1].header.Get("Coffer-Event-Id"))
	require.Equal(t, got[0].body, got[1].body)
	require.Equal(t, "delivered", env.log(t, owner, id)[0].GetStatus())
}

func TestDeliverOrder(t *testing.T) {
	t.Parallel()
	env := setup(t)
	endpoint := env.receiver(t, loopback, "127.0.0.1")
	const owners, each = 3, 20
	var want []string
	for i := range owners {
		owner := env.user(t, fmt.Sprintf("Owner%d", i))
		env.webhook(t, owner, endpoint.url+"/"+owner.ID.String())
		for n := range each {
			env.queue(t, happened(owner, n))
			want = append(want, fmt.Sprint(owner.ID, " ", n))
		}
	}
	var working sync.WaitGroup
	for range 4 {
		working.Go(func() {
			for idle := 0; idle < 20; {
				worked, err := env.deliverBatch(t.Context())
				assert.NoError(t, err)
				if idle++; worked {
					idle = 0
				}
			}
		})
	}
	working.Wait()
	got, next := []string{}, map[string]int{}
	for _, d := range endpoint.deliveries() {
		var e struct {
			Subject string
			Data    struct{ Wallet struct{ Name string } }
		}
		require.NoError(t, json.Unmarshal([]byte(d.body), &e))
		require.Equal(t, fmt.Sprint(next[e.Subject]), e.Data.Wallet.Name)
		next[e.Subject]++
		got = append(got, e.Subject+" "+e.Data.Wallet.Name)
	}
	require.ElementsMatch(t, want, got)
}
