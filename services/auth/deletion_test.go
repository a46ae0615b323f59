package auth

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/proto"

	"github.com/coffer-budget/coffer/internal/apierr"
	"github.com/coffer-budget/coffer/internal/outbox"
	"github.com/coffer-budget/coffer/internal/pg"
	"github.com/coffer-budget/coffer/internal/pg/pgtest"
	authv1 "github.com/coffer-budget/coffer/proto/gen/coffer/auth/v1"
	budgetv1 "github.com/coffer-budget/coffer/proto/gen/coffer/budget/v1"
	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
)

const grace = 72 * time.Hour

// leaving is a user whose account is being deleted.
type leaving struct {
	post
	user     *authv1.User
	deletion string
	// erased has the users whose events were deleted.
	erased []uuid.UUID
}

// startDeletion registers a user, who requests the deletion.
func startDeletion(t *testing.T) *leaving {
	t.Helper()
	l := &leaving{post: setupMail(t)}
	l.deletions.Grace = grace
	l.deletions.AwaitApplied = func(context.Context) error { return nil }
	l.deletions.EraseEvents = func(_ context.Context, user uuid.UUID, _ ...string) error {
		l.erased = append(l.erased, user)
		return nil
	}
	ctx, _ := l.member(t, "ada@example.com")
	pgtest.Exec(t, l.db, `UPDATE users SET email_verified_at = created_at`)
	me, err := l.GetMe(ctx, &authv1.GetMeRequest{})
	require.NoError(t, err)
	l.user = me.GetUser()
	_, err = l.tokens.CreatePersonalToken(ctx, &authv1.CreatePersonalTokenRequest{
		Name: "script", Scopes: []string{"read"},
	})
	require.NoError(t, err)
	before := l.state(t)
	for address, message := range map[string]string{
		"": "is required", "eve@example.com": "must be the e-mail of the account",
	} {
		_, err := l.deletions.DeleteAccount(ctx, &authv1.DeleteAccountRequest{Email: address})
		require.Equal(t, message, apierr.From(err).Fields[0].Message)
	}
	require.Equal(t, before, l.state(t))
	req := &authv1.DeleteAccountRequest{Email: "Ada@example.com"}
	var started *authv1.DeleteAccountResponse
	require.Equal(t, 1, succeeded(20, func(int) error {
		resp, err := l.deletions.DeleteAccount(ctx, req)
		if err == nil {
			started = resp
		}
		return err
	}))
	require.Equal(t, "2026-03-18T12:00:00.000Z", started.GetErasesAt())
	l.deletion = started.GetDeletionId()
	_, err = l.GetMe(ctx, &authv1.GetMeRequest{})
	requireReason(t, codes.Unauthenticated, "UNAUTHORIZED", err)
	require.Equal(t, int64(0), pgtest.Value[int64](t, l.db, `SELECT count(*) FROM access_tokens`))
	return l
}

func (l *leaving) status(t *testing.T) *authv1.AccountDeletion {
	t.Helper()
	resp, err := l.deletions.GetAccountDeletion(t.Context(),
		&authv1.GetAccountDeletionRequest{DeletionId: l.deletion})
	require.NoError(t, err)
	return resp.GetDeletion()
}

// rejected returns the token to cancel from the error of a sign-in, or an empty text.
func (l *leaving) rejected(t *testing.T) string {
	t.Helper()
	_, err := l.Login(t.Context(),
		&authv1.LoginRequest{Email: l.user.GetEmail(), Password: goodPassword})
	e := requireReason(t, codes.PermissionDenied, "ACCOUNT_DELETION_PENDING", err)
	for _, f := range e.Fields {
		if f.Name == "cancelToken" {
			return f.Message
		}
	}
	return ""
}

func (l *leaving) cancel(token string) error {
	_, err := l.deletions.CancelAccountDeletion(context.Background(),
		&authv1.CancelAccountDeletionRequest{CancelToken: token})
	return err
}

// asked empties the outbox and returns the services that were asked to delete.
func (l *leaving) asked(t *testing.T) (services []string) {
	t.Helper()
	l.deletions.RunQueued(t.Context())
	for _, event := range l.events(t) {
		if m, ok := event.message(t).(*authv1.UserErasing); ok {
			require.Equal(t, l.deletion, m.GetDeletionId())
			require.Equal(t, l.user.GetEmail(), m.GetEmail())
			services = append(services, m.GetService())
		}
	}
	pgtest.Exec(t, l.db, `DELETE FROM outbox`)
	return services
}

// reports applies the report of a service, as often as NATS may deliver it.
func (l *leaving) reports(t *testing.T, report proto.Message) {
	t.Helper()
	event := outbox.Received{
		UserID: uuid.MustParse(l.deletion), Time: l.clock.now(), Data: report,
	}
	require.NoError(t, pg.InTx(t.Context(), l.db, func(tx pgx.Tx) error {
		return l.deletions.Consumer().Apply(t.Context(), tx, []outbox.Received{event, event})
	}))
}

// erasedByServices ends the grace period, and applies the reports of all services.
func (l *leaving) erasedByServices(t *testing.T) {
	t.Helper()
	l.clock.advance(l.deletions.Grace)
	require.Equal(t, []string{"budget"}, l.asked(t))
	l.reports(t, &budgetv1.UserErased{})
	require.Equal(t, []string{"ledger"}, l.asked(t))
	l.reports(t, &ledgerv1.UserErased{})
}

func TestCancelAccountDeletion(t *testing.T) {
	t.Parallel()
	l := startDeletion(t)
	require.Contains(t, l.mailed(t, l.user.GetEmail()).Text, "2026-03-18 12:00 UTC")
	_, err := l.Login(t.Context(),
		&authv1.LoginRequest{Email: l.user.GetEmail(), Password: "another password 7"})
	requireReason(t, codes.Unauthenticated, "INVALID_CREDENTIALS", err)
	for _, token := range []string{"!", "AAAA", l.deletion} {
		requireReason(t, codes.NotFound, "DELETION_NOT_FOUND", l.cancel(token))
	}
	requireReason(t, codes.InvalidArgument, "VALIDATION_ERROR", l.cancel(""))
	late := l.rejected(t)
	l.clock.advance(2 * time.Hour)
	requireReason(t, codes.NotFound, "DELETION_NOT_FOUND", l.cancel(late))
	l.deletions.RunQueued(t.Context())
	require.Equal(t, "waiting", l.status(t).GetStatus())

	token := l.rejected(t)
	require.Equal(t, 1, succeeded(20, func(int) error { return l.cancel(token) }))
	requireReason(t, codes.NotFound, "DELETION_NOT_FOUND", l.cancel(token))
	require.Contains(t, l.mailed(t, l.user.GetEmail()).Text, "was canceled")
	ctx := l.as(t, l.login(t, l.user.GetEmail()).GetAccessToken())
	audit, err := l.ListAudit(ctx, &authv1.ListAuditRequest{})
	require.NoError(t, err)
	var kinds []string
	for _, e := range audit.GetEntries() {
		kinds = append(kinds, e.GetType())
	}
	require.Contains(t, kinds, "deletion_requested")
	require.Contains(t, kinds, "deletion_canceled")
	l.clock.advance(grace)
	require.Empty(t, l.asked(t))
	_, err = l.deletions.GetAccountDeletion(t.Context(),
		&authv1.GetAccountDeletionRequest{DeletionId: l.deletion})
	requireReason(t, codes.NotFound, "DELETION_NOT_FOUND", err)
}

// TestDeleteAccount requires that the services are asked one after the other, that no table
// mentions the user at the end, and that a restored user is deleted again.
func TestDeleteAccount(t *testing.T) {
	t.Parallel()
	l := startDeletion(t)
	l.mailed(t, l.user.GetEmail())
	id := l.user.GetId()
	other := l.register(t, "eve@example.com")
	l.sharing(t, other.GetId(), id, l.user.GetEmail())
	token := l.rejected(t)
	l.clock.advance(grace)
	require.Equal(t, []string{"budget"}, l.asked(t))
	require.Empty(t, l.asked(t))
	require.Empty(t, l.rejected(t), "a deletion that has begun cannot be canceled")
	requireReason(t, codes.NotFound, "DELETION_NOT_FOUND", l.cancel(token))
	l.reports(t, &ledgerv1.UserErased{})
	l.clock.advance(time.Hour)
	require.Equal(t, []string{"budget"}, l.asked(t), "again, because no report arrived")
	l.reports(t, &budgetv1.UserErased{})
	require.Equal(t, []string{"ledger"}, l.asked(t))
	require.Equal(t, "erasing", l.status(t).GetStatus())
	l.reports(t, &ledgerv1.UserErased{})

	pgtest.Exec(t, l.db, `
		INSERT INTO outbox (id, user_id, subject, data)
		VALUES ($1, $1, 'auth.v1.user.updated', '')`, id)
	l.deletions.RunQueued(t.Context())
	require.Empty(t, l.erased, "an event of the user is not published yet")
	pgtest.Exec(t, l.db, `DELETE FROM outbox`)
	before := l.rowsOf(t, other.GetId())
	copied := pgtest.Value[string](t, l.db,
		`SELECT to_jsonb(u)::text FROM users u WHERE id = $1`, id)
	l.deletions.RunQueued(t.Context())
	require.Equal(t, []uuid.UUID{uuid.MustParse(id)}, l.erased)
	require.Empty(t, pgtest.Mentions(t, l.db, id, l.user.GetEmail()))
	require.Equal(t, before, l.rowsOf(t, other.GetId()))
	state := l.status(t)
	require.Equal(t, "erased", state.GetStatus())
	var parts []string
	for _, part := range state.GetServices() {
		parts = append(parts, part.GetName())
	}
	require.Equal(t, []string{"budget", "ledger", "ocr", "events", "auth"}, parts)
	l.deletions.RunQueued(t.Context())
	require.Len(t, l.erased, 1)

	replayed, err := l.deletions.Replay(t.Context())
	require.NoError(t, err)
	require.Zero(t, replayed)
	pgtest.Exec(t, l.db,
		`INSERT INTO users SELECT * FROM jsonb_populate_record(NULL::users, $1)`, copied)
	for range 2 {
		replayed, err = l.deletions.Replay(t.Context())
		require.NoError(t, err)
	}
	require.Zero(t, replayed, "the deletion runs already")
	require.Equal(t, []string{"budget"}, l.asked(t))
	l.reports(t, &budgetv1.UserErased{})
	require.Equal(t, []string{"ledger"}, l.asked(t))
	l.reports(t, &ledgerv1.UserErased{})
	l.deletions.RunQueued(t.Context())
	require.Empty(t, pgtest.Mentions(t, l.db, id, l.user.GetEmail()))

	l.register(t, l.user.GetEmail())
	l.clock.advance(366 * 24 * time.Hour)
	require.NoError(t, l.deletions.Expire(t.Context()))
	require.Empty(t, pgtest.Mentions(t, l.db, l.deletion))
}

// TestDeletionGrace has a grace period shorter than the lifetime of access tokens.
func TestDeletionGrace(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for grace, want := range map[time.Duration]time.Duration{
		0: 0, time.Minute: testConfig.AccessTTL, 72 * time.Hour: 72 * time.Hour,
	} {
		config := testConfig
		config.DeletionGrace = grace
		require.Equal(t, want, b.replica(t, config).deletions.Grace)
	}
}

// sharing writes audit entries of a user that name the other one, and a link to the e-mail.
func (l *leaving) sharing(t *testing.T, user, named, email string) {
	t.Helper()
	events := []proto.Message{
		&budgetv1.InvitationSent{BudgetId: "b", OwnerId: user, MemberId: named, Role: "viewer"},
		&budgetv1.MemberRemoved{BudgetId: "b", OwnerId: user, MemberId: named, RemovedBy: named},
		&budgetv1.InvitationSent{BudgetId: "b", OwnerId: named, MemberId: user, Role: "viewer"},
		&budgetv1.InvitationEnded{
			BudgetId: "b", OwnerId: user, InvitationId: uuid.NewString(), Email: email,
			Reason: "expired",
		},
	}
	for _, data := range events {
		require.NoError(t, pg.InTx(t.Context(), l.db, func(tx pgx.Tx) error {
			return l.noteSharing(t.Context(), tx, []outbox.Received{{
				ID: l.newID(), UserID: uuid.MustParse(user), Time: l.clock.now(), Data: data,
			}})
		}))
	}
	pgtest.Exec(t, l.db, `
		INSERT INTO mail_links (hash, kind, email, expires_at)
		VALUES (sha256('x'), 'invitation', $1, now() + interval '1 year')`, email)
}

// rowsOf returns the rows of a user, without the names of others in audit entries.
func (l *leaving) rowsOf(t *testing.T, user string) []string {
	t.Helper()
	rows, err := pg.Values[string](t.Context(), l.db, `
		SELECT u::text FROM users u WHERE id = $1
		UNION ALL
		SELECT (to_jsonb(a) - 'sharing')::text FROM audit a WHERE user_id = $1`, user)
	require.NoError(t, err)
	slices.Sort(rows)
	return rows
}
