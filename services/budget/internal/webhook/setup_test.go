package webhook

import (
	"log/slog"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/coffer-budget/coffer/internal/page"
	"github.com/coffer-budget/coffer/internal/pg/pgtest"
	"github.com/coffer-budget/coffer/internal/seal"
	budgetv1 "github.com/coffer-budget/coffer/proto/gen/coffer/budget/v1"
	"github.com/coffer-budget/coffer/services/budget/internal/budgettest"
)

// bundle is a server on a separate database, with helpers.
type bundle struct{ *Server }

func setup(t *testing.T) *bundle {
	t.Helper()
	return &bundle{New(Dependencies{
		DB: pgtest.New(t, os.DirFS("../..")), Cursors: page.NewCursors("test"), Sealer: seal.NewKey("test", "webhook secret"),
		Log: slog.New(slog.DiscardHandler), Now: func() time.Time { return budgettest.Today }, NewID: budgettest.NewID,
	})}
}

func (b *bundle) user(t *testing.T, name string) budgettest.User {
	t.Helper()
	return budgettest.NewUser(t, name)
}

func (b *bundle) webhook(t *testing.T, who budgettest.User, url string, events ...string) *budgetv1.CreateWebhookResponse {
	t.Helper()
	resp, err := b.CreateWebhook(who.Ctx, &budgetv1.CreateWebhookRequest{Url: url, Events: events})
	require.NoError(t, err)
	return resp
}
