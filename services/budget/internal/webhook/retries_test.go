package webhook

import (
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	budgetv1 "github.com/coffer-budget/coffer/proto/gen/coffer/budget/v1"
	"github.com/coffer-budget/coffer/services/budget/internal/budgettest"
)

func TestDeliveryAttempted(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		d := delivery{CreatedAt: budgettest.Today, Status: pending}
		for now := budgettest.Today; d.Status == pending; {
			before := now
			d = d.attempted(now, 503, "status", rapid.Float64Range(0, 1).Draw(t, "jitter"))
			require.True(t, d.NextAttemptAt.After(before))
			require.LessOrEqual(t, d.NextAttemptAt.Sub(before), lastBackoff)
			now = d.NextAttemptAt
		}
		require.Equal(t, failed, d.Status)
		require.Greater(t, d.NextAttemptAt, budgettest.Today.Add(deliveryLife))
		require.Greater(t, d.Attempts, int32(15))
		require.Less(t, d.Attempts, int32(45))
	})
	b := setup(t)
	owner := b.user(t, "Owner")
	id := b.webhook(t, owner, "https://example.com").GetWebhook().GetId()
	b.queue(t, happened(owner, 1))
	today, later := budgettest.Today, budgettest.Today.Add(time.Second)
	require.NoError(t, expireDeliveries(t.Context(), b.db, later, today))
	require.Equal(t, "failed", b.log(t, owner, id)[0].GetStatus())
	require.NoError(t, expireDeliveries(t.Context(), b.db, today, later))
	require.Empty(t, b.log(t, owner, id))
}

func TestWebhookAttempted(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		w, now, pause := webhook{}, budgettest.Today, time.Duration(0)
		problems := rapid.SampledFrom([]string{"", "timeout", "status"})
		for _, problem := range rapid.SliceOf(problems).Draw(t, "problems") {
			var until time.Time
			before := w
			w, until = w.attempted(now, problem)
			if problem == "" {
				require.Equal(t, now, until)
				require.Zero(t, w.Failures)
				require.Nil(t, w.FailingSince)
				pause = 0
			} else {
				require.Equal(t, before.Failures+1, w.Failures)
				require.GreaterOrEqual(t, until.Sub(now), max(firstPause, pause))
				require.LessOrEqual(t, until.Sub(now), lastPause)
				pause = until.Sub(now)
			}
			now = until
		}
	})
}

func TestDeliverPause(t *testing.T) {
	t.Parallel()
	b := setup(t)
	owner := b.user(t, "Owner")
	r := b.receiver(t, loopback, "127.0.0.1")
	r.reply = func(w http.ResponseWriter, req *http.Request) {
		if req.URL.Path == "/broken" {
			w.WriteHeader(http.StatusInternalServerError)
		}
	}
	broken, working := b.webhook(t, owner, r.url+"/broken"), b.webhook(t, owner, r.url+"/working")
	b.queue(t, happened(owner, 1), happened(owner, 2), happened(owner, 3))
	attempts := func(w *budgetv1.CreateWebhookResponse) (n int32) {
		for _, d := range b.log(t, owner, w.GetWebhook().GetId()) {
			n += d.GetAttempts()
		}
		return n
	}
	b.deliverAll(t)
	require.EqualValues(t, 1, attempts(broken))
	require.EqualValues(t, 3, attempts(working))
	b.now = func() time.Time { return budgettest.Today.Add(firstPause) }
	b.deliverAll(t)
	require.EqualValues(t, 2, attempts(broken))
	r.reply = nil
	req := &budgetv1.UpdateWebhookRequest{
		Id: broken.GetWebhook().GetId(), Url: new(r.url + "/repaired"),
	}
	_, err := b.UpdateWebhook(owner.Ctx, req)
	require.NoError(t, err)
	b.deliverAll(t)
	require.EqualValues(t, 3, attempts(broken), "a change of the webhook ends the pause")
}

func TestWebhookDisables(t *testing.T) {
	t.Parallel()
	since := budgettest.Today.Add(-failingTime)
	for _, c := range []struct {
		w      webhook
		status int
		reason disabledReason
	}{
		{webhook{}, 200, ""},
		{webhook{Failures: failingAttempts, FailingSince: &since}, 503, failing},
		{webhook{Failures: failingAttempts - 1, FailingSince: &since}, 503, ""},
		{webhook{Failures: failingAttempts, FailingSince: new(since.Add(time.Second))}, 0, ""},
		{webhook{Failures: 1, FailingSince: &since}, http.StatusGone, gone},
	} {
		reason, disabled := c.w.disables(budgettest.Today, c.status)
		require.Equal(t, c.reason, reason)
		require.Equal(t, c.reason != "", disabled)
	}

	b := setup(t)
	owner := b.user(t, "Owner")
	r := b.receiver(t, public, "127.0.0.1")
	id := b.webhook(t, owner, r.url).GetWebhook().GetId()
	enabled := func() *budgetv1.Webhook {
		got, err := b.GetWebhook(owner.Ctx, &budgetv1.GetWebhookRequest{Id: id})
		require.NoError(t, err)
		return got.GetWebhook()
	}
	for i := range failingAttempts {
		require.True(t, enabled().GetEnabled(), "after %d attempts", i)
		since := time.Duration(i) * failingTime / (failingAttempts - 1)
		b.now = func() time.Time { return budgettest.Today.Add(since) }
		b.queue(t, happened(owner, i))
		worked, err := b.deliverBatch(t.Context())
		require.NoError(t, err)
		require.True(t, worked)
	}
	require.False(t, enabled().GetEnabled())
	require.Equal(t, "failing", enabled().GetDisabledReason())
}

func TestClaimWebhookPerUser(t *testing.T) {
	t.Parallel()
	b := setup(t)
	slow, other := b.user(t, "Slow"), b.user(t, "Other")
	for range maxWebhooks {
		b.webhook(t, slow, "https://example.com/slow")
	}
	b.webhook(t, other, "https://example.com/quick")
	b.queue(t, happened(slow, 1))
	b.now = func() time.Time { return budgettest.Today.Add(time.Second) }
	b.queue(t, happened(other, 2))
	claimed := make([]webhook, 8)
	errs := make([]error, len(claimed))
	var racing sync.WaitGroup
	for i := range claimed {
		racing.Go(func() { claimed[i], errs[i] = b.claim(t.Context(), b.now().Add(webhookLease)) })
	}
	racing.Wait()
	held := map[uuid.UUID]int{}
	for i, w := range claimed {
		if errs[i] != nil {
			require.ErrorIs(t, errs[i], pgx.ErrNoRows)
			continue
		}
		held[w.UserID]++
	}
	require.Equal(t, map[uuid.UUID]int{slow.ID: webhooksPerUser, other.ID: 1}, held)
}
