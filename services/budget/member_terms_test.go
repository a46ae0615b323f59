package budget

import (
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/proto"

	"github.com/coffer-budget/coffer/internal/apierr"
	"github.com/coffer-budget/coffer/internal/money"
	"github.com/coffer-budget/coffer/internal/pg/pgtest"
	budgetv1 "github.com/coffer-budget/coffer/proto/gen/coffer/budget/v1"
	"github.com/coffer-budget/coffer/services/budget/internal/budgettest"
)

func TestRespondToInvitationByOwner(t *testing.T) {
	t.Parallel()
	for _, state := range []string{"pending", "accepted"} {
		t.Run("changes role and share of "+state+" members", func(t *testing.T) {
			t.Parallel()
			env := setup(t)
			owner, guest := env.user(t, "Owner"), env.user(t, "Guest")
			id := env.budget(t, owner).GetId()
			env.share(t, owner, id, guest, "viewer")
			if state == "accepted" {
				_, err := env.respond(guest, id, state)
				require.NoError(t, err)
			}
			env.events(t)
			change := func(role, share *string) *budgetv1.Member {
				resp, err := env.RespondToInvitation(owner.Ctx,
					&budgetv1.RespondToInvitationRequest{
						BudgetId: id, MemberId: guest.ID.String(), Role: role, SharePercent: share,
					})
				require.NoError(t, err)
				require.Equal(t, state, resp.GetMember().GetStatus())
				list, err := env.ListMembers(owner.Ctx, &budgetv1.ListMembersRequest{BudgetId: id})
				require.NoError(t, err)
				require.True(t, proto.Equal(resp.GetMember(), list.GetMembers()[0]), "%v", list)
				return resp.GetMember()
			}
			message := change(new("editor"), new("12.5"))
			require.Equal(t, "editor", message.GetRole())
			require.Equal(t, "12.50", message.GetSharePercent())
			require.Equal(t, "Guest", message.GetName())
			requirePublished(t, env.events(t), &budgetv1.MemberUpdated{
				BudgetId: id, BudgetName: "Groceries", OwnerId: owner.ID.String(),
				MemberId: guest.ID.String(), Role: "editor", SharePercent: new("12.50"),
				PreviousRole: "viewer",
			}, owner, guest)

			before := budgettest.State(t, env.db)
			change(new("editor"), new("12.50"))
			require.Equal(t, before, budgettest.State(t, env.db),
				"the same terms again change nothing")

			message = change(nil, new(""))
			require.Nil(t, message.SharePercent)
			require.Equal(t, "editor", message.GetRole())
			require.Len(t, env.events(t), 2)

			message = change(new("viewer"), nil)
			require.Equal(t, "viewer", message.GetRole())
			_, err := env.UpdateBudget(guest.Ctx,
				&budgetv1.UpdateBudgetRequest{Id: id, Name: new("Mine")})
			require.ErrorIs(t, err, errInsufficientPermissions)
		})
	}

	t.Run("rejects bad terms", func(t *testing.T) {
		t.Parallel()
		env := setup(t)
		owner := env.user(t, "Owner")
		guest := env.user(t, "Guest")
		other := env.user(t, "Other")
		former := env.user(t, "Gone")
		id := env.budget(t, owner).GetId()
		env.join(t, owner, id, guest, "viewer")
		env.join(t, owner, id, former, "viewer")
		_, err := env.respond(former, id, "rejected")
		require.NoError(t, err)
		_, err = env.ShareBudget(owner.Ctx,
			&budgetv1.ShareBudgetRequest{BudgetId: id, Email: other.Email, SharePercent: new("60")})
		require.NoError(t, err)
		type change = budgetv1.RespondToInvitationRequest
		for name, tc := range map[string]struct {
			by     budgettest.User
			req    *change
			code   codes.Code
			reason string
		}{
			"unknown role": {
				owner, &change{Role: new("owner")}, codes.InvalidArgument, "VALIDATION_ERROR",
			},
			"zero share": {
				owner, &change{SharePercent: new("0")}, codes.InvalidArgument, "VALIDATION_ERROR",
			},
			"total over 100": {
				owner, &change{SharePercent: new("40.01")}, codes.InvalidArgument,
				"BUDGET_SHARE_EXCEEDED",
			},
			"by the member": {
				guest, &change{Role: new("editor")}, codes.PermissionDenied,
				"INSUFFICIENT_PERMISSIONS",
			},
			"with an answer": {
				guest, &change{Role: new("editor"), Status: new("accepted")},
				codes.PermissionDenied, "INSUFFICIENT_PERMISSIONS",
			},
			"owner answers too": {
				owner, &change{Role: new("editor"), Status: new("accepted")},
				codes.PermissionDenied, "INSUFFICIENT_PERMISSIONS",
			},
			"with a bad answer": {
				owner, &change{Role: new("editor"), Status: new("yes")}, codes.InvalidArgument,
				"INVALID_INVITE_RESPONSE",
			},
			"rejected member": {
				owner, &change{MemberId: former.ID.String(), Role: new("editor")},
				codes.PermissionDenied, "INSUFFICIENT_PERMISSIONS",
			},
			"no member": {
				owner, &change{MemberId: owner.ID.String(), Role: new("editor")}, codes.NotFound,
				"BUDGET_MEMBER_NOT_FOUND",
			},
			"malformed id": {
				owner, &change{MemberId: "1", Role: new("editor")}, codes.InvalidArgument,
				"INVALID_BUDGET_MEMBER_ID",
			},
		} {
			t.Run(name, func(t *testing.T) {
				tc.req.BudgetId = id
				if tc.req.GetMemberId() == "" {
					tc.req.MemberId = guest.ID.String()
				}
				budgettest.Refuses(t, env.db, tc.code, tc.reason,
					pgtest.Call(tc.by.Ctx, env.RespondToInvitation, tc.req))
			})
		}
		_, err = env.RespondToInvitation(owner.Ctx, &budgetv1.RespondToInvitationRequest{
			BudgetId: id, MemberId: guest.ID.String(), SharePercent: new("40"),
		})
		require.NoError(t, err)
	})

	t.Run("never exceeds 100 percent with simultaneous invitations", func(t *testing.T) {
		t.Parallel()
		env := setup(t)
		owner := env.user(t, "Owner")
		id := env.budget(t, owner).GetId()
		var guests [budgettest.Racers]budgettest.User
		for i := range guests {
			guests[i] = env.user(t, string(rune('a'+i)))
			if i%2 == 0 {
				env.share(t, owner, id, guests[i], "viewer")
			}
		}
		errs := env.race(t, id, func(i int) error {
			if i%2 == 0 {
				_, err := env.RespondToInvitation(owner.Ctx, &budgetv1.RespondToInvitationRequest{
					BudgetId: id, MemberId: guests[i].ID.String(), SharePercent: new("24"),
				})
				return err
			}
			_, err := env.ShareBudget(owner.Ctx, &budgetv1.ShareBudgetRequest{
				BudgetId: id, Email: guests[i].Email, SharePercent: new("24"),
			})
			return err
		})
		budgettest.RequireWinners(t, 4, errShareExceeded, errs)
	})
}

func TestShareBudgetProblems(t *testing.T) {
	t.Parallel()
	env := setup(t)
	owner := env.user(t, "Owner")
	id := env.budget(t, owner).GetId()
	for email, problem := range map[string]string{
		"": "is required", "  ": "is required", "friend": "must be an e-mail address",
	} {
		e := budgettest.Refuses(t, env.db, codes.InvalidArgument, "VALIDATION_ERROR",
			pgtest.Call(owner.Ctx, env.ShareBudget,
				&budgetv1.ShareBudgetRequest{BudgetId: id, Email: email}))
		require.Equal(t, []apierr.Field{{Name: "email", Message: problem}}, e.Fields)
	}
}

func TestBudgetLimitProblems(t *testing.T) {
	t.Parallel()
	env := setup(t)
	owner := env.user(t, "Owner")
	id := env.budget(t, owner).GetId()
	for limit, problem := range map[string]string{
		"0": "must be greater than 0", "-1": "must be greater than 0",
		"-0.001": "must be greater than 0", "-1e15": "must be greater than 0",
		"1e15":  "must be greater than 0 and at most 999999999999.99",
		"0.001": money.ErrDecimals.Error(), "x": money.ErrSyntax.Error(),
	} {
		create := newBudget()
		create.Name, create.Limit = "Another", limit
		for _, call := range []func() error{
			pgtest.Call(owner.Ctx, env.CreateBudget, create),
			pgtest.Call(owner.Ctx, env.UpdateBudget,
				&budgetv1.UpdateBudgetRequest{Id: id, Limit: &limit}),
		} {
			e := budgettest.Refuses(t, env.db, codes.InvalidArgument, "VALIDATION_ERROR", call)
			require.Equal(t, []apierr.Field{{Name: "limit", Message: problem}}, e.Fields, limit)
		}
	}
}
