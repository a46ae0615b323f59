package budget

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
)

func TestADeliveryIsTriedForADayAndLoggedForAMonth(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		d := delivery{CreatedAt: today, Status: waiting}
		for now := today; d.Status == waiting; {
			before := now
			d = d.after(now, 503, "status", rapid.Float64Range(0, 1).Draw(t, "chance"))
			require.True(t, d.NextAttemptAt.After(before))
			require.LessOrEqual(t, d.NextAttemptAt.Sub(before), lastBackoff)
			now = d.NextAttemptAt
		}
		require.Equal(t, failed, d.Status)
		require.Greater(t, d.NextAttemptAt, today.Add(deliveryLife))
		require.Greater(t, d.Attempts, int32(15))
		require.Less(t, d.Attempts, int32(45))
	})
	b := setup(t)
	owner := b.person(t, "Owner")
	id := b.webhook(t, owner, "https://example.com").GetWebhook().GetId()
	b.queue(t, happened(owner, 1))
	require.NoError(t, expireDeliveries(t.Context(), b.db, today.Add(time.Second), today))
	require.Equal(t, "failed", b.log(t, owner, id)[0].GetStatus())
	require.NoError(t, expireDeliveries(t.Context(), b.db, today, today.Add(time.Second)))
	require.Empty(t, b.log(t, owner, id))
}

func TestAnAddressThatFailsIsLeftAloneForAMinuteAtMost(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		w, now, pause := webhook{}, today, time.Duration(0)
		for _, problem := range rapid.SliceOf(rapid.SampledFrom([]string{"", "timeout", "status"})).Draw(t, "problems") {
			var until time.Time
			before := w
			w, until = w.after(now, problem)
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

func TestAnAddressThatFailsIsPausedAndAnotherIsNot(t *testing.T) {
	t.Parallel()
	b := setup(t)
	owner := b.person(t, "Owner")
	r := b.receiver(t, loopback, "127.0.0.1")
	r.reply = func(w http.ResponseWriter, req *http.Request) {
		if req.URL.Path == "/sick" {
			w.WriteHeader(http.StatusInternalServerError)
		}
	}
	sick, well := b.webhook(t, owner, r.url+"/sick"), b.webhook(t, owner, r.url+"/well")
	b.queue(t, happened(owner, 1), happened(owner, 2), happened(owner, 3))
	attempts := func(w *budgetv1.CreateWebhookResponse) (n int32) {
		for _, d := range b.log(t, owner, w.GetWebhook().GetId()) {
			n += d.GetAttempts()
		}
		return n
	}
	b.deliverAll(t)
	require.EqualValues(t, 1, attempts(sick))
	require.EqualValues(t, 3, attempts(well))
	b.now = func() time.Time { return today.Add(firstPause) }
	b.deliverAll(t)
	require.EqualValues(t, 2, attempts(sick))
	r.reply = nil
	_, err := b.UpdateWebhook(owner.ctx, &budgetv1.UpdateWebhookRequest{Id: sick.GetWebhook().GetId(), Url: new(r.url + "/cured")})
	require.NoError(t, err)
	b.deliverAll(t)
	require.EqualValues(t, 3, attempts(sick), "a change of the webhook ends the pause")
}

func TestAWebhookIsSwitchedOffAfterFiveDaysWithoutSuccess(t *testing.T) {
	t.Parallel()
	since := today.Add(-failingTime)
	for _, c := range []struct {
		w      webhook
		status int
		reason disabledReason
	}{
		{webhook{}, 200, ""},
		{webhook{Failures: failingTries, FailingSince: &since}, 503, failing},
		{webhook{Failures: failingTries - 1, FailingSince: &since}, 503, ""},
		{webhook{Failures: failingTries, FailingSince: new(since.Add(time.Second))}, 0, ""},
		{webhook{Failures: 1, FailingSince: &since}, statusGone, gone},
	} {
		reason, hopeless := c.w.hopeless(today, c.status)
		require.Equal(t, c.reason, reason)
		require.Equal(t, c.reason != "", hopeless)
	}

	b := setup(t)
	owner := b.person(t, "Owner")
	r := b.receiver(t, public, "127.0.0.1")
	id := b.webhook(t, owner, r.url).GetWebhook().GetId()
	enabled := func() *budgetv1.Webhook {
		got, err := b.GetWebhook(owner.ctx, &budgetv1.GetWebhookRequest{Id: id})
		require.NoError(t, err)
		return got.GetWebhook()
	}
	for i := range failingTries {
		require.True(t, enabled().GetEnabled(), "after %d tries", i)
		b.now = func() time.Time { return today.Add(time.Duration(i) * failingTime / (failingTries - 1)) }
		b.queue(t, happened(owner, i))
		worked, err := b.deliveryTurn(t.Context())
		require.NoError(t, err)
		require.True(t, worked)
	}
	require.False(t, enabled().GetEnabled())
	require.Equal(t, "failing", enabled().GetDisabledReason())
}

func TestOneUsersSlowAddressesDoNotKeepOthersWaiting(t *testing.T) {
	t.Parallel()
	b := setup(t)
	slow, other := b.person(t, "Slow"), b.person(t, "Other")
	for range maxWebhooks {
		b.webhook(t, slow, "https://example.com/slow")
	}
	b.webhook(t, other, "https://example.com/quick")
	b.queue(t, happened(slow, 1))
	b.now = func() time.Time { return today.Add(time.Second) }
	b.queue(t, happened(other, 2))
	claimed := make([]webhook, 8)
	errs := make([]error, len(claimed))
	var racing sync.WaitGroup
	for i := range claimed {
		racing.Go(func() { claimed[i], errs[i] = b.claim(t.Context(), b.now().Add(turnLease)) })
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
	require.Equal(t, map[uuid.UUID]int{slow.id: turnsPerUser, other.id: 1}, held)
}
