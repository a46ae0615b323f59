package auth

import (
	"context"
	"fmt"
	"net/netip"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"

	"github.com/coffer-budget/coffer/internal/caller"
	"github.com/coffer-budget/coffer/internal/outbox"
	"github.com/coffer-budget/coffer/internal/pg"
	"github.com/coffer-budget/coffer/internal/pg/pgtest"
	authv1 "github.com/coffer-budget/coffer/proto/gen/coffer/auth/v1"
	budgetv1 "github.com/coffer-budget/coffer/proto/gen/coffer/budget/v1"
)

func (b *bundle) audit(ctx context.Context, t *testing.T) []*authv1.AuditEntry {
	t.Helper()
	resp, err := b.ListAudit(ctx, &authv1.ListAuditRequest{})
	require.NoError(t, err)
	return resp.GetEntries()
}

// types returns the types of entries, oldest first, each with its outcome unless that is success.
func types(entries []*authv1.AuditEntry) []string {
	var out []string
	for i := len(entries) - 1; i >= 0; i-- {
		s := entries[i].GetType()
		if entries[i].GetOutcome() == failure {
			s += " failed"
		}
		out = append(out, s)
	}
	return out
}

func TestListAudit(t *testing.T) {
	t.Parallel()
	t.Run("shows each event of the account and its address", func(t *testing.T) {
		t.Parallel()
		env := setup(t)
		ctx, _ := env.member(t, "ada@example.com")
		other := env.login(t, "ada@example.com")
		guesser := from(t.Context(), "203.0.113.7")
		require.ErrorIs(t, env.attempt(guesser, "ada@example.com", "wrong password"),
			errInvalidCredentials)
		_, err := env.UpdateMe(ctx, &authv1.UpdateMeRequest{Name: new("Countess")})
		require.NoError(t, err)
		_, err = env.UpdateMe(ctx, &authv1.UpdateMeRequest{
			Email: new("lovelace@example.com"), CurrentPassword: goodPassword,
		})
		require.NoError(t, err)
		_, err = env.ChangePassword(ctx, &authv1.ChangePasswordRequest{
			CurrentPassword: "wrong password", NewPassword: "another good one",
		})
		require.ErrorIs(t, err, errInvalidCredentials)
		_, err = env.refresh(t.Context(), other.GetRefreshToken())
		require.NoError(t, err)
		for range 2 {
			_, err = env.Refresh(t.Context(), &authv1.RefreshRequest{
				RefreshToken: other.GetRefreshToken(), UserAgent: "thief/1.0",
			})
			require.ErrorIs(t, err, errInvalidRefreshToken)
		}
		third := env.login(t, "lovelace@example.com")
		thirdID, err := env.verify(t, third.GetAccessToken())
		require.NoError(t, err)
		_, err = env.RevokeSession(ctx,
			&authv1.RevokeSessionRequest{Id: thirdID.SessionID.String()})
		require.NoError(t, err)
		env.login(t, "lovelace@example.com")
		env.login(t, "lovelace@example.com")
		_, err = env.ChangePassword(from(ctx, "203.0.113.9"), &authv1.ChangePasswordRequest{
			CurrentPassword: goodPassword, NewPassword: "another good one", UserAgent: "app/2",
		})
		require.NoError(t, err)
		entries := env.audit(ctx, t)
		require.Equal(t, []string{
			"registered", "login_succeeded", "login_succeeded", "login_failed failed",
			"profile_changed", "email_changed", "password_change_failed failed",
			"refresh_token_reused failed", "login_succeeded", "session_ended", "login_succeeded",
			"login_succeeded", "password_changed", "session_ended",
		}, types(entries))
		require.Equal(t, int32(2), entries[0].GetCount(),
			"both of the other sessions that were left")
		require.Equal(t, "203.0.113.9", entries[1].GetAddress())
		require.Equal(t, "app/2", entries[1].GetUserAgent())
		require.Equal(t, "2026-03-15T12:00:00.000Z", entries[1].GetAt())
		require.Equal(t, thirdID.SessionID.String(), entries[4].GetSessionId())
		require.Equal(t, "thief/1.0", entries[6].GetUserAgent())
		require.Equal(t, "203.0.113.7", entries[10].GetAddress())
		require.Empty(t, entries[10].GetSessionId())

		_, err = env.Logout(ctx, &authv1.LogoutRequest{})
		require.NoError(t, err)
		_, err = env.ListAudit(ctx, &authv1.ListAuditRequest{})
		requireReason(t, codes.Unauthenticated, "UNAUTHORIZED", err)
	})
	t.Run("pages through the entries of the acting user only", func(t *testing.T) {
		t.Parallel()
		env := setup(t)
		ada, _ := env.member(t, "ada@example.com")
		bob, _ := env.member(t, "bob@example.com")
		require.Equal(t, []string{"registered", "login_succeeded"}, types(env.audit(bob, t)))
		first, err := env.ListAudit(ada, &authv1.ListAuditRequest{Limit: new(int32(1))})
		require.NoError(t, err)
		require.True(t, first.GetPagination().GetHasMore())
		require.Equal(t, []string{"login_succeeded"}, types(first.GetEntries()))
		rest, err := env.ListAudit(ada,
			&authv1.ListAuditRequest{Cursor: first.GetPagination().GetNextCursor()})
		require.NoError(t, err)
		require.Equal(t, []string{"registered"}, types(rest.GetEntries()))
		require.False(t, rest.GetPagination().GetHasMore())
		_, err = env.ListAudit(bob,
			&authv1.ListAuditRequest{Cursor: first.GetPagination().GetNextCursor()})
		requireReason(t, codes.InvalidArgument, "INVALID_CURSOR", err)
		_, err = env.ListAudit(bob, &authv1.ListAuditRequest{Limit: new(int32(0))})
		require.Equal(t, []string{"limit"},
			fieldNames(requireReason(t, codes.InvalidArgument, "VALIDATION_ERROR", err)))
	})
	t.Run("counts repeated failures in a limited number of entries", func(t *testing.T) {
		t.Parallel()
		env := setup(t)
		ctx, _ := env.member(t, "ada@example.com")
		fail := func(address string) {
			entry := env.entry(auditLoginFailed, uuid.Nil, uuid.Nil,
				client{address: address, agent: "guesser"})
			attempt := loginAttempt("ada@example.com", user{ID: caller.ID(ctx)},
				netip.MustParseAddr(address), entry)
			require.NoError(t, env.fail(t.Context(), attempt))
		}
		for range 5 {
			fail("203.0.113.1")
		}
		env.clock.advance(time.Minute)
		fail("203.0.113.1")
		entries := env.audit(ctx, t)
		require.Len(t, entries, 3)
		require.Equal(t, int32(6), entries[0].GetCount())
		require.Equal(t, "2026-03-15T12:01:00.000Z", entries[0].GetLastAt())
		for i := range 3 * auditAddresses {
			fail(fmt.Sprintf("198.51.100.%d", i))
		}
		entries = env.audit(ctx, t)
		require.Len(t, entries, 2+auditAddresses+1)
		require.Equal(t, int32(2*auditAddresses+1), entries[0].GetCount(),
			"the addresses that there was no room for")
		require.Empty(t, entries[0].GetAddress())
		env.clock.advance(auditHour)
		fail("203.0.113.1")
		require.Len(t, env.audit(ctx, t), 2+auditAddresses+2, "another hour counts anew")
	})
	t.Run("limits the addresses of each user separately", func(t *testing.T) {
		t.Parallel()
		env := setup(t)
		ada, _ := env.member(t, "ada@example.com")
		bob, _ := env.member(t, "bob@example.com")
		fail := func(ctx context.Context, address string) {
			entry := env.entry(auditLoginFailed, uuid.Nil, uuid.Nil, client{address: address})
			attempt := loginAttempt("", user{ID: caller.ID(ctx)},
				netip.MustParseAddr(address), entry)
			require.NoError(t, env.fail(t.Context(), attempt))
		}
		for i := range auditAddresses {
			fail(ada, fmt.Sprintf("198.51.100.%d", i))
		}
		fail(bob, "203.0.113.1")
		require.Len(t, env.audit(ada, t), 2+auditAddresses)
		entries := env.audit(bob, t)
		require.Len(t, entries, 3)
		require.Equal(t, "203.0.113.1", entries[0].GetAddress())
	})
	t.Run("stores no entry without an account", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		require.ErrorIs(t, b.attempt(t.Context(), "nobody@example.com", "wrong password"),
			errInvalidCredentials)
		rows := pgtest.Value[int](t, b.db, `SELECT count(*) FROM audit`)
		require.Zero(t, rows)
	})
	t.Run("returns entries for a year", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		b.register(t, "ada@example.com")
		b.clock.advance(auditKept - time.Hour)
		b.member(t, "bob@example.com")
		b.clock.advance(2 * time.Hour)
		require.NoError(t, b.expire(t.Context()))
		rows := pgtest.Value[int](t, b.db, `SELECT count(*) FROM audit`)
		require.Equal(t, 2, rows)
	})
}

func TestNoteSharing(t *testing.T) {
	t.Parallel()
	env := setup(t)
	owner := uuid.MustParse(env.register(t, "ada@example.com").GetId())
	ctx, _ := env.member(t, "bob@example.com")
	budget, stranger := uuid.NewString(), uuid.Must(uuid.NewV7())
	received := func(user uuid.UUID, m outbox.Received) outbox.Received {
		m.ID, m.UserID, m.Time = uuid.Must(uuid.NewV7()), user, env.clock.now()
		return m
	}
	id, _ := caller.From(ctx)
	member := id.UserID
	events := []outbox.Received{
		received(member, outbox.Received{Data: &budgetv1.InvitationSent{
			BudgetId: budget, OwnerId: owner.String(), MemberId: member.String(), Role: "editor",
		}}),
		received(stranger, outbox.Received{Data: &budgetv1.InvitationSent{
			BudgetId: budget, OwnerId: owner.String(), MemberId: stranger.String(), Role: "editor",
		}}),
		received(member, outbox.Received{Data: &budgetv1.InvitationAnswered{
			BudgetId: budget, OwnerId: owner.String(), MemberId: member.String(),
			Status: "accepted",
		}}),
		received(member, outbox.Received{Data: &budgetv1.MemberUpdated{
			BudgetId: budget, OwnerId: owner.String(), MemberId: member.String(), Role: "viewer",
			PreviousRole: "editor",
		}}),
		received(member, outbox.Received{Data: &budgetv1.MemberRemoved{
			BudgetId: budget, OwnerId: owner.String(), MemberId: member.String(),
			RemovedBy: owner.String(),
		}}),
		received(member, outbox.Received{Data: &budgetv1.InvitationAnswered{
			GoalId: budget, OwnerId: owner.String(), MemberId: member.String(),
			Status: "rejected",
		}}),
		received(member, outbox.Received{Data: &budgetv1.BudgetDeleted{}}),
	}
	for range 2 {
		require.NoError(t, pg.InTx(t.Context(), env.db,
			func(tx pgx.Tx) error { return env.noteSharing(t.Context(), tx, events) }))
	}
	entries := env.audit(ctx, t)
	require.Equal(t, []string{
		"registered", "login_succeeded", "invitation_sent", "invitation_answered", "member_updated",
		"member_removed", "invitation_answered",
	}, types(entries))
	require.Equal(t, budget, entries[0].GetSharing().GetGoalId())
	require.Empty(t, entries[0].GetSharing().GetBudgetId())
	entries = entries[1:]
	require.Equal(t, owner.String(), entries[0].GetSharing().GetRemovedBy())
	require.Equal(t, "viewer", entries[1].GetSharing().GetRole())
	require.Equal(t, "accepted", entries[2].GetSharing().GetStatus())
	require.Equal(t, "editor", entries[3].GetSharing().GetRole())
	require.Equal(t, budget, entries[3].GetSharing().GetBudgetId())
	require.Empty(t, entries[3].GetSharing().GetGoalId())
	before := []string{
		entries[3].GetSharing().GetOwnerName(), entries[3].GetSharing().GetMemberName(),
	}
	_, err := env.UpdateMe(ctx, &authv1.UpdateMeRequest{Name: new("Renamed")})
	require.NoError(t, err)
	entries = env.audit(ctx, t)
	after := []string{
		entries[5].GetSharing().GetOwnerName(), entries[5].GetSharing().GetMemberName(),
	}
	require.Equal(t, before, after, "an entry keeps the names of its time")
	require.NotContains(t, after, "")
}
