package goals

import (
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"

	"github.com/coffer-budget/coffer/internal/apierr"
	"github.com/coffer-budget/coffer/internal/pg/pgtest"
	budgetv1 "github.com/coffer-budget/coffer/proto/gen/coffer/budget/v1"
	"github.com/coffer-budget/coffer/services/budget/internal/budgettest"
)

func TestCreateAssignment(t *testing.T) {
	t.Parallel()
	b := setup(t)
	g := b.goal(t, "100")
	b.events(t)
	req := &budgetv1.CreateAssignmentRequest{
		GoalId: g.GetId(), WalletId: b.bank, Amount: "99.5", Date: "2026-01-31",
		IdempotencyKey: "key",
	}
	created, err := b.CreateAssignment(b.me.Ctx, req)
	require.NoError(t, err)
	want := &budgetv1.Assignment{
		Id: created.GetAssignment().GetId(), GoalId: g.GetId(), WalletId: b.bank,
		Amount: "99.50", Date: "2026-01-31", CreatedAt: "2026-03-15T12:00:00.000Z",
		UserId: b.me.ID.String(),
	}
	requireEqual(t, want, created.GetAssignment())
	again, err := b.CreateAssignment(b.me.Ctx, req)
	require.NoError(t, err)
	require.True(t, again.GetReplayed())
	requireEqual(t, want, again.GetAssignment())
	events := b.events(t)
	require.Len(t, events, 1)
	requireEqual(t, &budgetv1.AssignmentCreated{Assignment: want}, events[0])
	require.Zero(t, b.notified(t))
	requireEqual(t, &budgetv1.GoalProgress{
		Saved: "99.50", Remaining: "0.50", Percentage: 99.5, AveragePerMonth: "49.75",
		ProjectedDate: new("2026-03-15"), State: "onTrack",
	}, b.get(t, g).GetProgress())

	// The target is reached once, although money is taken back in between.
	for _, amount := range []string{"0.50", "-50", "50"} {
		_, err := b.assign(g, b.bank, amount)
		require.NoError(t, err)
	}
	events = b.events(t)
	require.Len(t, events, 4)
	require.IsType(t, &budgetv1.GoalReached{}, events[1])
	require.EqualValues(t, 1, b.notified(t))
	reached := b.get(t, g)
	require.Equal(t, "reached", reached.GetProgress().GetState())
	require.Equal(t, "2026-03-15T12:00:00.000Z", reached.GetReachedAt())

	list, err := b.ListAssignments(b.me.Ctx,
		&budgetv1.ListAssignmentsRequest{GoalId: g.GetId(), Limit: new(int32(3))})
	require.NoError(t, err)
	require.Len(t, list.GetAssignments(), 3)
	require.Equal(t, "-50.00", list.GetAssignments()[1].GetAmount())
	list, err = b.ListAssignments(b.me.Ctx, &budgetv1.ListAssignmentsRequest{
		GoalId: g.GetId(), Cursor: list.GetPagination().GetNextCursor(),
	})
	require.NoError(t, err)
	require.Len(t, list.GetAssignments(), 1)
	requireEqual(t, want, list.GetAssignments()[0])

	// A repetition gets the first response also when the goal is deleted.
	_, err = b.DeleteGoal(b.me.Ctx, &budgetv1.DeleteGoalRequest{Id: g.GetId()})
	require.NoError(t, err)
	again, err = b.CreateAssignment(b.me.Ctx, req)
	require.NoError(t, err)
	requireEqual(t, want, again.GetAssignment())
}

func TestCreateAssignmentProblems(t *testing.T) {
	t.Parallel()
	b := setup(t)
	g, stranger := b.goal(t, "100"), budgettest.NewUser(t, "Stranger")
	_, err := b.assign(g, b.bank, "60")
	require.NoError(t, err)
	for name, tc := range map[string]struct {
		user                       budgettest.User
		goal, wallet, amount, date string
		code                       codes.Code
		reason                     string
		fields                     []string
	}{
		"a malformed goal": {
			b.me, "x", b.bank, "1", "2026-03-01", codes.InvalidArgument, "INVALID_GOAL_ID", nil,
		},
		"an unknown goal": {
			b.me, newID(), b.bank, "1", "2026-03-01", codes.NotFound, "GOAL_NOT_FOUND", nil,
		},
		"another user's goal": {
			stranger, g.GetId(), b.bank, "1", "2026-03-01", codes.NotFound, "GOAL_NOT_FOUND", nil,
		},
		"nothing": {
			b.me, g.GetId(), "", "", "", codes.InvalidArgument, "VALIDATION_ERROR",
			[]string{"walletId", "amount", "date"},
		},
		"invalid values": {
			b.me, g.GetId(), b.bank, "0", "2026-02-30", codes.InvalidArgument, "VALIDATION_ERROR",
			[]string{"amount", "date"},
		},
		"a malformed wallet": {
			b.me, g.GetId(), "x", "1", "2026-03-01", codes.InvalidArgument, "WALLET_NOT_FOUND",
			[]string{"walletId"},
		},
		"an unknown wallet": {
			b.me, g.GetId(), newID(), "1", "2026-03-01", codes.NotFound, "WALLET_NOT_FOUND", nil,
		},
		"more than the wallet has in the goal": {
			b.me, g.GetId(), b.bank, "-60.01", "2026-03-01", codes.FailedPrecondition,
			"ASSIGNMENT_EXCEEDS_GOAL", nil,
		},
		"another wallet": {
			b.me, g.GetId(), b.savings, "-1", "2026-03-01", codes.FailedPrecondition,
			"ASSIGNMENT_EXCEEDS_GOAL", nil,
		},
		"too much in all": {
			b.me, g.GetId(), b.savings, "999999999999.99", "2026-03-01", codes.InvalidArgument,
			"VALIDATION_ERROR",
			[]string{"amount"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			e := budgettest.Refuses(t, b.DB, tc.code, tc.reason, func() error {
				_, err := b.CreateAssignment(tc.user.Ctx, &budgetv1.CreateAssignmentRequest{
					GoalId: tc.goal, WalletId: tc.wallet, Amount: tc.amount, Date: tc.date,
				})
				return err
			})
			for i, field := range tc.fields {
				require.Equal(t, field, e.Fields[i].Name)
			}
		})
	}
	// Money can be taken back from a deleted wallet. No sum of 0 remains.
	delete(b.ledger.balances, b.bank)
	_, err = b.assign(g, b.bank, "-60")
	require.NoError(t, err)
	require.Zero(t, b.sums(t))
	_, err = b.ListAssignments(stranger.Ctx,
		&budgetv1.ListAssignmentsRequest{GoalId: g.GetId()})
	require.ErrorIs(t, err, errGoalNotFound)
}

func TestDeleteAssignment(t *testing.T) {
	t.Parallel()
	b := setup(t)
	g, other, stranger := b.goal(t, "100"), b.goal(t, "9"), budgettest.NewUser(t, "Stranger")
	given, err := b.assign(g, b.bank, "60")
	require.NoError(t, err)
	taken, err := b.assign(g, b.bank, "-20")
	require.NoError(t, err)
	for _, tc := range []struct {
		user     budgettest.User
		goal, id string
		code     codes.Code
		reason   string
	}{
		{b.me, g.GetId(), given.GetId(), codes.FailedPrecondition, "ASSIGNMENT_EXCEEDS_GOAL"},
		{b.me, other.GetId(), taken.GetId(), codes.NotFound, "ASSIGNMENT_NOT_FOUND"},
		{b.me, g.GetId(), newID(), codes.NotFound, "ASSIGNMENT_NOT_FOUND"},
		{b.me, g.GetId(), "x", codes.InvalidArgument, "ASSIGNMENT_NOT_FOUND"},
		{b.me, "x", taken.GetId(), codes.InvalidArgument, "INVALID_GOAL_ID"},
		{stranger, g.GetId(), taken.GetId(), codes.NotFound, "GOAL_NOT_FOUND"},
	} {
		budgettest.Refuses(t, b.DB, tc.code, tc.reason, func() error {
			_, err := b.DeleteAssignment(tc.user.Ctx, &budgetv1.DeleteAssignmentRequest{
				GoalId: tc.goal, AssignmentId: tc.id,
			})
			return err
		})
	}
	b.events(t)
	require.NoError(t, b.unassign(taken))
	events := b.events(t)
	require.Len(t, events, 1)
	requireEqual(t, &budgetv1.AssignmentDeleted{Assignment: taken}, events[0])
	require.Equal(t, "60.00", b.get(t, g).GetProgress().GetSaved())
	require.NoError(t, b.unassign(given))
	require.Equal(t, "0.00", b.get(t, g).GetProgress().GetSaved())
	require.Zero(t, b.sums(t))
}

// TestDeleteAssignmentRange deletes money that was taken back: the savings would exceed the largest
// amount, and the sums of all goals an int64.
func TestDeleteAssignmentRange(t *testing.T) {
	t.Parallel()
	b := setup(t)
	g := b.goal(t, "100")
	_, err := b.assign(g, b.bank, "999999999999.99")
	require.NoError(t, err)
	taken, err := b.assign(g, b.bank, "-0.01")
	require.NoError(t, err)
	last, err := b.assign(g, b.savings, "0.01")
	require.NoError(t, err)
	e := budgettest.Refuses(t, b.DB, codes.InvalidArgument, "VALIDATION_ERROR", func() error {
		return b.unassign(taken)
	})
	require.Equal(t, "assignmentId", e.Fields[0].Name)
	require.NoError(t, b.unassign(last))
	require.NoError(t, b.unassign(taken))
	require.Equal(t, "999999999999.99", b.get(t, g).GetProgress().GetSaved())
}

// TestAssignmentsConcurrently takes money back and deletes the assignment of it at the same time.
// Only so many of the calls succeed as the goal has money.
func TestAssignmentsConcurrently(t *testing.T) {
	t.Parallel()
	b := setup(t)
	g := b.goal(t, "100")
	given, err := b.assign(g, b.bank, "30")
	require.NoError(t, err)
	_, err = b.assign(g, b.savings, "30")
	require.NoError(t, err)
	errs := b.raceFor(t, g, func(i int) error {
		if i == 0 {
			return b.unassign(given)
		}
		_, err := b.assign(g, b.bank, "-15")
		return err
	})
	won, left := 0, 30
	for i, err := range errs {
		switch {
		case err != nil:
			require.ErrorIs(t, err, errExceedsGoal)
			continue
		case i == 0:
			left -= 30
		default:
			left -= 15
		}
		won++
	}
	require.Zero(t, left, "%v", errs)
	require.LessOrEqual(t, won, 2)
	require.Equal(t, "30.00", b.get(t, g).GetProgress().GetSaved())
}

// TestAssignmentsReachOnce assigns the last amount several times at once.
func TestAssignmentsReachOnce(t *testing.T) {
	t.Parallel()
	b := setup(t)
	g := b.goal(t, "10")
	for _, err := range b.raceFor(t, g, func(int) error {
		_, err := b.assign(g, b.bank, "10")
		return err
	}) {
		require.NoError(t, err)
	}
	require.EqualValues(t, 1, b.notified(t))
	require.Equal(t, "60.00", b.get(t, g).GetProgress().GetSaved())
}

func TestCreateAssignmentLimit(t *testing.T) {
	t.Parallel()
	b := setup(t)
	g := b.goal(t, "10")
	a, err := b.assign(g, b.bank, "1")
	require.NoError(t, err)
	pgtest.Exec(t, b.DB, `
		INSERT INTO assignments (owner_id, goal_id, id, wallet_id, amount_minor, day, created_at)
		SELECT owner_id, goal_id, gen_random_uuid(), wallet_id, amount_minor, day, created_at
		FROM assignments, generate_series(1, $2::int)
		WHERE id = $1`, a.GetId(), maxAssignments-3)
	budgettest.RequireWinners(t, 2, errAssignmentLimit, b.raceFor(t, g, func(int) error {
		_, err := b.assign(g, b.bank, "1")
		return err
	}))
}

// TestAssignmentsWithoutLedger requires an error for new money, because the wallet is not known.
func TestAssignmentsWithoutLedger(t *testing.T) {
	t.Parallel()
	b := setup(t)
	g := b.goal(t, "10")
	b.ledger.unavailable = apierr.Unavailable
	budgettest.Refuses(t, b.DB, codes.Unavailable, "SERVICE_UNAVAILABLE", func() error {
		_, err := b.assign(g, b.bank, "1")
		return err
	})
	require.Equal(t, "0.00", b.get(t, g).GetProgress().GetSaved())
}
