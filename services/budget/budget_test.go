package budget

import (
	"context"
	"log/slog"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/anypb"

	"github.com/coffer-budget/coffer/internal/calendar"
	"github.com/coffer-budget/coffer/internal/outbox"
	"github.com/coffer-budget/coffer/internal/page"
	"github.com/coffer-budget/coffer/internal/pg"
	"github.com/coffer-budget/coffer/internal/pg/pgtest"
	"github.com/coffer-budget/coffer/internal/restjson"
	"github.com/coffer-budget/coffer/internal/seal"
	authv1 "github.com/coffer-budget/coffer/proto/gen/coffer/auth/v1"
	budgetv1 "github.com/coffer-budget/coffer/proto/gen/coffer/budget/v1"
	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
	"github.com/coffer-budget/coffer/services/budget/internal/budgettest"
	"github.com/coffer-budget/coffer/services/budget/internal/notification"
	"github.com/coffer-budget/coffer/services/budget/internal/webhook"
)

// bundle has the three proto services on a separate database, with fakes of auth and the ledger.
type bundle struct {
	*server
	budgetv1.NotificationServiceServer
	budgetv1.WebhookServiceServer
	budgetv1.GoalServiceServer
	ledger *fakeLedger
	auth   *fakeAuth
}

func setup(t *testing.T) *bundle {
	t.Helper()
	return setupOn(t, pgtest.New(t, Migrations))
}

// setupOn returns a bundle on a database.
func setupOn(t *testing.T, db *pgxpool.Pool) *bundle {
	t.Helper()
	nothing := func(*ledgerv1.SpendingWindow) *ledgerv1.Spending {
		return &ledgerv1.Spending{Found: true}
	}
	env := &bundle{
		ledger: &fakeLedger{spend: nothing, current: map[string]string{}}, auth: &fakeAuth{},
	}
	log := slog.New(slog.DiscardHandler)
	env.server = &server{
		db: db, ledger: env.ledger, auth: env.auth,
		cursors: page.NewCursors("test"), log: log,
		now: func() time.Time { return budgettest.Today }, newID: budgettest.NewID,
	}
	env.syncs = env.newSyncs()
	now := func() time.Time { return env.now() }
	env.server.notifications = notification.New(notification.Dependencies{
		DB: env.db, Ledger: env.ledger, Cursors: env.cursors, WakeRelay: func() {}, Log: log,
		Now: now, NewID: env.newID,
	})
	env.webhooks = webhook.New(webhook.Dependencies{
		DB: env.db, Cursors: env.cursors, Sealer: seal.NewKey("test", "webhook secret"), Log: log,
		Now: now, NewID: env.newID,
	})
	env.newSharing()
	env.server.members.Now, env.goalMembers.Now = now, now
	env.erasures = env.newErasures(func(context.Context) error { return nil })
	env.GoalServiceServer = env.goals
	env.NotificationServiceServer, env.WebhookServiceServer = env.server.notifications, env.webhooks
	return env
}

// user returns a new user with an account.
func (b *bundle) user(t *testing.T, name string) budgettest.User {
	t.Helper()
	u := budgettest.NewUser(t, name)
	b.auth.mu.Lock()
	defer b.auth.mu.Unlock()
	b.auth.users = append(b.auth.users, &authv1.User{Id: u.ID.String(), Name: name, Email: u.Email})
	return u
}

// webhook creates a webhook for all events of a user and returns its id.
func (b *bundle) webhook(t *testing.T, who budgettest.User) string {
	t.Helper()
	resp, err := b.CreateWebhook(who.Ctx,
		&budgetv1.CreateWebhookRequest{Url: "https://example.com/hook"})
	require.NoError(t, err)
	return resp.GetWebhook().GetId()
}

// eventJSON returns an event as live streams and webhooks send it.
func eventJSON(t *testing.T, e outbox.Received) []byte {
	t.Helper()
	m, err := notification.CloudEvent(e)
	require.NoError(t, err)
	body, err := restjson.Append(nil, m)
	require.NoError(t, err)
	return body
}

func date(t *testing.T, s string) time.Time {
	t.Helper()
	d, ok := calendar.ParseDate(s)
	require.True(t, ok, s)
	return d
}

func newBudget() *budgetv1.CreateBudgetRequest {
	return &budgetv1.CreateBudgetRequest{
		Name: "Groceries", Currency: "usd", Limit: "400", Period: "Monthly",
		StartDate: "2026-01-31",
		WalletId:  uuid.NewString(), CategoryIds: []string{uuid.NewString()},
	}
}

func (b *bundle) budget(t *testing.T, owner budgettest.User) *budgetv1.Budget {
	t.Helper()
	resp, err := b.CreateBudget(owner.Ctx, newBudget())
	require.NoError(t, err)
	return resp.GetBudget()
}

func (b *bundle) budgetNamed(t *testing.T, owner budgettest.User, name string) *budgetv1.Budget {
	t.Helper()
	req := newBudget()
	req.Name = name
	resp, err := b.CreateBudget(owner.Ctx, req)
	require.NoError(t, err)
	return resp.GetBudget()
}

func (b *bundle) share(
	t *testing.T, owner budgettest.User, budgetID string, with budgettest.User, role string,
) {
	t.Helper()
	_, err := b.ShareBudget(owner.Ctx,
		&budgetv1.ShareBudgetRequest{BudgetId: budgetID, Email: with.Email, Role: &role})
	require.NoError(t, err)
}

func (b *bundle) respond(
	who budgettest.User, budgetID, answer string,
) (*budgetv1.RespondToInvitationResponse, error) {
	return b.RespondToInvitation(who.Ctx, &budgetv1.RespondToInvitationRequest{
		BudgetId: budgetID, MemberId: who.ID.String(), Status: &answer,
	})
}

func (b *bundle) join(
	t *testing.T, owner budgettest.User, budgetID string, who budgettest.User, role string,
) {
	t.Helper()
	b.share(t, owner, budgetID, who, role)
	_, err := b.respond(who, budgetID, "accepted")
	require.NoError(t, err)
}

type published struct {
	UserID  uuid.UUID `db:"user_id"`
	Subject string
	Data    []byte
}

// events empties the outbox and returns its rows.
func (b *bundle) events(t *testing.T) []published {
	t.Helper()
	events, err := pg.All[published](t.Context(), b.db, `
		WITH deleted AS (DELETE FROM outbox RETURNING seq, user_id, subject, data)
		SELECT user_id, subject, data FROM deleted ORDER BY seq`)
	require.NoError(t, err)
	return events
}

func (e published) message(t *testing.T) proto.Message {
	t.Helper()
	var data anypb.Any
	require.NoError(t, proto.Unmarshal(e.Data, &data))
	m, err := data.UnmarshalNew()
	require.NoError(t, err)
	return m
}

func requirePublished(
	t *testing.T, events []published, want proto.Message, users ...budgettest.User,
) {
	t.Helper()
	require.Len(t, events, len(users))
	var got []uuid.UUID
	for _, e := range events {
		m := e.message(t)
		require.Equal(t, want.ProtoReflect().Descriptor().FullName(),
			m.ProtoReflect().Descriptor().FullName())
		require.True(t, proto.Equal(want, m), "want %v\ngot  %v", want, m)
		require.Equal(t, outbox.Type(want.ProtoReflect().Descriptor().FullName()), e.Subject)
		got = append(got, e.UserID)
	}
	var ids []uuid.UUID
	for _, p := range users {
		ids = append(ids, p.ID)
	}
	require.ElementsMatch(t, ids, got)
}

// snapshotOf returns the fields of a budget that events contain. Both messages have the same field
// numbers, so that events of an earlier release can be read.
func snapshotOf(t *testing.T, b *budgetv1.Budget) *budgetv1.BudgetSnapshot {
	t.Helper()
	encoded, err := proto.Marshal(b)
	require.NoError(t, err)
	s := &budgetv1.BudgetSnapshot{}
	require.NoError(t, proto.UnmarshalOptions{DiscardUnknown: true}.Unmarshal(encoded, s))
	return s
}

// race locks a budget's row until all concurrent calls wait for it, so that they meet within their
// transactions.
func (b *bundle) race(t *testing.T, budgetID string, call func(i int) error) []error {
	t.Helper()
	tx, err := b.db.Begin(t.Context())
	require.NoError(t, err)
	// The calls must not wait forever if the test fails.
	defer func() { _ = tx.Rollback(t.Context()) }()
	pgtest.Exec(t, tx, `SELECT id FROM budgets WHERE id = $1 FOR UPDATE`, budgetID)
	errs := make([]error, budgettest.Racers)
	var racing sync.WaitGroup
	for i := range errs {
		racing.Go(func() { errs[i] = call(i) })
	}
	// The first call waits for the transaction above, and the others for the tuple lock of the
	// first.
	require.Eventually(t, func() bool {
		var queued int
		err := b.db.QueryRow(t.Context(), `SELECT count(*) FROM pg_locks
			WHERE database = (SELECT oid FROM pg_database WHERE datname = current_database())
				AND relation = 'budgets'::regclass
				AND locktype = 'tuple' AND NOT granted`).Scan(&queued)
		return err == nil && queued == budgettest.Racers-1
	}, time.Minute, 5*time.Millisecond)
	require.NoError(t, tx.Rollback(t.Context()))
	racing.Wait()
	return errs
}
