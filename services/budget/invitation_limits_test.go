package budget

import (
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"

	"github.com/coffer-budget/coffer/internal/apierr"
	"github.com/coffer-budget/coffer/internal/pg/pgtest"
	budgetv1 "github.com/coffer-budget/coffer/proto/gen/coffer/budget/v1"
	"github.com/coffer-budget/coffer/services/budget/internal/budgettest"
)

func TestShareBudgetLimitPerOwner(t *testing.T) {
	t.Parallel()
	env := setup(t)
	owner, guest := env.user(t, "Owner"), env.user(t, "Guest")
	id := env.budget(t, owner).GetId()
	share := func(email string) error {
		_, err := env.ShareBudget(owner.Ctx,
			&budgetv1.ShareBudgetRequest{BudgetId: id, Email: email})
		return err
	}
	for range invitationsPerOwner - 1 {
		require.Equal(t, "USER_NOT_FOUND", apierr.From(share("nobody@example.com")).Reason)
	}
	require.NoError(t, share(guest.Email))
	asked := env.auth.calls
	e := budgettest.Refuses(t, env.db, codes.ResourceExhausted, "RATE_LIMITED",
		func() error { return share("nobody@example.com") })
	require.Equal(t, invitationWindow, e.RetryAfter)
	require.Equal(t, asked, env.auth.calls)
	env.now = func() time.Time { return budgettest.Today.Add(invitationWindow) }
	require.Equal(t, "USER_NOT_FOUND", apierr.From(share("nobody@example.com")).Reason)
}

func TestShareBudgetLimitPerMember(t *testing.T) {
	t.Parallel()
	env := setup(t)
	guest, friend := env.user(t, "Guest"), env.user(t, "Friend")
	for range invitationsPerMember {
		env.tries(t, uuid.New(), &guest.ID)
	}
	owner := env.user(t, "Owner")
	id := env.budget(t, owner).GetId()
	budgettest.Refuses(t, env.db, codes.ResourceExhausted, "RATE_LIMITED", pgtest.Call(owner.Ctx,
		env.ShareBudget, &budgetv1.ShareBudgetRequest{BudgetId: id, Email: guest.Email}))
	env.share(t, owner, id, friend, "viewer")
	pgtest.Exec(t, env.db, `DELETE FROM invitation_tries`)
	env.share(t, owner, id, guest, "viewer")
}

func TestShareBudgetPendingLimit(t *testing.T) {
	t.Parallel()
	env := setup(t)
	guest := env.user(t, "Guest")
	owners := make([]budgettest.User, 6)
	budgets := make([]string, len(owners))
	for i := range owners {
		owners[i] = env.user(t, fmt.Sprint("Owner", i))
		budgets[i] = env.budget(t, owners[i]).GetId()
	}
	pgtest.Exec(t, env.db, `
		WITH b AS (
			INSERT INTO budgets (id, owner_id, name, currency, limit_minor, period, start_date,
				wallet_id, category_ids, created_at, updated_at)
			SELECT gen_random_uuid(), gen_random_uuid(), 'Full', 'EUR', 1, 'daily', '2026-01-01',
				gen_random_uuid(), ARRAY[gen_random_uuid()], now(), now()
			FROM generate_series(1, $2)
			RETURNING id
		)
		INSERT INTO members (budget_id, user_id, role, status, invited_at)
		SELECT id, $1, 'viewer', 'pending', now() FROM b`, guest.ID, maxPendingInvitations-2)
	share := func(i int) error {
		_, err := env.ShareBudget(owners[i].Ctx,
			&budgetv1.ShareBudgetRequest{BudgetId: budgets[i], Email: guest.Email})
		return err
	}
	errs := make([]error, len(owners))
	var sharing sync.WaitGroup
	for i := range owners {
		sharing.Go(func() { errs[i] = share(i) })
	}
	sharing.Wait()
	budgettest.RequireWinners(t, 2, errInvitationLimit, errs)
	loser := slices.IndexFunc(errs, func(err error) bool { return err != nil })
	budgettest.Refuses(t, env.db, codes.AlreadyExists, "INVITATION_LIMIT_REACHED",
		func() error { return share(loser) })
	env.share(t, owners[loser], budgets[loser], env.user(t, "Another"), "viewer")

	winner := slices.Index(errs, nil)
	_, err := env.respond(guest, budgets[winner], "accepted")
	require.NoError(t, err)
	require.NoError(t, share(loser), "an answered invitation is no longer pending")
}

// TestShareBudgetInvitedByMail requires that one person is not invited twice, with two shares: the
// e-mail of an invitation by mail may belong to a user with an unverified e-mail.
func TestShareBudgetInvitedByMail(t *testing.T) {
	t.Parallel()
	env := setup(t)
	owner, friend := env.user(t, "Owner"), env.user(t, "Friend")
	id := env.budget(t, owner).GetId()
	m := env.mails(t, owner, id, friend.Email)
	budgettest.Refuses(t, env.db, codes.AlreadyExists, "BUDGET_MEMBER_ALREADY_EXISTS",
		pgtest.Call(owner.Ctx, env.ShareBudget,
			&budgetv1.ShareBudgetRequest{BudgetId: id, Email: friend.Email}))
	_, err := env.WithdrawInvitation(owner.Ctx, &budgetv1.WithdrawInvitationRequest{
		BudgetId: id, InvitationId: m.GetInvitationId(),
	})
	require.NoError(t, err)
	env.share(t, owner, id, friend, "viewer")
}
