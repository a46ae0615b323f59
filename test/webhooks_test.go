package test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func (u *user) webhook(url string, events ...string) string {
	return u.post("/api/v1/webhooks", object{"url": url, "events": events}).
		created("WEBHOOK_CREATED").text("webhook.id")
}

// TestWebhookLifecycle creates, reads, lists, updates and deletes a webhook.
func TestWebhookLifecycle(t *testing.T) {
	t.Parallel()
	me := newUser(t)
	made := me.post("/api/v1/webhooks", object{
		"url": "https://example.com/hook", "events": []string{"budget.v1.*.*"},
		"id": "x", "secret": "mine",
	}).created("WEBHOOK_CREATED")
	require.True(t, strings.HasPrefix(made.text("secret"), "whsec_"))
	require.Equal(t, true, made.at("webhook.enabled"))
	path := "/api/v1/webhooks/" + made.text("webhook.id")
	got := me.get(path).ok("WEBHOOK_FETCHED")
	require.Equal(t, made.at("webhook"), got.at("webhook"))
	require.NotContains(t, string(got.raw), "whsec_")
	second := me.webhook("https://example.com/other")
	list := me.get("/api/v1/webhooks?limit=1").ok("WEBHOOKS_FETCHED")
	require.Equal(t, second, list.text("webhooks.0.id"))
	list = me.get("/api/v1/webhooks?limit=1&cursor=" + list.text("pagination.nextCursor")).
		ok("WEBHOOKS_FETCHED")
	require.Equal(t, made.text("webhook.id"), list.text("webhooks.0.id"))

	changed := me.patch(path, object{
		"enabled": false, "events": []string{}, "url": "https://example.org",
		"description": " Ours ",
	}, "If-Match", got.header.Get("ETag")).ok("WEBHOOK_UPDATED")
	require.Equal(t, object{
		"id": made.text("webhook.id"), "url": "https://example.org", "description": "Ours",
		"events": []any{}, "enabled": false,
		"createdAt": made.text("webhook.createdAt"), "updatedAt": changed.text("webhook.updatedAt"),
	}, changed.at("webhook"))
	me.patch(path, object{"enabled": true}, "If-Match", got.header.Get("ETag")).
		fails(412, "VERSION_MISMATCH")
	me.del(path, "If-Match", got.header.Get("ETag")).fails(412, "VERSION_MISMATCH")
	me.patch(path, object{"secret": "mine"}).fails(400, "EMPTY_UPDATE")
	require.NotEqual(t, made.text("secret"),
		me.post(path+"/secret", object{}).created("WEBHOOK_SECRET_ROTATED").text("secret"))
	me.del(path).ok("WEBHOOK_DELETED")
	me.get(path).fails(404, "WEBHOOK_NOT_FOUND")
}

// TestWebhookInvalidFields sends invalid fields to POST and PATCH, and creates more webhooks than
// the limit.
func TestWebhookInvalidFields(t *testing.T) {
	t.Parallel()
	me := newUser(t)
	path := "/api/v1/webhooks/" + me.webhook("https://example.com")
	for _, url := range []string{
		"", "http://example.com", "https://localhost", "https://127.0.0.1", "https://[::1]",
		"https://169.254.169.254/latest/meta-data", "https://a:b@example.com",
	} {
		me.post("/api/v1/webhooks", object{"url": url}).fails(400, "INVALID_WEBHOOK_URL").
			blames("url")
		me.patch(path, object{"url": url}).fails(400, "INVALID_WEBHOOK_URL").blames("url")
	}
	for _, event := range []string{
		"", "*", "ledger", "ledger.v1.transaction.exploded", "ledger.v2.*.*",
	} {
		me.post("/api/v1/webhooks",
			object{"url": "https://example.com", "events": []string{event}}).
			invalid("events[0]")
	}
	long := strings.Repeat("x", 1001)
	me.post("/api/v1/webhooks", object{"url": "https://example.com", "description": long}).
		invalid("description")
	me.patch(path, object{"description": long}).invalid("description")
	for range 19 {
		me.webhook("https://example.com")
	}
	me.post("/api/v1/webhooks", object{"url": "https://example.com"}).
		fails(409, "WEBHOOK_LIMIT_REACHED")
}

// TestWebhookPrivateAddresses requires that only a stack with the setting delivers to this machine.
func TestWebhookPrivateAddresses(t *testing.T) {
	t.Parallel()
	own := ownStack(t, os.Getenv("TEST_DATABASE_URL"),
		map[string]string{"RATE_LIMIT": "0", "WEBHOOK_PRIVATE_ADDRESSES": "true"})
	events := make(chan string, 10)
	receiver := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		events <- r.URL.Path + " " + r.Header.Get("Coffer-Event-Id")
	}))
	t.Cleanup(receiver.Close)
	named := strings.Replace(receiver.URL, "127.0.0.1", "localhost", 1)

	without := newUser(t)
	secure := strings.Replace(receiver.URL, "http", "https", 1)
	for _, url := range []string{receiver.URL, named, secure} {
		without.post("/api/v1/webhooks", object{"url": url}).fails(400, "INVALID_WEBHOOK_URL").
			blames("url")
	}

	with := newUserAt(t, own.URL, "Ada")
	with.post("/api/v1/webhooks", object{"url": "http://169.254.169.254/"}).
		fails(400, "INVALID_WEBHOOK_URL").blames("url")
	for hook, base := range map[string]string{"/address": receiver.URL, "/name": named} {
		path := "/api/v1/webhooks/" + with.webhook(base+hook)
		test := with.post(path+"/test", nil).created("WEBHOOK_TEST_CREATED")
		var log response
		require.EventuallyWithT(t, func(c *assert.CollectT) {
			log = with.get(path + "/deliveries").ok("WEBHOOK_DELIVERIES_FETCHED")
			require.Equal(c, "delivered", log.text("deliveries.0.status"))
		}, time.Minute, 50*time.Millisecond)
		require.Equal(t, json.Number("200"), log.at("deliveries.0.responseStatus"))
		require.Equal(t, hook+" "+test.text("delivery.eventId"), <-events)
	}
}

// TestWebhookOfAnotherUser requires that every operation returns 404 for it.
func TestWebhookOfAnotherUser(t *testing.T) {
	t.Parallel()
	me, stranger := newUser(t), newUser(t)
	id := me.webhook("https://example.com")
	for _, tc := range []struct {
		method, path string
		body         any
	}{
		{"GET", "", nil},
		{"PATCH", "", object{"enabled": false}},
		{"DELETE", "", nil},
		{"POST", "/secret", object{}},
		{"POST", "/test", object{}},
		{"GET", "/deliveries", nil},
		{"POST", "/deliveries/" + uuid.NewString() + "/redeliver", object{}},
	} {
		stranger.call(tc.method, "/api/v1/webhooks/"+id+tc.path, tc.body).
			fails(404, "WEBHOOK_NOT_FOUND")
		me.call(tc.method, "/api/v1/webhooks/1"+tc.path, tc.body).fails(400, "INVALID_WEBHOOK_ID")
	}
	require.Equal(t, true, me.get("/api/v1/webhooks/"+id).ok("WEBHOOK_FETCHED").
		at("webhook.enabled"))
}

// TestWebhookDeliveries lists and repeats deliveries. They fail, because the webhook's name
// resolves to this machine.
func TestWebhookDeliveries(t *testing.T) {
	t.Parallel()
	me := newUser(t)
	path := "/api/v1/webhooks/" + me.webhook("https://localhost.localdomain.:1/",
		"ledger.v1.wallet.*")
	me.wallet("EUR", "0")
	var log response
	require.EventuallyWithT(t, func(c *assert.CollectT) {
		log = me.get(path + "/deliveries").ok("WEBHOOK_DELIVERIES_FETCHED")
		require.Len(c, log.list("deliveries"), 1)
		require.NotEqual(c, json.Number("0"), log.at("deliveries.0.attempts"))
	}, time.Minute, 50*time.Millisecond)
	require.Equal(t, "ledger.v1.wallet.created", log.text("deliveries.0.type"))
	require.Equal(t, "pending", log.text("deliveries.0.status"))
	require.Contains(t, []string{"address_not_public", "dns"}, log.text("deliveries.0.error"))
	require.NotEmpty(t, log.text("deliveries.0.nextAttemptAt"))

	id := log.text("deliveries.0.id")
	again := me.post(path+"/deliveries/"+id+"/redeliver", nil).created("WEBHOOK_REDELIVERY_CREATED")
	require.Equal(t, log.text("deliveries.0.eventId"), again.text("delivery.eventId"))
	require.NotEqual(t, id, again.text("delivery.id"))
	require.Len(t, me.get(path+"/deliveries?status=pending").ok("WEBHOOK_DELIVERIES_FETCHED").
		list("deliveries"), 2)
	require.Empty(t, me.get(path+"/deliveries?status=delivered").ok("WEBHOOK_DELIVERIES_FETCHED").
		list("deliveries"))
	me.get(path + "/deliveries?status=lost").invalid("status")
	key := []string{"Idempotency-Key", uuid.NewString()}
	me.post(path+"/deliveries/"+id+"/redeliver", nil, key...).created("WEBHOOK_REDELIVERY_CREATED")
	require.Equal(t, "true",
		me.post(path+"/deliveries/"+id+"/redeliver", nil,
			key...).header.Get("Idempotency-Replayed"))
	me.post(path+"/deliveries/"+uuid.NewString()+"/redeliver", nil, key...).
		fails(409, "IDEMPOTENCY_KEY_CONFLICT")
	me.post(path+"/secret", nil, key...).fails(409, "IDEMPOTENCY_KEY_CONFLICT")
	me.post(path+"/test", nil, key...).fails(409, "IDEMPOTENCY_KEY_CONFLICT")
	test := me.post(path+"/test", nil, "Idempotency-Key", "test").created("WEBHOOK_TEST_CREATED")
	require.Equal(t, "budget.v1.webhook.tested", test.text("delivery.type"))
	require.Equal(t, test.text("delivery.id"),
		me.post(path+"/test", nil, "Idempotency-Key", "test").
			created("WEBHOOK_TEST_CREATED").text("delivery.id"))
	require.Contains(t, string(me.get(path+"/deliveries").ok("WEBHOOK_DELIVERIES_FETCHED").raw),
		test.text("delivery.id"))

	me.post(path+"/deliveries/1/redeliver", object{}).fails(400, "INVALID_WEBHOOK_DELIVERY_ID")
	me.post(path+"/deliveries/"+uuid.NewString()+"/redeliver", object{}).
		fails(404, "WEBHOOK_DELIVERY_NOT_FOUND")
}
