package webhook

import (
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/coffer-budget/coffer/internal/pg/pgtest"
	budgetv1 "github.com/coffer-budget/coffer/proto/gen/coffer/budget/v1"
	"github.com/coffer-budget/coffer/services/budget/internal/budgettest"
)

func TestCreateWebhookConcurrently(t *testing.T) {
	t.Parallel()
	t.Run("counts webhooks behind a concurrent creation", func(t *testing.T) {
		t.Parallel()
		env := setup(t)
		owner := env.user(t, "Owner")
		for range maxWebhooks - 1 {
			env.webhook(t, owner, "https://example.com/hook")
		}
		last := webhook{
			ID: env.newID(), UserID: owner.ID, URL: "https://example.com/last", Events: []string{},
			Secret: []byte{1}, Version: 1, CreatedAt: budgettest.Today, UpdatedAt: budgettest.Today,
		}
		err := pgtest.Behind(t, env.db, func(tx pgx.Tx) error {
			n, err := countWebhooks(t.Context(), tx, owner.ID)
			require.EqualValues(t, maxWebhooks-1, n)
			require.NoError(t, err)
			return insertWebhook(t.Context(), tx, last)
		}, func() error {
			req := &budgetv1.CreateWebhookRequest{Url: "https://example.com/too-many"}
			_, err := env.CreateWebhook(owner.Ctx, req)
			return err
		})
		require.ErrorIs(t, err, errWebhookLimitReached)
	})
}

func TestRedeliverWebhookEventConcurrently(t *testing.T) {
	t.Parallel()
	t.Run("numbers repeats behind a concurrent redelivery", func(t *testing.T) {
		t.Parallel()
		env := setup(t)
		owner := env.user(t, "Owner")
		id := uuid.MustParse(env.webhook(t, owner, "https://example.com/hook").GetWebhook().GetId())
		env.queue(t, happened(owner, 1))
		first := env.log(t, owner, id.String())[0]
		redeliver := func() error {
			req := &budgetv1.RedeliverWebhookEventRequest{WebhookId: id.String(), Id: first.GetId()}
			_, err := env.RedeliverWebhookEvent(owner.Ctx, req)
			return err
		}
		require.NoError(t, pgtest.Behind(t, env.db, func(tx pgx.Tx) error {
			w := webhook{UserID: owner.ID, ID: id}
			d, err := selectDelivery(t.Context(), tx, w, uuid.MustParse(first.GetId()))
			require.NoError(t, err)
			d.Repeat, err = countRepeats(t.Context(), tx, d)
			require.NoError(t, err)
			d.ID, d.Repeat = env.newID(), d.Repeat+1
			return insertDeliveries(t.Context(), tx, []delivery{d})
		}, redeliver))
		require.Len(t, env.log(t, owner, id.String()), 3,
			"no redelivery is dropped as a repeat of another one")
	})
}

func TestClaimWebhookConcurrently(t *testing.T) {
	t.Parallel()
	t.Run("leaves a webhook to the worker that claims it concurrently", func(t *testing.T) {
		t.Parallel()
		env := setup(t)
		owner := env.user(t, "Owner")
		env.webhook(t, owner, "https://example.com/hook")
		env.queue(t, happened(owner, 1))
		now := budgettest.Today
		pgtest.Besides(t, env.db, func(tx pgx.Tx) error {
			_, err := claimWebhook(t.Context(), tx, now, now.Add(time.Minute), maxWebhooks)
			return err
		}, func() error {
			_, err := claimWebhook(t.Context(), env.db, now, now.Add(time.Minute), maxWebhooks)
			require.ErrorIs(t, err, pgx.ErrNoRows)
			return nil
		})
	})
}
