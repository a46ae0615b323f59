package webhook

import (
	"encoding/binary"
	"fmt"
	"io"
	"net/http"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/coffer-budget/coffer/internal/pg/pgtest"
	budgetv1 "github.com/coffer-budget/coffer/proto/gen/coffer/budget/v1"
	"github.com/coffer-budget/coffer/services/budget/internal/budgettest"
)

// ownedTables are the tables with a column user_id.
var ownedTables = []string{"webhooks", "webhook_deliveries"}

// TestUserWithTheIDsOfAnother runs the same requests and deliveries on two databases. In one of
// them, another user has webhooks and deliveries with the same ids. A statement that forgets the
// user returns or changes the rows of the other one.
func TestUserWithTheIDsOfAnother(t *testing.T) {
	t.Parallel()
	alone, beside := newIsolated(t), newIsolated(t)
	user := alone.user(t, "User")
	alone.prepare(t, user)
	beside.webhooks, beside.deliveries, beside.last = alone.webhooks, alone.deliveries, alone.last
	twin := uuid.Must(uuid.NewV7())
	for _, table := range ownedTables {
		budgettest.Copy(t, alone.db, beside.db, table, user.ID, user.ID)
		budgettest.Copy(t, alone.db, beside.db, table, user.ID, twin)
	}
	// The webhooks of the other user are leased: the first one until the time until which the
	// user's will be, the others for longer. The deliveries of the other user are due, and have
	// higher numbers.
	for _, statement := range []string{
		`UPDATE webhooks SET leased_until = $2 WHERE user_id = $1`,
		`UPDATE webhooks
		SET leased_until = $2::timestamptz + interval '1 second'
		WHERE user_id = $1 AND id > (SELECT min(id::text)::uuid FROM webhooks)`,
		`UPDATE webhook_deliveries
		SET repeat = repeat + 5, next_attempt_at = $2::timestamptz - interval '1 day'
		WHERE user_id = $1`,
	} {
		pgtest.Exec(t, beside.db, statement, twin, budgettest.Today.Add(webhookLease))
	}
	before := beside.rows(t, twin)

	want, got := alone.use(t, user), beside.use(t, user)
	require.Len(t, got, len(want))
	for i := range want {
		require.Equal(t, want[i], got[i])
	}
	require.Equal(t, before, beside.rows(t, twin))
	require.Equal(t, alone.rows(t, user.ID, random...), beside.rows(t, user.ID, random...))
}

// isolated is a server whose ids are a sequence, and whose webhooks are received by the test.
type isolated struct {
	*bundle
	webhooks, deliveries []string
	// last is the number of the last id.
	last uint32
	// sent holds the deliveries as the receivers got them. Receivers answer with status.
	sent   []string
	status int
}

func newIsolated(t *testing.T) *isolated {
	t.Helper()
	s := &isolated{bundle: setup(t), status: http.StatusOK}
	s.client = deliveryClient{&http.Client{Transport: s}}
	s.newID = func() uuid.UUID {
		s.last++
		id := uuid.UUID{6: 0x70, 8: 0x80}
		binary.BigEndian.PutUint32(id[2:], s.last)
		return id
	}
	return s
}

// RoundTrip records a delivery and answers it.
func (s *isolated) RoundTrip(req *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(req.Body)
	event, id := req.Header.Get("Coffer-Event-Id"), req.Header.Get("Coffer-Delivery-Id")
	s.sent = append(s.sent, fmt.Sprint(req.URL, event, id, string(body)))
	return &http.Response{StatusCode: s.status, Body: http.NoBody, Request: req}, err
}

// prepare creates webhooks, of which two receive all events. The first one has a delivered event
// and one that is due, the second one has events whose deliveries are not due yet.
func (s *isolated) prepare(t *testing.T, user budgettest.User) {
	t.Helper()
	for i := range maxWebhooks - 1 {
		url := fmt.Sprintf("https://example.com/%d", i)
		events := []string{"auth.v1.*.*"}
		if i < 2 {
			events = nil
		}
		s.webhooks = append(s.webhooks, s.webhook(t, user, url, events...).GetWebhook().GetId())
	}
	for i := range 2 {
		s.deliverAll(t)
		event := happened(user, i)
		event.ID = s.newID()
		s.queue(t, event)
	}
	pgtest.Exec(t, s.db, `
		UPDATE webhook_deliveries
		SET next_attempt_at = $1, status = 'pending'
		WHERE webhook_id = $2`,
		budgettest.Today.Add(time.Minute), s.webhooks[1])
	for _, webhook := range s.webhooks[:2] {
		s.deliveries = append(s.deliveries, s.log(t, user, webhook)[0].GetId())
	}
	s.sent = nil
}

// use calls every RPC and sends the due deliveries. It returns the responses.
func (s *isolated) use(t *testing.T, user budgettest.User) budgettest.Record {
	t.Helper()
	var record budgettest.Record
	ctx, webhooks := user.Ctx, s.webhooks
	deliver := func() {
		// The number of batches is fixed, because a statement that confuses users may claim a
		// webhook again and again.
		for range 3 {
			worked, err := s.deliverBatch(t.Context())
			require.NoError(t, err)
			record = append(record, fmt.Sprint(worked, s.sent))
			s.sent = nil
		}
	}
	read := func() {
		for _, id := range webhooks[:3] {
			record.Add(s.GetWebhook(ctx, &budgetv1.GetWebhookRequest{Id: id}))
			req := &budgetv1.ListWebhookDeliveriesRequest{WebhookId: id}
			record.Add(s.ListWebhookDeliveries(ctx, req))
			req.Limit = new(int32(1))
			record.Add(s.ListWebhookDeliveries(ctx, req))
		}
		record.Add(s.ListWebhooks(ctx, &budgetv1.ListWebhooksRequest{}))
		record.Add(s.ListWebhooks(ctx, &budgetv1.ListWebhooksRequest{Limit: new(int32(3))}))
	}
	read()
	deliver()
	again := &budgetv1.RedeliverWebhookEventRequest{WebhookId: webhooks[0], Id: s.deliveries[0]}
	record.Add(s.RedeliverWebhookEvent(ctx, again))
	record.Add(s.RedeliverWebhookEvent(ctx, again))
	deliver()
	record.Add(s.TestWebhook(ctx, &budgetv1.TestWebhookRequest{Id: webhooks[1]}))
	deliver()
	update := &budgetv1.UpdateWebhookRequest{Id: webhooks[0], Description: new("new")}
	record.Add(s.UpdateWebhook(ctx, update))
	record.Add(s.RotateWebhookSecret(ctx, &budgetv1.RotateWebhookSecretRequest{Id: webhooks[0]}))
	read()
	// The receiver disables a webhook.
	s.status = http.StatusGone
	record.Add(s.TestWebhook(ctx, &budgetv1.TestWebhookRequest{Id: webhooks[1]}))
	deliver()
	read()
	record.Add(s.CreateWebhook(ctx,
		&budgetv1.CreateWebhookRequest{Url: "https://example.com/last"}))
	record.Add(s.CreateWebhook(ctx,
		&budgetv1.CreateWebhookRequest{Url: "https://example.com/too-many"}))
	record.Add(s.DeleteWebhook(ctx, &budgetv1.DeleteWebhookRequest{Id: webhooks[2]}))
	read()
	return record
}

// random lists the columns with random values: secrets, and the times of retries, because they have
// jitter.
var random = []string{"secret", "previous_secret", "next_attempt_at"}

// rows returns the rows of a user, without some columns.
func (s *isolated) rows(t *testing.T, user uuid.UUID, without ...string) [][]string {
	t.Helper()
	var all [][]string
	for _, table := range ownedTables {
		all = append(all, budgettest.RowsOf(t, s.db, table, user, without...))
	}
	return all
}
