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
	b := setup(t)
	r := b.receiver(t, loopback, "127.0.0.1")
	owner, other := b.user(t, "Owner"), b.user(t, "Other")
	made := b.webhook(t, owner, r.url+"/hook")
	b.webhook(t, owner, r.url, "budget.v1.*.*")
	off := b.webhook(t, owner, r.url)
	b.enable(t, owner, off.GetWebhook().GetId(), false)
	old := happened(owner, 0)
	old.Time = budgettest.Today.Add(-time.Second)
	e := happened(owner, 1)
	b.queue(t, old, e, happened(other, 2))
	b.deliverAll(t)

	require.Len(t, r.deliveries(), 1)
	got := r.deliveries()[0]
	requireSigned(t, got, made.GetSecret())
	require.Equal(t, "application/cloudevents+json", got.header.Get("Content-Type"))
	require.Equal(t, "Coffer-Webhooks/1", got.header.Get("User-Agent"))
	require.Equal(t, e.ID.String(), got.header.Get("Coffer-Event-Id"))
	require.JSONEq(t, fmt.Sprintf(`{
		"specversion": "1.0", "id": %q, "source": "/coffer/ledger",
		"type": "ledger.v1.wallet.created", "subject": %q, "time": "2026-03-15T12:00:00.000Z",
		"datacontenttype": "application/json", "data": {"ownerId": %q, "wallet": {
			"id": "", "name": "1", "currency": "", "balance": 1.00, "initialBalance": 1.00,
			"archived": false, "balances": [], "createdAt": "", "updatedAt": ""}}}`,
		e.ID, owner.ID, owner.ID), got.body)
	log := b.log(t, owner, made.GetWebhook().GetId())
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
	b := setup(t)
	r := b.receiver(t, loopback, "127.0.0.1")
	owner := b.user(t, "Owner")
	made := b.webhook(t, owner, r.url)
	rotated := b.rotate(t, owner, made.GetWebhook().GetId())
	b.queue(t, happened(owner, 1))
	b.deliverAll(t)
	requireSigned(t, r.deliveries()[0], rotated, made.GetSecret())
	b.now = func() time.Time { return budgettest.Today.Add(secretLife) }
	b.queue(t, happened(owner, 2))
	b.deliverAll(t)
	requireSigned(t, r.deliveries()[1], rotated)
}

// TestDeliverAfterNewServiceKey checks a promise of docs/operations.md: after a change of the
// service key, deliveries wait for a new secret.
func TestDeliverAfterNewServiceKey(t *testing.T) {
	t.Parallel()
	b := setup(t)
	r := b.receiver(t, loopback, "127.0.0.1")
	owner := b.user(t, "Owner")
	id := b.webhook(t, owner, r.url).GetWebhook().GetId()
	b.sealer = seal.NewKey("another", "webhook secret")
	b.queue(t, happened(owner, 1))
	b.deliverAll(t)
	require.Empty(t, r.deliveries())
	require.Equal(t, "broken", b.log(t, owner, id)[0].GetError())

	rotated := b.rotate(t, owner, id)
	b.now = func() time.Time { return budgettest.Today.Add(time.Hour) }
	b.deliverAll(t)
	requireSigned(t, r.deliveries()[0], rotated)
}

func TestDeliverRetry(t *testing.T) {
	t.Parallel()
	b := setup(t)
	r := b.receiver(t, loopback, "127.0.0.1")
	owner := b.user(t, "Owner")
	id := b.webhook(t, owner, r.url).GetWebhook().GetId()
	r.reply = func(w http.ResponseWriter, _ *http.Request) {
		if len(r.got) == 1 {
			w.WriteHeader(http.StatusInternalServerError)
		}
	}
	b.queue(t, happened(owner, 1))
	b.deliverAll(t)
	log := b.log(t, owner, id)[0]
	require.Equal(t, "pending", log.GetStatus())
	require.Equal(t, "status", log.GetError())
	require.EqualValues(t, 500, log.GetResponseStatus())
	next, err := time.Parse(time.RFC3339, log.GetNextAttemptAt())
	require.NoError(t, err)
	b.deliverAll(t)
	require.Len(t, r.deliveries(), 1, "it is not retried before the backoff has passed")
	b.now = func() time.Time { return next.Add(time.Millisecond) }
	b.deliverAll(t)
	log = b.log(t, owner, id)[0]
	require.Equal(t, "delivered", log.GetStatus())
	require.EqualValues(t, 2, log.GetAttempts())
	require.Nil(t, log.Error)
	require.Equal(t, r.deliveries()[0].body, r.deliveries()[1].body)
}

func TestDeliverTimeout(t *testing.T) {
	t.Parallel()
	b := setup(t)
	owner := b.user(t, "Owner")
	r := b.receiver(t, loopback, "127.0.0.1")
	hang := make(chan struct{})
	defer close(hang)
	r.reply = func(http.ResponseWriter, *http.Request) { <-hang }
	b.client.Timeout = 100 * time.Millisecond
	id := b.webhook(t, owner, r.url).GetWebhook().GetId()
	b.queue(t, happened(owner, 1))
	b.deliverAll(t)
	require.Equal(t, "timeout", b.log(t, owner, id)[0].GetError())
}

func TestDeliverGone(t *testing.T) {
	t.Parallel()
	b := setup(t)
	owner := b.user(t, "Owner")
	r := b.receiver(t, loopback, "127.0.0.1")
	r.reply = func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusGone) }
	id := b.webhook(t, owner, r.url).GetWebhook().GetId()
	b.queue(t, happened(owner, 1), happened(owner, 2))
	b.deliverAll(t)
	require.Len(t, r.deliveries(), 1)
	got, err := b.GetWebhook(owner.Ctx, &budgetv1.GetWebhookRequest{Id: id})
	require.NoError(t, err)
	require.False(t, got.GetWebhook().GetEnabled())
	require.Equal(t, "gone", got.GetWebhook().GetDisabledReason())
	require.Equal(t, `"2"`, got.GetEtag())
	require.Equal(t, "failed", b.log(t, owner, id)[1].GetStatus())

	r.reply = nil
	require.Nil(t, b.enable(t, owner, id, true).DisabledReason)
	b.deliverAll(t)
	status := b.log(t, owner, id)[0].GetStatus()
	require.Equal(t, "delivered", status, "it was queued while the webhook was disabled")
}

func TestDeliverExpiredLease(t *testing.T) {
	t.Parallel()
	b := setup(t)
	owner := b.user(t, "Owner")
	r := b.receiver(t, loopback, "127.0.0.1")
	b.webhook(t, owner, r.url)
	b.queue(t, happened(owner, 1))
	dead, err := b.claim(t.Context(), b.now().Add(webhookLease))
	require.NoError(t, err)
	b.deliverAll(t)
	require.Empty(t, r.deliveries())
	b.now = func() time.Time { return budgettest.Today.Add(webhookLease) }
	b.deliverAll(t)
	require.Len(t, r.deliveries(), 1)

	b.queue(t, happened(owner, 2))
	_, err = b.claim(t.Context(), b.now().Add(webhookLease))
	require.NoError(t, err)
	until := budgettest.Today.Add(webhookLease)
	require.NoError(t, releaseWebhook(t.Context(), b.db, dead, until, b.now()))
	b.deliverAll(t)
	require.Len(t, r.deliveries(), 1, "an expired worker does not end the lease of another one")
}

func TestDeliverRepetition(t *testing.T) {
	t.Parallel()
	b := setup(t)
	owner := b.user(t, "Owner")
	r := b.receiver(t, loopback, "127.0.0.1")
	id := b.webhook(t, owner, r.url).GetWebhook().GetId()
	b.queue(t, happened(owner, 1))
	ctx, kill := context.WithCancel(t.Context())
	r.reply = func(_ http.ResponseWriter, req *http.Request) {
		if len(r.got) == 1 {
			kill()
			<-req.Context().Done()
		}
	}
	_, err := b.deliverBatch(ctx)
	require.NoError(t, err)
	require.Equal(t, "pending", b.log(t, owner, id)[0].GetStatus())
	b.deliverAll(t)
	got := r.deliveries()
	require.Len(t, got, 2)
	require.Equal(t, got[0].header.Get("Coffer-Event-Id"), got[1].header.Get("Coffer-Event-Id"))
	require.Equal(t, got[0].body, got[1].body)
	require.Equal(t, "delivered", b.log(t, owner, id)[0].GetStatus())
}

func TestDeliverOrder(t *testing.T) {
	t.Parallel()
	b := setup(t)
	r := b.receiver(t, loopback, "127.0.0.1")
	const owners, each = 3, 20
	var want []string
	for i := range owners {
		owner := b.user(t, fmt.Sprintf("Owner%d", i))
		b.webhook(t, owner, r.url+"/"+owner.ID.String())
		for n := range each {
			b.queue(t, happened(owner, n))
			want = append(want, fmt.Sprint(owner.ID, " ", n))
		}
	}
	var working sync.WaitGroup
	for range 4 {
		working.Go(func() {
			for idle := 0; idle < 20; {
				worked, err := b.deliverBatch(t.Context())
				assert.NoError(t, err)
				if idle++; worked {
					idle = 0
				}
			}
		})
	}
	working.Wait()
	got, next := []string{}, map[string]int{}
	for _, d := range r.deliveries() {
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
