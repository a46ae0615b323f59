package webhook

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"crypto/x509"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/coffer-budget/coffer/internal/outbox"
	"github.com/coffer-budget/coffer/internal/outbox/natstest"
	"github.com/coffer-budget/coffer/internal/pg"
	"github.com/coffer-budget/coffer/internal/seal"
	budgetv1 "github.com/coffer-budget/coffer/proto/gen/coffer/budget/v1"
	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
	"github.com/coffer-budget/coffer/services/budget/internal/budgettest"
)

// receiver is an HTTPS server to which the webhooks of a test deliver.
type receiver struct {
	url   string
	mu    sync.Mutex
	got   []received
	reply func(w http.ResponseWriter, r *http.Request)
}

type received struct {
	header http.Header
	body   string
}

// receiver starts a receiver. A DNS server of the test resolves its name to the addresses, one per
// query in their order.
func (b *bundle) receiver(t *testing.T, allowed func(netip.Addr) bool, addresses ...string) *receiver {
	t.Helper()
	r := &receiver{}
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		body, err := io.ReadAll(req.Body)
		assert.NoError(t, err)
		r.mu.Lock()
		defer r.mu.Unlock()
		r.got = append(r.got, received{req.Header, string(body)})
		if r.reply != nil {
			r.reply(w, req)
		}
	}))
	server.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, slog.LevelInfo)
	server.StartTLS()
	t.Cleanup(server.Close)
	roots := x509.NewCertPool()
	roots.AddCert(server.Certificate())
	b.client = newDeliveryClient(allowed, resolver(t, addresses...), roots)
	t.Cleanup(b.client.CloseIdleConnections)
	r.url = strings.Replace(server.URL, "127.0.0.1", "example.com", 1)
	return r
}

func (r *receiver) deliveries() []received {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.got
}

// happened returns an event of a user, as the stream contains it.
func happened(who budgettest.User, n int) outbox.Received {
	return outbox.Received{
		ID: uuid.Must(uuid.NewV7()), UserID: who.ID, Subject: "ledger.v1.wallet.created", Source: "/coffer/ledger", Time: budgettest.Today,
		Data: &ledgerv1.WalletCreated{OwnerId: who.ID.String(), Wallet: &ledgerv1.Wallet{Name: fmt.Sprint(n), Balance: "1.00", InitialBalance: "1.00"}},
	}
}

func (b *bundle) queue(t *testing.T, events ...outbox.Received) {
	t.Helper()
	require.NoError(t, pg.InTx(t.Context(), b.db, func(tx pgx.Tx) error { return b.QueueDeliveries(t.Context(), tx, events) }))
}

// deliverAll sends all due deliveries.
func (b *bundle) deliverAll(t *testing.T) {
	t.Helper()
	for {
		worked, err := b.deliverBatch(t.Context())
		require.NoError(t, err)
		if !worked {
			return
		}
	}
}

func (b *bundle) log(t *testing.T, who budgettest.User, webhookID string) []*budgetv1.WebhookDelivery {
	t.Helper()
	resp, err := b.ListWebhookDeliveries(who.Ctx, &budgetv1.ListWebhookDeliveriesRequest{WebhookId: webhookID})
	require.NoError(t, err)
	return resp.GetDeliveries()
}

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
	_, err := b.UpdateWebhook(owner.Ctx, &budgetv1.UpdateWebhookRequest{Id: off.GetWebhook().GetId(), Enabled: new(false)})
	require.NoError(t, err)
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
		"specversion": "1.0", "id": %q, "source": "/coffer/ledger", "type": "ledger.v1.wallet.created", "subject": %q,
		"time": "2026-03-15T12:00:00.000Z", "datacontenttype": "application/json",
		"data": {"ownerId": %q, "wallet": {
			"id": "", "name": "1", "currency": "", "balance": 1.00, "initialBalance": 1.00, "archived": false, "balances": [],
			"createdAt": "", "updatedAt": ""}}}`, e.ID, owner.ID, owner.ID), got.body)
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
	rotated, err := b.RotateWebhookSecret(owner.Ctx, &budgetv1.RotateWebhookSecretRequest{Id: made.GetWebhook().GetId()})
	require.NoError(t, err)
	b.queue(t, happened(owner, 1))
	b.deliverAll(t)
	requireSigned(t, r.deliveries()[0], rotated.GetSecret(), made.GetSecret())
	b.now = func() time.Time { return budgettest.Today.Add(secretLife) }
	b.queue(t, happened(owner, 2))
	b.deliverAll(t)
	requireSigned(t, r.deliveries()[1], rotated.GetSecret())
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

	rotated, err := b.RotateWebhookSecret(owner.Ctx, &budgetv1.RotateWebhookSecretRequest{Id: id})
	require.NoError(t, err)
	b.now = func() time.Time { return budgettest.Today.Add(time.Hour) }
	b.deliverAll(t)
	requireSigned(t, r.deliveries()[0], rotated.GetSecret())
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
	updated, err := b.UpdateWebhook(owner.Ctx, &budgetv1.UpdateWebhookRequest{Id: id, Enabled: new(true)})
	require.NoError(t, err)
	require.Nil(t, updated.GetWebhook().DisabledReason)
	b.deliverAll(t)
	require.Equal(t, "delivered", b.log(t, owner, id)[0].GetStatus(), "the delivery that was queued while the webhook was disabled")
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
	require.NoError(t, releaseWebhook(t.Context(), b.db, dead, budgettest.Today.Add(webhookLease), b.now()))
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

// TestListWebhookDeliveriesWithoutBodies requires that a list does not read the bodies, which it
// does not show.
func TestListWebhookDeliveriesWithoutBodies(t *testing.T) {
	t.Parallel()
	b := setup(t)
	owner := b.user(t, "Owner")
	w := b.webhook(t, owner, "https://example.com/hook").GetWebhook()
	b.queue(t, happened(owner, 1))
	listed, err := selectDeliveries(t.Context(), b.db, deliveryList{user: owner.ID, webhook: uuid.MustParse(w.GetId()), before: uuid.Max, limit: 2})
	require.NoError(t, err)
	require.Len(t, listed, 1)
	require.Empty(t, listed[0].Body)
	stored, err := selectDelivery(t.Context(), b.db, owner.ID, listed[0].WebhookID, listed[0].ID)
	require.NoError(t, err)
	require.NotEmpty(t, stored.Body)
}

func TestRedeliverWebhookEvent(t *testing.T) {
	t.Parallel()
	b := setup(t)
	owner := b.user(t, "Owner")
	r := b.receiver(t, loopback, "127.0.0.1")
	id := b.webhook(t, owner, r.url).GetWebhook().GetId()
	b.queue(t, happened(owner, 1))
	b.deliverAll(t)
	first := b.log(t, owner, id)[0]
	again, err := b.RedeliverWebhookEvent(owner.Ctx, &budgetv1.RedeliverWebhookEventRequest{WebhookId: id, Id: first.GetId()})
	require.NoError(t, err)
	require.Equal(t, "pending", again.GetDelivery().GetStatus())
	require.Equal(t, first.GetEventId(), again.GetDelivery().GetEventId())
	b.deliverAll(t)
	require.Len(t, r.deliveries(), 2)
	require.Equal(t, r.deliveries()[0].body, r.deliveries()[1].body)
	require.Equal(t, again.GetDelivery().GetId(), r.deliveries()[1].header.Get("Coffer-Delivery-Id"))

	budgettest.Refuses(t, b.db, 5, "WEBHOOK_DELIVERY_NOT_FOUND", func() error {
		_, err := b.RedeliverWebhookEvent(owner.Ctx, &budgetv1.RedeliverWebhookEventRequest{WebhookId: id, Id: uuid.NewString()})
		return err
	})
	budgettest.Refuses(t, b.db, 3, "INVALID_WEBHOOK_DELIVERY_ID", func() error {
		_, err := b.RedeliverWebhookEvent(owner.Ctx, &budgetv1.RedeliverWebhookEventRequest{WebhookId: id, Id: "x"})
		return err
	})
}

// TestDeliverFromStream publishes an event through the outbox and NATS.
func TestDeliverFromStream(t *testing.T) {
	t.Parallel()
	b := setup(t)
	owner := b.user(t, "Owner")
	r := b.receiver(t, loopback, "127.0.0.1")
	b.webhook(t, owner, r.url, "ledger.v1.wallet.created")
	bus, err := outbox.Connect(outbox.Config{NATSURL: natstest.New(t), NATSReplicas: 1}, "ledger", slog.New(slog.DiscardHandler))
	require.NoError(t, err)
	defer bus.Close()
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	defer running.Wait()
	defer cancel()
	running.Go(func() { bus.Relay(ctx, b.db) })
	running.Go(func() {
		bus.Consume(ctx, b.db, outbox.Consumer{Name: "webhooks", Subject: "*.v1.*.*", Apply: b.QueueDeliveries, Applied: b.Wake})
	})
	running.Go(func() { b.Run(ctx) })
	e := happened(owner, 1)
	require.NoError(t, outbox.Add(t.Context(), b.db, outbox.Event{ID: e.ID, UserID: e.UserID, Data: e.Data}))
	bus.Wake()
	require.Eventually(t, func() bool { return len(r.deliveries()) == 1 }, time.Minute, 10*time.Millisecond)
	require.Contains(t, r.deliveries()[0].body, e.ID.String())
}
