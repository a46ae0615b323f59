package auth

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"

	"github.com/coffer-budget/coffer/internal/caller"
	"github.com/coffer-budget/coffer/internal/pg/pgtest"
	authv1 "github.com/coffer-budget/coffer/proto/gen/coffer/auth/v1"
)

// files receives the files of a user.
type files struct {
	grpc.ServerStream
	ctx  context.Context //nolint:containedctx // A stream has a context.
	path string
	rows map[string]int64
}

// Context implements grpc.ServerStream.
func (f *files) Context() context.Context { return f.ctx }

// Send receives a message.
func (f *files) Send(m *authv1.ExportUserResponse) error {
	if path := m.GetPiece().GetPath(); path != "" {
		f.path = path
	}
	f.rows[f.path] += m.GetPiece().GetRows()
	return nil
}

// export exports the user of ctx.
func (b *bundle) export(ctx context.Context) (*files, error) {
	id, _ := caller.From(ctx)
	received := &files{ctx: ctx, rows: map[string]int64{}}
	return received, b.ExportUser(&authv1.ExportUserRequest{
		UserId: id.UserID.String(), SessionId: id.SessionID.String(),
		Address: "203.0.113.7", UserAgent: "Firefox",
	}, received)
}

func TestExportUser(t *testing.T) {
	t.Parallel()
	t.Run("sends all pages and records the export", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		ctx, login := b.member(t, "ada@example.com")
		b.newToken(ctx, t, readOnly("Backup"))
		pgtest.Exec(t, b.db, `
			INSERT INTO oidc_identities (id, user_id, issuer, subject, email, created_at)
			VALUES (gen_random_uuid(), $1, 'https://login.example.com', '1', '', now())`,
			login.GetUser().GetId())
		pgtest.Exec(t, b.db, `
			INSERT INTO audit (id, user_id, type, outcome, at, last_at, times, address, user_agent)
			SELECT ('00000000-0000-7000-8000-' || lpad(n::text, 12, '0'))::uuid, $1,
				'login_succeeded', 'success', now(), now(), 1, '', ''
			FROM generate_series(1, $2) AS n`, login.GetUser().GetId(), 2*exportPage)
		got, err := b.export(ctx)
		require.NoError(t, err)
		total := pgtest.Value[int64](t, b.db, `SELECT count(*) FROM audit`)
		require.Greater(t, total, int64(2*exportPage))
		require.Equal(t, map[string]int64{
			"user.json": 1, "factors.json": 1, "passkeys.jsonl": 0, "identities.jsonl": 1,
			"tokens.jsonl":   1,
			"sessions.jsonl": 1, "audit.jsonl": total,
		}, got.rows)
		exported := b.audit(ctx, t)[0]
		require.Equal(t, "account_exported", exported.GetType())
		require.Equal(t, "203.0.113.7", exported.GetAddress())
		require.Equal(t, "Firefox", exported.GetUserAgent())
	})
	t.Run("requires a live session", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		ctx, _ := b.member(t, "ada@example.com")
		_, err := b.Logout(ctx, &authv1.LogoutRequest{})
		require.NoError(t, err)
		got, err := b.export(ctx)
		requireReason(t, codes.Unauthenticated, "UNAUTHORIZED", err)
		require.Empty(t, got.rows)
	})
	t.Run("requires valid ids", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		received := &files{ctx: t.Context(), rows: map[string]int64{}}
		for _, req := range []*authv1.ExportUserRequest{
			{UserId: "x"}, {UserId: strings.Repeat("0", 32), SessionId: "x"},
		} {
			requireReason(t, codes.InvalidArgument, "VALIDATION_ERROR", b.ExportUser(req, received))
		}
	})
}

// TestExportUserUnverified requires a verified e-mail if the installation verifies e-mails.
func TestExportUserUnverified(t *testing.T) {
	t.Parallel()
	b := setup(t)
	ctx, login := b.member(t, "ada@example.com")
	b.config.Mail.Verification = verificationSoft
	_, err := b.export(ctx)
	requireReason(t, codes.PermissionDenied, "EMAIL_NOT_VERIFIED", err)
	pgtest.Exec(t, b.db, `UPDATE users SET email_verified_at = $2 WHERE id = $1`,
		login.GetUser().GetId(), time.Now())
	_, err = b.export(ctx)
	require.NoError(t, err)
}
