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
		delivery := delivery{CreatedAt: budgettest.Today, Status: pending}
		for now := budgettest.Today; delivery.Status == pending; {
			before := now
			delivery = delivery.attempted(now, 503, "status",
				rapid.Float64Range(0, 1).Draw(t, "jitter"))
			require.True(t, delivery.NextAttemptAt.After(before))
			require.LessOrEqual(t, delivery.NextAttemptAt.Sub(before), lastBackoff)
			now = delivery.NextAttemptAt
		}
		require.Equal(t, failed, delivery.Status)
		require.Greater(t, delivery.NextAttemptAt, budgettest.Today.Add(deliveryLife))
		require.Greater(t, delivery.Attempts, int32(15))
		require.Less(t, delivery.Attempts, int32(45))
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
		webhook, now, pause := webhook{}, budgettest.Today, time.Duration(0)
		problems := rapid.SampledFrom([]string{"", "timeout", "status"})
		for _, problem := range rapid.SliceOf(problems).Draw(t, "problems") {
			var until time.Time
			before := webhook
			webhook, until = webhook.attempted(now, problem)
			if problem == "" {
				require.Equal(t, now, until)
				require.Zero(t, webhook.Failures)
				require.Nil(t, webhook.FailingSince)
				pause = 0
			} else {
				require.Equal(t, before.Failures+1, webhook.Failures)
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
	env := setup(t)
	owner := env.user(t, "Owner")
	endpoint := env.receiver(t, loopback, "127.0.0.1")
	endpoint.reply = func(w http.ResponseWriter, req *http.Request) {
		if req.URL.Path == "/broken" {
			w.WriteHeader(http.StatusInternalServerError)
		}
	}
	broken, working := env.webhook(t, owner, endpoint.url+"/broken"), env.webhook(t, owner,
		endpoint.url+"/working")
	env.queue(t, happened(owner, 1), happened(owner, 2), happened(owner, 3))
	attempts := func(w *budgetv1.CreateWebhookResponse) (n int32) {
		for _, d := range env.log(t, owner, w.GetWebhook().GetId()) {
			n += d.GetAttempts()
		}
		return n
	}
	env.deliverAll(t)
	require.EqualValues(t, 1, attempts(broken))
	require.EqualValues(t, 3, attempts(working))
	env.now = func() time.Time { return budgettest.Today.Add(firstPause) }
	env.deliverAll(t)
	require.EqualValues(t, 2, attempts(broken))
	endpoint.reply = nil
	req := &budgetv1.UpdateWebhookRequest{
		Id: broken.GetWebhook().GetId(), Url: new(endpoint.url + "/repaired"),
	}
	_, err := env.UpdateWebhook(owner.Ctx, req)
	require.NoError(t, err)
	env.deliverAll(t)
	require.EqualValues(t, 3, attempts(broken), "a change of the webhook ends the pause")
}

func TestWebhookDisables(t *testing.T) {
	t.Parallel()
	since := budgettest.Today.Add(-failingTime)
	for _, tc := range []struct {
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
		reason, disabled := tc.w.disables(budgettest.Today, tc.status)
		require.Equal(t, tc.reason, reason)
		require.Equal(t, tc.reason != "", disabled)
	}

	env := setup(t)
	owner := env.user(t, "Owner")
	r := env.receiver(t, public, "127.0.0.1")
	id := env.webhook(t, owner, r.url).GetWebhook().GetId()
	enabled := func() *budgetv1.Webhook {
		got, err := env.GetWebhook(owner.Ctx, &budgetv1.GetWebhookRequest{Id: id})
		require.NoError(t, err)
		return got.GetWebhook()
	}
	for i := range failingAttempts {
		require.True(t, enabled().GetEnabled(), "after %d attempts", i)
		since := time.Duration(i) * failingTime / (failingAttempts - 1)
		env.now = func() time.Time { return budgettest.Today.Add(since) }
		env.queue(t, happened(owner, i))
		worked, err := env.deliverBatch(t.Context())
		require.NoError(t, err)
		require.True(t, worked)
	}
	require.False(t, enabled().GetEnabled())
	require.Equal(t, "failing", enabled().GetDisabledReason())
}

func TestClaimWebhookPerUser(t *testing.T) {
	t.Parallel()
	env := setup(t)
	slow, other := env.user(t, "Slow"), env.user(t, "Other")
	for range maxWebhooks {
		env.webhook(t, slow, "https://example.com/slow")
	}
	env.webhook(t, other, "https://example.com/quick")
	env.queue(t, happened(slow, 1))
	env.now = func() time.Time { return budgettest.Today.Add(time.Second) }
	env.queue(t, happened(other, 2))
	claimed := make([]webhook, 8)
	errs := make([]error, len(claimed))
	var racing sync.WaitGroup
	for i := range claimed {
		racing.Go(func() {
			claimed[i], errs[i] = env.claim(t.Context(), env.now().Add(webhookLease))
		})
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
