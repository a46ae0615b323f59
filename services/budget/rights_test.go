package budget

import (
	"slices"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"

	"github.com/coffer-budget/coffer/internal/pg/pgtest"
	budgetv1 "github.com/coffer-budget/coffer/proto/gen/coffer/budget/v1"
	"github.com/coffer-budget/coffer/services/budget/internal/budgettest"
)

// TestRights calls the RPC of each operation as a user in each role, with a separate budget for
// each call.
func TestRights(t *testing.T) {
	t.Parallel()
	allRoles := []string{"owner", "editor", "viewer", "invited", "rejected", "stranger"}
	type attempt struct {
		*bundle
		who, other budgettest.User
		id         string
	}
	// ofMember are the operations on the own membership, which an owner does not have.
	ofMember := []string{"accept", "reject", "leave", "change one's own role"}
	operations := map[string]struct {
		allowed []string
		try     func(a attempt) error
	}{
		"get": {[]string{"owner", "editor", "viewer"}, func(a attempt) error {
			_, err := a.GetBudget(a.who.Ctx, &budgetv1.GetBudgetRequest{Id: a.id})
			return err
		}},
		"list members": {[]string{"owner", "editor", "viewer"}, func(a attempt) error {
			_, err := a.ListMembers(a.who.Ctx, &budgetv1.ListMembersRequest{BudgetId: a.id})
			return err
		}},
		"list limits": {[]string{"owner", "editor", "viewer"}, func(a attempt) error {
			_, err := a.ListLimits(a.who.Ctx, &budgetv1.ListLimitsRequest{BudgetId: a.id})
			return err
		}},
		"update": {[]string{"owner", "editor"}, func(a attempt) error {
			_, err := a.UpdateBudget(a.who.Ctx,
				&budgetv1.UpdateBudgetRequest{Id: a.id, Name: new("Changed")})
			return err
		}},
		"delete": {[]string{"owner"}, func(a attempt) error {
			_, err := a.DeleteBudget(a.who.Ctx, &budgetv1.DeleteBudgetRequest{Id: a.id})
			return err
		}},
		"share": {[]string{"owner"}, func(a attempt) error {
			_, err := a.ShareBudget(a.who.Ctx,
				&budgetv1.ShareBudgetRequest{BudgetId: a.id, Email: "friend@example.com"})
			return err
		}},
		"remove another member": {[]string{"owner"}, func(a attempt) error {
			_, err := a.RemoveMember(a.who.Ctx,
				&budgetv1.RemoveMemberRequest{BudgetId: a.id, MemberId: a.other.ID.String()})
			return err
		}},
		"change another member": {[]string{"owner"}, func(a attempt) error {
			_, err := a.RespondToInvitation(a.who.Ctx, &budgetv1.RespondToInvitationRequest{
				BudgetId: a.id, MemberId: a.other.ID.String(), Role: new("editor"),
			})
			return err
		}},
		"change one's own role": {nil, func(a attempt) error {
			_, err := a.RespondToInvitation(a.who.Ctx, &budgetv1.RespondToInvitationRequest{
				BudgetId: a.id, MemberId: a.who.ID.String(), Role: new("editor"),
			})
			return err
		}},
		"answer for another": {nil, func(a attempt) error {
			_, err := a.RespondToInvitation(a.who.Ctx, &budgetv1.RespondToInvitationRequest{
				BudgetId: a.id, MemberId: a.other.ID.String(), Status: new("accepted"),
			})
			return err
		}},
		"accept": {[]string{"editor", "viewer", "invited"}, func(a attempt) error {
			_, err := a.respond(a.who, a.id, "accepted")
			return err
		}},
		"reject": {[]string{"editor", "viewer", "invited", "rejected"}, func(a attempt) error {
			_, err := a.respond(a.who, a.id, "rejected")
			return err
		}},
		"leave": {[]string{"editor", "viewer", "invited", "rejected"}, func(a attempt) error {
			_, err := a.RemoveMember(a.who.Ctx,
				&budgetv1.RemoveMemberRequest{BudgetId: a.id, MemberId: a.who.ID.String()})
			return err
		}},
	}
	for name, operation := range operations {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			env := setup(t)
			users := map[string]budgettest.User{}
			for _, role := range append(allRoles, "friend", "other") {
				users[role] = env.user(t, role)
			}
			for _, role := range allRoles {
				id := env.budget(t, users["owner"]).GetId()
				env.join(t, users["owner"], id, users["editor"], "editor")
				env.join(t, users["owner"], id, users["viewer"], "viewer")
				env.share(t, users["owner"], id, users["invited"], "editor")
				env.share(t, users["owner"], id, users["other"], "viewer")
				env.share(t, users["owner"], id, users["rejected"], "editor")
				_, err := env.respond(users["rejected"], id, "rejected")
				require.NoError(t, err)

				a := attempt{env, users[role], users["other"], id}
				try := func() error { return operation.try(a) }
				if slices.Contains(operation.allowed, role) {
					require.NoError(t, try(), role)
				} else if role == "owner" && slices.Contains(ofMember, name) {
					budgettest.Refuses(t, env.db, codes.NotFound, "BUDGET_MEMBER_NOT_FOUND", try)
				} else {
					e := budgettest.Refuses(t, env.db, codes.PermissionDenied,
						"INSUFFICIENT_PERMISSIONS", try)
					require.Equal(t, "You do not have permission to perform this action", e.Message)
				}
			}
		})
	}
}

func TestBudgetIDErrors(t *testing.T) {
	t.Parallel()
	env := setup(t)
	owner := env.user(t, "Owner")
	mine := env.budget(t, owner).GetId()
	calls := map[string]func(id string) error{
		"get": func(id string) error {
			_, err := env.GetBudget(owner.Ctx, &budgetv1.GetBudgetRequest{Id: id})
			return err
		},
		"update": func(id string) error {
			_, err := env.UpdateBudget(owner.Ctx,
				&budgetv1.UpdateBudgetRequest{Id: id, Name: new("x")})
			return err
		},
		"delete": func(id string) error {
			_, err := env.DeleteBudget(owner.Ctx, &budgetv1.DeleteBudgetRequest{Id: id})
			return err
		},
		"share": func(id string) error {
			_, err := env.ShareBudget(owner.Ctx,
				&budgetv1.ShareBudgetRequest{BudgetId: id, Email: "a@example.com"})
			return err
		},
		"members": func(id string) error {
			_, err := env.ListMembers(owner.Ctx, &budgetv1.ListMembersRequest{BudgetId: id})
			return err
		},
		"limits": func(id string) error {
			_, err := env.ListLimits(owner.Ctx, &budgetv1.ListLimitsRequest{BudgetId: id})
			return err
		},
		"respond": func(id string) error {
			_, err := env.respond(owner, id, "accepted")
			return err
		},
		"remove": func(id string) error {
			_, err := env.RemoveMember(owner.Ctx,
				&budgetv1.RemoveMemberRequest{BudgetId: id, MemberId: owner.ID.String()})
			return err
		},
	}
	for _, call := range calls {
		for _, bad := range []string{
			"", "7", "not-a-uuid", mine + "0", "{" + mine + "}", "urn:uuid:" + mine,
			mine[:35] + "g",
		} {
			budgettest.Refuses(t, env.db, codes.InvalidArgument, "INVALID_BUDGET_ID",
				func() error { return call(bad) })
		}
		for _, unknown := range []string{uuid.NewString(), uuid.Nil.String()} {
			budgettest.Refuses(t, env.db, codes.NotFound, "BUDGET_NOT_FOUND",
				func() error { return call(unknown) })
		}
	}
	for _, bad := range []string{"", "me", "{" + owner.ID.String() + "}"} {
		budgettest.Refuses(t, env.db, codes.InvalidArgument, "INVALID_BUDGET_MEMBER_ID",
			pgtest.Call(owner.Ctx, env.RemoveMember,
				&budgetv1.RemoveMemberRequest{BudgetId: mine, MemberId: bad}))
	}
	for _, unknown := range []string{uuid.NewString(), uuid.Nil.String()} {
		budgettest.Refuses(t, env.db, codes.NotFound, "BUDGET_MEMBER_NOT_FOUND",
			pgtest.Call(owner.Ctx, env.RemoveMember,
				&budgetv1.RemoveMemberRequest{BudgetId: mine, MemberId: unknown}))
	}
}
