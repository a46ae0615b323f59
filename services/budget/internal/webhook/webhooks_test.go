package webhook

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"pgregory.net/rapid"

	"github.com/coffer-budget/coffer/internal/apierr"
	"github.com/coffer-budget/coffer/internal/calendar"
	"github.com/coffer-budget/coffer/internal/caller"
	"github.com/coffer-budget/coffer/internal/outbox"
	"github.com/coffer-budget/coffer/internal/pg/pgtest"
	budgetv1 "github.com/coffer-budget/coffer/proto/gen/coffer/budget/v1"
	"github.com/coffer-budget/coffer/services/budget/internal/budgettest"
)

func TestURLProblemInternetOnly(t *testing.T) {
	t.Parallel()
	for _, good := range []string{
		"https://example.com", "https://example.com:8443/hook?key=value", "https://1.1.1.1/x",
		"https://[2606:4700::1111]/", "HTTPS://EXAMPLE.com/",
		"https://example.com/" + strings.Repeat("x", maxURL-20),
	} {
		require.Empty(t, internetOnly.urlProblem(good), good)
	}
	for _, bad := range []string{
		"", "example.com", "http://example.com", "ftp://example.com", "https://", "https:///x",
		"https:example.com", "//example.com", "https://user@example.com",
		"https://user:secret@example.com", "https://example.com/#x", "https://example.com/#",
		"https://example.com:0/", "https://example.com:99999999/", "https://localhost/",
		"https://LOCALHOST./", "https://a.localhost/", "https://127.0.0.1/", "https://[::1]/",
		"https://[::ffff:10.0.0.1]/", "https://169.254.169.254/latest", "https://[fe80::1%25eth0]/",
		"https://exa mple.com/", "https://intranet/", "https://2130706433/", "https://127.1/",
		"https://0x7f.1/", "https://0x7f000001/", "https://10.0.0.0x1/", "https://.com/",
		"https://example.com/\x00", "https://example.com/" + strings.Repeat("x", maxURL),
	} {
		require.NotEmpty(t, internetOnly.urlProblem(bad), bad)
	}
}

func TestURLProblem(t *testing.T) {
	t.Parallel()
	for _, good := range []string{
		"http://localhost:8080/hook", "http://127.0.0.1", "https://[::1]/", "http://10.1.2.3/",
		"http://[fd00::1]/", "http://intranet/", "https://example.com",
	} {
		require.Empty(t, privateToo.urlProblem(good), good)
		require.Equal(t, good != "https://example.com", internetOnly.urlProblem(good) != "", good)
	}
	for _, bad := range []string{
		"", "localhost", "ftp://localhost/", "http://", "http://user@localhost/",
		"http://localhost/#x", "http://localhost:0/", "http://169.254.169.254/",
		"http://[fe80::1%25eth0]/", "http://0.0.0.0/", "http://224.0.0.1/",
	} {
		require.NotEmpty(t, privateToo.urlProblem(bad), bad)
	}
}

func FuzzURL(f *testing.F) {
	f.Add("https://example.com/hook")
	f.Add("https://[::ffff:127.0.0.1%25x]:1/")
	f.Fuzz(func(t *testing.T, s string) {
		if internetOnly.urlProblem(s) == "" {
			require.True(t, strings.EqualFold(s[:8], "https://"), s)
			require.LessOrEqual(t, len(s), maxURL)
		}
	})
}

func TestMatches(t *testing.T) {
	t.Parallel()
	require.Contains(t, outbox.Types(), "ledger.v1.transaction.created")
	require.Contains(t, outbox.Types(), "budget.v1.budget.threshold_reached")
	require.Contains(t, outbox.Types(), "auth.v1.user.updated")
	rapid.Check(t, func(t *rapid.T) {
		eventType := rapid.SampledFrom(outbox.Types()).Draw(t, "type")
		parts := strings.Split(eventType, ".")
		for i := range parts {
			if rapid.Bool().Draw(t, "wild") {
				parts[i] = "*"
			}
		}
		require.True(t, matches(strings.Join(parts, "."), eventType))
		parts[rapid.IntRange(0, len(parts)-1).Draw(t, "part")] = "x"
		require.False(t, matches(strings.Join(parts, "."), eventType))
		require.False(t, matches(eventType+".x", eventType))
		require.False(t, matches("*", eventType))
	})
}

func TestWebhookOwnership(t *testing.T) {
	t.Parallel()
	env := setup(t)
	owner, other := env.user(t, "Owner"), env.user(t, "Other")
	made := env.webhook(t, owner, "https://example.com/hook", "budget.v1.*.*")
	id := made.GetWebhook().GetId()
	require.Regexp(t, `^whsec_[A-Za-z0-9_-]{43}$`, made.GetSecret())
	require.Equal(t, `"1"`, made.GetEtag())
	stored := pgtest.Value[[]byte](t, env.db, `SELECT secret FROM webhooks`)
	require.NotContains(t, string(stored), made.GetSecret())

	calls := func(ctx context.Context, id string) map[string]func() error {
		return map[string]func() error{
			"get": pgtest.Call(ctx, env.GetWebhook, &budgetv1.GetWebhookRequest{Id: id}),
			"update": pgtest.Call(ctx, env.UpdateWebhook,
				&budgetv1.UpdateWebhookRequest{Id: id, Enabled: new(false)}),
			"delete": pgtest.Call(ctx, env.DeleteWebhook, &budgetv1.DeleteWebhookRequest{Id: id}),
			"rotate": pgtest.Call(ctx, env.RotateWebhookSecret,
				&budgetv1.RotateWebhookSecretRequest{Id: id}),
			"test": pgtest.Call(ctx, env.TestWebhook, &budgetv1.TestWebhookRequest{Id: id}),
			"deliveries": pgtest.Call(ctx, env.ListWebhookDeliveries,
				&budgetv1.ListWebhookDeliveriesRequest{WebhookId: id}),
			"redeliver": pgtest.Call(ctx, env.RedeliverWebhookEvent,
				&budgetv1.RedeliverWebhookEventRequest{WebhookId: id, Id: uuid.NewString()}),
		}
	}
	for _, call := range calls(other.Ctx, id) {
		budgettest.Refuses(t, env.db, codes.NotFound, "WEBHOOK_NOT_FOUND", call)
	}
	for _, call := range calls(owner.Ctx, "x") {
		budgettest.Refuses(t, env.db, codes.InvalidArgument, "INVALID_WEBHOOK_ID", call)
	}
	list, err := env.ListWebhooks(other.Ctx, &budgetv1.ListWebhooksRequest{})
	require.NoError(t, err)
	require.Empty(t, list.GetWebhooks())
}

func TestUpdateWebhook(t *testing.T) {
	t.Parallel()
	env := setup(t)
	owner := env.user(t, "Owner")
	id := env.webhook(t, owner, "https://example.com/hook").GetWebhook().GetId()
	update := &budgetv1.UpdateWebhookRequest{
		Id: id, Url: new("https://example.org/"), Description: new(" New "),
		Events: &budgetv1.EventTypes{Values: []string{"auth.v1.*.*"}}, Enabled: new(false),
		IfMatch: `"1"`,
	}
	updated, err := env.UpdateWebhook(owner.Ctx, update)
	require.NoError(t, err)
	require.Equal(t, `"2"`, updated.GetEtag())
	got, err := env.GetWebhook(owner.Ctx, &budgetv1.GetWebhookRequest{Id: id})
	require.NoError(t, err)
	require.Equal(t, updated.GetWebhook().String(), got.GetWebhook().String())
	require.Equal(t, "https://example.org/", got.GetWebhook().GetUrl())
	require.Equal(t, "New", got.GetWebhook().GetDescription())
	require.Equal(t, []string{"auth.v1.*.*"}, got.GetWebhook().GetEvents())
	require.False(t, got.GetWebhook().GetEnabled())

	budgettest.Refuses(t, env.db, codes.FailedPrecondition, "VERSION_MISMATCH",
		pgtest.Call(owner.Ctx, env.UpdateWebhook, update))
	budgettest.Refuses(t, env.db, codes.InvalidArgument, "EMPTY_UPDATE",
		pgtest.Call(owner.Ctx, env.UpdateWebhook, &budgetv1.UpdateWebhookRequest{Id: id}))
	failure := budgettest.Refuses(t, env.db, codes.InvalidArgument, "INVALID_WEBHOOK_URL",
		pgtest.Call(owner.Ctx, env.UpdateWebhook,
			&budgetv1.UpdateWebhookRequest{Id: id, Url: new("http://example.com")}))
	require.Equal(t, []apierr.Field{{Name: "url", Message: "must be an https URL"}}, failure.Fields)
	failure = budgettest.Refuses(t, env.db, codes.InvalidArgument, "VALIDATION_ERROR",
		pgtest.Call(owner.Ctx, env.UpdateWebhook,
			&budgetv1.UpdateWebhookRequest{Id: id, Events: &budgetv1.EventTypes{
				Values: []string{"*.v1.*.*", "ledger.v1.transactions.created"},
			}}))
	require.Equal(t, "events[1]", failure.Fields[0].Name)

	budgettest.Refuses(t, env.db, codes.FailedPrecondition, "VERSION_MISMATCH",
		pgtest.Call(owner.Ctx,
			env.DeleteWebhook, &budgetv1.DeleteWebhookRequest{Id: id, IfMatch: `"1"`}))
	_, err = env.DeleteWebhook(owner.Ctx, &budgetv1.DeleteWebhookRequest{Id: id, IfMatch: `"2"`})
	require.NoError(t, err)
	budgettest.Refuses(t, env.db, codes.NotFound, "WEBHOOK_NOT_FOUND",
		pgtest.Call(owner.Ctx, env.GetWebhook, &budgetv1.GetWebhookRequest{Id: id}))
}

func TestWebhookOfToken(t *testing.T) {
	t.Parallel()
	env := setup(t)
	owner := env.user(t, "Owner")
	token := caller.With(t.Context(),
		caller.Identity{UserID: owner.ID, SessionID: owner.ID, Scope: "webhooks:write"})
	url := "https://example.com/hook"
	for _, events := range [][]string{
		nil, {"auth.v1.user.updated"}, {"budget.v1.*.*", "*.v1.user.updated"},
	} {
		budgettest.Refuses(t, env.db, codes.PermissionDenied, "INSUFFICIENT_SCOPE",
			pgtest.Call(token, env.CreateWebhook,
				&budgetv1.CreateWebhookRequest{Url: url, Events: events}))
	}
	made, err := env.CreateWebhook(token, &budgetv1.CreateWebhookRequest{
		Url: url, Events: []string{"ledger.v1.*.*"},
	})
	require.NoError(t, err)
	all := env.webhook(t, owner, url)
	for what, req := range map[string]*budgetv1.UpdateWebhookRequest{
		"all events": {Id: made.GetWebhook().GetId(), Events: &budgetv1.EventTypes{}},
		"a URL":      {Id: all.GetWebhook().GetId(), Url: new("https://example.com/other")},
	} {
		_, err := env.UpdateWebhook(token, req)
		require.ErrorIs(t, err, errAccountEvents, what)
		_, err = env.UpdateWebhook(owner.Ctx, req)
		require.NoError(t, err)
	}
	_, err = env.UpdateWebhook(token, &budgetv1.UpdateWebhookRequest{
		Id: all.GetWebhook().GetId(), Enabled: new(false),
	})
	require.NoError(t, err)
}

func TestCreateWebhookLimit(t *testing.T) {
	t.Parallel()
	env := setup(t)
	owner := env.user(t, "Owner")
	for range maxWebhooks - 1 {
		env.webhook(t, owner, "https://example.com/hook")
	}
	errs := make([]error, budgettest.Racers)
	var racing sync.WaitGroup
	for i := range errs {
		racing.Go(func() {
			_, errs[i] = env.CreateWebhook(owner.Ctx,
				&budgetv1.CreateWebhookRequest{Url: fmt.Sprintf("https://example.com/%d", i)})
		})
	}
	racing.Wait()
	budgettest.RequireWinners(t, 1, errWebhookLimitReached, errs)
	env.webhook(t, env.user(t, "Other"), "https://example.com/hook")
}

func TestCreateWebhookIdempotency(t *testing.T) {
	t.Parallel()
	env := setup(t)
	owner := env.user(t, "Owner")
	req := &budgetv1.CreateWebhookRequest{Url: "https://example.com/hook", IdempotencyKey: "k"}
	first, err := env.CreateWebhook(owner.Ctx, req)
	require.NoError(t, err)
	again, err := env.CreateWebhook(owner.Ctx, req)
	require.NoError(t, err)
	require.True(t, again.GetReplayed())
	require.Equal(t, first.GetSecret(), again.GetSecret())

	rotate := &budgetv1.RotateWebhookSecretRequest{
		Id: first.GetWebhook().GetId(), IdempotencyKey: "r",
	}
	rotated, err := env.RotateWebhookSecret(owner.Ctx, rotate)
	require.NoError(t, err)
	require.NotEqual(t, first.GetSecret(), rotated.GetSecret())
	require.Equal(t, calendar.FormatTime(budgettest.Today.Add(24*time.Hour)),
		rotated.GetPreviousSecretUntil())
	replayed, err := env.RotateWebhookSecret(owner.Ctx, rotate)
	require.NoError(t, err)
	require.Equal(t, rotated.GetSecret(), replayed.GetSecret())
}
