package budget

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"

	"github.com/coffer-budget/coffer/internal/outbox"
	"github.com/coffer-budget/coffer/internal/pg"
	"github.com/coffer-budget/coffer/internal/pg/pgtest"
	budgetv1 "github.com/coffer-budget/coffer/proto/gen/coffer/budget/v1"
	"github.com/coffer-budget/coffer/services/budget/internal/budgettest"
	"github.com/coffer-budget/coffer/services/budget/internal/sharing"
)

func TestResendInvitation(t *testing.T) {
	t.Parallel()
	env := setup(t)
	owner, friend := env.user(t, "Owner"), env.user(t, "Friend")
	id := env.budget(t, owner).GetId()
	req := &budgetv1.ResendInvitationRequest{
		BudgetId: id, InvitationId: env.mails(t, owner, id, mum).GetInvitationId(),
	}
	env.events(t)
	env.now = func() time.Time { return budgettest.Today.Add(time.Hour) }
	for range resendsPerDay {
		resp, err := env.ResendInvitation(owner.Ctx, req)
		require.NoError(t, err)
		require.Equal(t, "2026-03-29T13:00:00.000Z", resp.GetMember().GetExpiresAt())
	}
	events := env.events(t)
	require.Len(t, events, resendsPerDay)
	requirePublished(t, events[:1], &budgetv1.InvitationMailed{
		BudgetId: id, BudgetName: "Groceries", OwnerId: owner.ID.String(),
		InvitationId: req.GetInvitationId(), Email: mum, Role: "viewer",
		SharePercent: new("25.00"), Again: true,
	}, owner)
	env.now = func() time.Time { return budgettest.Today.Add(2 * time.Hour) }
	e := budgettest.Refuses(t, env.db, codes.ResourceExhausted, "RATE_LIMITED",
		pgtest.Call(owner.Ctx, env.ResendInvitation, req))
	require.Equal(t, 23*time.Hour, e.RetryAfter)
	env.now = func() time.Time { return budgettest.Today.Add(25 * time.Hour) }
	env.rename(t, owner, id)
	_, err := env.ResendInvitation(owner.Ctx, req)
	require.NoError(t, err)
	who := env.user(t, "Mum")
	env.apply(t, verified(who, mum))
	require.Equal(t, "Renamed", env.invitations(t, who)[0].GetBudgetName(), "as in the mail")

	_, err = env.ResendInvitation(friend.Ctx, req)
	require.ErrorIs(t, err, errInsufficientPermissions)
	for invitation, reason := range map[string]string{
		uuid.NewString(): "INVITATION_NOT_FOUND", "mum": "VALIDATION_ERROR",
	} {
		code := map[bool]codes.Code{true: codes.NotFound, false: codes.InvalidArgument}
		budgettest.Refuses(t, env.db, code[reason == "INVITATION_NOT_FOUND"], reason,
			pgtest.Call(owner.Ctx, env.ResendInvitation, &budgetv1.ResendInvitationRequest{
				BudgetId: id, InvitationId: invitation,
			}))
	}
}

func TestInvitationEnds(t *testing.T) {
	t.Parallel()
	ends := map[string]func(b *bundle, owner budgettest.User, budgetID, invitation string) error{
		withdrawn: func(b *bundle, owner budgettest.User, budgetID, invitation string) error {
			_, err := b.WithdrawInvitation(owner.Ctx, &budgetv1.WithdrawInvitationRequest{
				BudgetId: budgetID, InvitationId: invitation,
			})
			return err
		},
		expired: func(b *bundle, owner budgettest.User, id, _ string) error {
			b.now = func() time.Time { return budgettest.Today.Add(mailedTTL - 1) }
			if err := b.server.members.ExpireMailed(owner.Ctx); err != nil {
				return err
			}
			list, err := b.ListMembers(owner.Ctx, &budgetv1.ListMembersRequest{BudgetId: id})
			if err != nil || len(list.GetMembers()) != 1 {
				return fmt.Errorf("the invitation ended too early: %w", err)
			}
			b.now = func() time.Time { return budgettest.Today.Add(mailedTTL) }
			return b.server.members.ExpireMailed(owner.Ctx)
		},
		deletedWithBudget: func(b *bundle, owner budgettest.User, budgetID, _ string) error {
			_, err := b.DeleteBudget(owner.Ctx, &budgetv1.DeleteBudgetRequest{Id: budgetID})
			return err
		},
	}
	for reason, end := range ends {
		for _, account := range []bool{false, true} {
			t.Run(fmt.Sprint(reason, " with an account: ", account), func(t *testing.T) {
				t.Parallel()
				env := setup(t)
				owner, who := env.user(t, "Owner"), env.user(t, "Mum")
				id := env.budget(t, owner).GetId()
				m := env.mails(t, owner, id, mum)
				if account {
					env.apply(t, verified(who, mum))
				}
				env.rename(t, owner, id)
				env.events(t)
				require.NoError(t, end(env, owner, id, m.GetInvitationId()))
				require.Empty(t, env.invitations(t, who))
				received := map[string][]string{}
				for _, e := range env.events(t) {
					if ended, ok := e.message(t).(*budgetv1.InvitationEnded); ok {
						require.Equal(t, reason, ended.GetReason())
						require.Equal(t, m.GetInvitationId(), ended.GetInvitationId())
						require.Equal(t, mum, ended.GetEmail())
						require.Equal(t, "Renamed", ended.GetBudgetName())
					}
					_, kind, _ := strings.Cut(e.Subject, "v1.")
					received[e.UserID.String()] = append(received[e.UserID.String()], kind)
				}
				want := map[string][]string{owner.ID.String(): {"invitation.ended"}}
				if reason == deletedWithBudget {
					want[owner.ID.String()] = []string{"budget.deleted", "invitation.ended"}
				}
				if account {
					want[who.ID.String()] = []string{"member.removed"}
				}
				require.Equal(t, want, received)
			})
		}
	}
	t.Run("by its owner only", func(t *testing.T) {
		t.Parallel()
		env := setup(t)
		owner, who := env.user(t, "Owner"), env.user(t, "Mum")
		id := env.budget(t, owner).GetId()
		req := &budgetv1.WithdrawInvitationRequest{
			BudgetId: id, InvitationId: env.mails(t, owner, id, mum).GetInvitationId(),
		}
		env.apply(t, verified(who, mum))
		budgettest.Refuses(t, env.db, codes.PermissionDenied, "INSUFFICIENT_PERMISSIONS",
			pgtest.Call(who.Ctx, env.WithdrawInvitation, req))
	})
}

// TestShareBudgetByMailIsBlind invites an e-mail with and without an account.
func TestShareBudgetByMailIsBlind(t *testing.T) {
	t.Parallel()
	env := setup(t)
	owner := env.user(t, "Owner")
	known := env.user(t, "Mum")
	id := env.budget(t, owner).GetId()
	recorded := &statements{}
	config := env.db.Config()
	config.ConnConfig.Tracer = recorded
	db, err := pgxpool.NewWithConfig(t.Context(), config)
	require.NoError(t, err)
	t.Cleanup(db.Close)
	env.db = db
	run := func(email string) (string, []string) {
		recorded.reset()
		m := env.mails(t, owner, id, email)
		members := env.members(t, owner, id)
		resent, err := env.ResendInvitation(owner.Ctx, &budgetv1.ResendInvitationRequest{
			BudgetId: id, InvitationId: m.GetInvitationId(),
		})
		require.NoError(t, err)
		require.Equal(t, m.String(), resent.GetMember().String())
		_, err = env.WithdrawInvitation(owner.Ctx, &budgetv1.WithdrawInvitationRequest{
			BudgetId: id, InvitationId: m.GetInvitationId(),
		})
		require.NoError(t, err)
		shown := strings.NewReplacer(m.GetInvitationId(), "", email, "").Replace(
			fmt.Sprint(m, members))
		return shown, recorded.all()
	}
	// pgx prepares statements with their first use.
	run("first@example.com")
	shown, sql := run("nobody@example.com")
	require.NotEmpty(t, sql)
	shownOfKnown, sqlOfKnown := run(known.Email)
	require.Equal(t, strings.Join(strings.Fields(shown), " "),
		strings.Join(strings.Fields(shownOfKnown), " "))
	require.Equal(t, sql, sqlOfKnown)
}

// statements records the statements of a pool.
type statements struct {
	mu  sync.Mutex
	sql []string
}

func (s *statements) TraceQueryStart(
	ctx context.Context, _ *pgx.Conn, data pgx.TraceQueryStartData,
) context.Context {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sql = append(s.sql, data.SQL)
	return ctx
}

func (s *statements) TraceQueryEnd(context.Context, *pgx.Conn, pgx.TraceQueryEndData) {}

func (s *statements) reset() { s.mu.Lock(); s.sql = nil; s.mu.Unlock() }

func (s *statements) all() []string { s.mu.Lock(); defer s.mu.Unlock(); return s.sql }

func TestMailedInvitationsConcurrently(t *testing.T) {
	t.Parallel()
	// attaching applies the event of a verified e-mail.
	attaching := func(t *testing.T, env *bundle, who budgettest.User) func() error {
		t.Helper()
		return func() error {
			return pg.InTx(t.Context(), env.db, func(tx pgx.Tx) error {
				return env.applyEvents(t.Context(), tx, []outbox.Received{verified(who, mum)})
			})
		}
	}
	t.Run("of 20 that exceed 100 percent together, four are stored", func(t *testing.T) {
		t.Parallel()
		env := setup(t)
		owner := env.user(t, "Owner")
		id := env.budget(t, owner).GetId()
		errs := env.race(t, id, func(i int) error {
			_, err := env.ShareBudget(owner.Ctx,
				inviteRequest(id, fmt.Sprintf("guest%d@example.com", i)))
			return err
		})
		budgettest.RequireWinners(t, 4, errShareExceeded, errs)
	})
	t.Run("of 20 to one e-mail, one is stored", func(t *testing.T) {
		t.Parallel()
		env := setup(t)
		owner := env.user(t, "Owner")
		id := env.budget(t, owner).GetId()
		errs := env.race(t, id, func(int) error {
			_, err := env.ShareBudget(owner.Ctx, inviteRequest(id, mum))
			return err
		})
		budgettest.RequireWinners(t, 1, errMemberAlreadyExists, errs)
	})
	t.Run("a registration beside the deletion of the budget finds no invitation",
		func(t *testing.T) {
			t.Parallel()
			env := setup(t)
			owner, who := env.user(t, "Owner"), env.user(t, "Mum")
			id := env.budget(t, owner).GetId()
			env.mails(t, owner, id, mum)
			require.NoError(t, pgtest.Behind(t, env.db, func(tx pgx.Tx) error {
				b, err := env.lockedBudgetFor(owner.Ctx, tx, uuid.MustParse(id),
					sharing.Delete)
				if err != nil {
					return err
				}
				_, err = env.delete(owner.Ctx, tx, b)
				return err
			}, attaching(t, env, who)))
			require.Empty(t, env.invitations(t, who))
		})
	t.Run("a registration beside a withdrawal finds no invitation", func(t *testing.T) {
		t.Parallel()
		env := setup(t)
		owner, who := env.user(t, "Owner"), env.user(t, "Mum")
		id := env.budget(t, owner).GetId()
		m := env.mails(t, owner, id, mum)
		require.NoError(t, pgtest.Behind(t, env.db, func(tx pgx.Tx) error {
			if err := env.server.members.Lock(t.Context(), tx, uuid.MustParse(id)); err != nil {
				return err
			}
			_, err := tx.Exec(t.Context(), `DELETE FROM members WHERE invitation_id = $1`,
				m.GetInvitationId())
			return err
		}, attaching(t, env, who)))
		require.Empty(t, env.invitations(t, who))
	})
}
