package webhook

import (
	"crypto/x509"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/coffer-budget/coffer/internal/outbox"
	"github.com/coffer-budget/coffer/internal/page"
	"github.com/coffer-budget/coffer/internal/pg"
	"github.com/coffer-budget/coffer/internal/pg/pgtest"
	"github.com/coffer-budget/coffer/internal/seal"
	budgetv1 "github.com/coffer-budget/coffer/proto/gen/coffer/budget/v1"
	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
	"github.com/coffer-budget/coffer/services/budget/internal/budgettest"
)

// bundle is a server on a separate database, with helpers.
type bundle struct{ *Server }

func setup(t *testing.T) *bundle {
	t.Helper()
	return &bundle{New(Dependencies{
		DB: pgtest.New(t, os.DirFS("../..")), Cursors: page.NewCursors("test"),
		Sealer: seal.NewKey("test", "webhook secret"), Log: slog.New(slog.DiscardHandler),
		Now: func() time.Time { return budgettest.Today }, NewID: budgettest.NewID,
	})}
}

func (b *bundle) user(t *testing.T, name string) budgettest.User {
	t.Helper()
	return budgettest.NewUser(t, name)
}

func (b *bundle) webhook(
	t *testing.T, who budgettest.User, url string, events ...string,
) *budgetv1.CreateWebhookResponse {
	t.Helper()
	req := &budgetv1.CreateWebhookRequest{Url: url, Events: events}
	resp, err := b.CreateWebhook(who.Ctx, req)
	require.NoError(t, err)
	return resp
}

// enable enables or disables a webhook.
func (b *bundle) enable(
	t *testing.T, who budgettest.User, id string, enabled bool,
) *budgetv1.Webhook {
	t.Helper()
	req := &budgetv1.UpdateWebhookRequest{Id: id, Enabled: &enabled}
	resp, err := b.UpdateWebhook(who.Ctx, req)
	require.NoError(t, err)
	return resp.GetWebhook()
}

// rotate returns the new secret of a webhook.
func (b *bundle) rotate(t *testing.T, who budgettest.User, id string) string {
	t.Helper()
	req := &budgetv1.RotateWebhookSecretRequest{Id: id}
	resp, err := b.RotateWebhookSecret(who.Ctx, req)
	require.NoError(t, err)
	return resp.GetSecret()
}

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
func (b *bundle) receiver(
	t *testing.T, allowed func(netip.Addr) bool, addresses ...string,
) *receiver {
	t.Helper()
	endpoint := &receiver{}
	record := func(w http.ResponseWriter, req *http.Request) {
		body, err := io.ReadAll(req.Body)
		assert.NoError(t, err)
		endpoint.mu.Lock()
		defer endpoint.mu.Unlock()
		endpoint.got = append(endpoint.got, received{req.Header, string(body)})
		if endpoint.reply != nil {
			endpoint.reply(w, req)
		}
	}
	server := httptest.NewUnstartedServer(http.HandlerFunc(record))
	server.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, slog.LevelInfo)
	server.StartTLS()
	t.Cleanup(server.Close)
	roots := x509.NewCertPool()
	roots.AddCert(server.Certificate())
	b.client = newDeliveryClient(allowed, resolver(t, addresses...), roots)
	t.Cleanup(b.client.CloseIdleConnections)
	endpoint.url = strings.Replace(server.URL, "127.0.0.1", "example.com", 1)
	return endpoint
}

func (r *receiver) deliveries() []received {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.got
}

// happened returns an event of a user, as the stream contains it.
func happened(who budgettest.User, n int) outbox.Received {
	w := &ledgerv1.Wallet{Name: fmt.Sprint(n), Balance: "1.00", InitialBalance: "1.00"}
	return outbox.Received{
		ID: uuid.Must(uuid.NewV7()), UserID: who.ID, Subject: "ledger.v1.wallet.created",
		Source: "/coffer/ledger", Time: budgettest.Today,
		Data: &ledgerv1.WalletCreated{OwnerId: who.ID.String(), Wallet: w},
	}
}

func (b *bundle) queue(t *testing.T, events ...outbox.Received) {
	t.Helper()
	require.NoError(t, pg.InTx(t.Context(), b.db, func(tx pgx.Tx) error {
		return b.QueueDeliveries(t.Context(), tx, events)
	}))
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

func (b *bundle) log(
	t *testing.T, who budgettest.User, webhookID string,
) []*budgetv1.WebhookDelivery {
	t.Helper()
	req := &budgetv1.ListWebhookDeliveriesRequest{WebhookId: webhookID}
	resp, err := b.ListWebhookDeliveries(who.Ctx, req)
	require.NoError(t, err)
	return resp.GetDeliveries()
}
