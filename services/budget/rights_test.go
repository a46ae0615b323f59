package budget

import (
	"slices"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"

	budgetv1 "github.com/coffer-budget/coffer/proto/gen/coffer/budget/v1"
)

func TestAMembershipMovesOnlyAsTheContractSays(t *testing.T) {
	t.Parallel()
	allowed := map[move]bool{
		{absent, byOwner, pending}: true, {rejected, byOwner, pending}: true,
		{pending, byMember, accepted}: true, {pending, byMember, rejected}: true, {accepted, byMember, rejected}: true,
	}
	same := map[move]bool{{accepted, byMember, accepted}: true, {rejected, byMember, rejected}: true}
	all := []status{absent, pending, accepted, rejected}
	for _, from := range all {
		for _, to := range all {
			for _, by := range []side{byOwner, byMember} {
				changes, permitted := from.to(to, by)
				m := move{from, by, to}
				require.Equal(t, allowed[m], changes, "%v", m)
				require.Equal(t, allowed[m] || same[m], permitted, "%v", m)
			}
		}
	}
}

// Each operation is tried by everybody through its RPC, on a budget of its own.
func TestEverybodyMayDoWhatTheirRoleAllowsAndNothingElse(t *testing.T) {
	t.Parallel()
	everybody := []string{"owner", "editor", "viewer", "invited", "rejected", "stranger"}
	operations := map[string]struct {
		allowed []string
		try     func(b *bundle, who person, id string, other person) error
	}{
		"get": {[]string{"owner", "editor", "viewer"}, func(b *bundle, who person, id string, _ person) error {
			_, err := b.GetBudget(who.ctx, &budgetv1.GetBudgetRequest{Id: id})
			return err
		}},
		"list members": {[]string{"owner", "editor", "viewer"}, func(b *bundle, who person, id string, _ person) error {
			_, err := b.ListMembers(who.ctx, &budgetv1.ListMembersRequest{BudgetId: id})
			return err
		}},
		"update": {[]string{"owner", "editor"}, func(b *bundle, who person, id string, _ person) error {
			_, err := b.UpdateBudget(who.ctx, &budgetv1.UpdateBudgetRequest{Id: id, Name: new("Changed")})
			return err
		}},
		"delete": {[]string{"owner"}, func(b *bundle, who person, id string, _ person) error {
			_, err := b.DeleteBudget(who.ctx, &budgetv1.DeleteBudgetRequest{Id: id})
			return err
		}},
		"share": {[]string{"owner"}, func(b *bundle, who person, id string, _ person) error {
			_, err := b.ShareBudget(who.ctx, &budgetv1.ShareBudgetRequest{BudgetId: id, Email: "friend@example.com"})
			return err
		}},
		"remove another member": {[]string{"owner"}, func(b *bundle, who person, id string, other person) error {
			_, err := b.RemoveMember(who.ctx, &budgetv1.RemoveMemberRequest{BudgetId: id, MemberId: other.id.String()})
			return err
		}},
		"change another member": {[]string{"owner"}, func(b *bundle, who person, id string, other person) error {
			_, err := b.RespondToInvitation(who.ctx, &budgetv1.RespondToInvitationRequest{BudgetId: id, MemberId: other.id.String(), Role: new("editor")})
			return err
		}},
		"change one's own role": {nil, func(b *bundle, who person, id string, _ person) error {
			_, err := b.RespondToInvitation(who.ctx, &budgetv1.RespondToInvitationRequest{BudgetId: id, MemberId: who.id.String(), Role: new("editor")})
			return err
		}},
		"answer for another": {nil, func(b *bundle, who person, id string, other person) error {
			_, err := b.RespondToInvitation(who.ctx, &budgetv1.RespondToInvitationRequest{BudgetId: id, MemberId: other.id.String(), Status: new("accepted")})
			return err
		}},
		"accept": {[]string{"editor", "viewer", "invited"}, func(b *bundle, who person, id string, _ person) error {
			_, err := b.respond(who, id, "accepted")
			return err
		}},
		"reject": {[]string{"editor", "viewer", "invited", "rejected"}, func(b *bundle, who person, id string, _ person) error {
			_, err := b.respond(who, id, "rejected")
			return err
		}},
		"leave": {[]string{"editor", "viewer", "invited", "rejected"}, func(b *bundle, who person, id string, _ person) error {
			_, err := b.RemoveMember(who.ctx, &budgetv1.RemoveMemberRequest{BudgetId: id, MemberId: who.id.String()})
			return err
		}},
	}
	for name, operation := range operations {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			people := map[string]person{}
			for _, role := range append(everybody, "friend", "other") {
				people[role] = b.person(t, role)
			}
			for _, role := range everybody {
				id := b.budget(t, people["owner"]).GetId()
				b.join(t, people["owner"], id, people["editor"], "editor")
				b.join(t, people["owner"], id, people["viewer"], "viewer")
				b.share(t, people["owner"], id, people["invited"], "editor")
				b.share(t, people["owner"], id, people["other"], "viewer")
				b.share(t, people["owner"], id, people["rejected"], "editor")
				_, err := b.respond(people["rejected"], id, "rejected")
				require.NoError(t, err)

				try := func() error { return operation.try(b, people[role], id, people["other"]) }
				if slices.Contains(operation.allowed, role) {
					require.NoError(t, try(), role)
				} else if role == "owner" && slices.Contains([]string{"accept", "reject", "leave", "change one's own role"}, name) {
					b.refuses(t, codes.NotFound, "BUDGET_MEMBER_NOT_FOUND", try)
				} else {
					e := b.refuses(t, codes.PermissionDenied, "INSUFFICIENT_PERMISSIONS", try)
					require.Equal(t, "You do not have permission to perform this action", e.Message)
				}
			}
		})
	}
}

func TestMalformedAndUnknownIDsAreToldApart(t *testing.T) {
	t.Parallel()
	b := setup(t)
	owner := b.person(t, "Owner")
	mine := b.budget(t, owner).GetId()
	calls := map[string]func(id string) error{
		"get": func(id string) error {
			_, err := b.GetBudget(owner.ctx, &budgetv1.GetBudgetRequest{Id: id})
			return err
		},
		"update": func(id string) error {
			_, err := b.UpdateBudget(owner.ctx, &budgetv1.UpdateBudgetRequest{Id: id, Name: new("x")})
			return err
		},
		"delete": func(id string) error {
			_, err := b.DeleteBudget(owner.ctx, &budgetv1.DeleteBudgetRequest{Id: id})
			return err
		},
		"share": func(id string) error {
			_, err := b.ShareBudget(owner.ctx, &budgetv1.ShareBudgetRequest{BudgetId: id, Email: "a@example.com"})
			return err
		},
		"members": func(id string) error {
			_, err := b.ListMembers(owner.ctx, &budgetv1.ListMembersRequest{BudgetId: id})
			return err
		},
		"respond": func(id string) error {
			_, err := b.respond(owner, id, "accepted")
			return err
		},
		"remove": func(id string) error {
			_, err := b.RemoveMember(owner.ctx, &budgetv1.RemoveMemberRequest{BudgetId: id, MemberId: owner.id.String()})
			return err
		},
	}
	for _, call := range calls {
		for _, bad := range []string{"", "7", "not-a-uuid", mine + "0", "{" + mine + "}", "urn:uuid:" + mine, mine[:35] + "g"} {
			b.refuses(t, codes.InvalidArgument, "INVALID_BUDGET_ID", func() error { return call(bad) })
		}
		for _, unknown := range []string{uuid.NewString(), uuid.Nil.String()} {
			b.refuses(t, codes.NotFound, "BUDGET_NOT_FOUND", func() error { return call(unknown) })
		}
	}
	for _, bad := range []string{"", "me", "{" + owner.id.String() + "}"} {
		b.refuses(t, codes.InvalidArgument, "INVALID_BUDGET_MEMBER_ID", func() error {
			_, err := b.RemoveMember(owner.ctx, &budgetv1.RemoveMemberRequest{BudgetId: mine, MemberId: bad})
			return err
		})
	}
	for _, unknown := range []string{uuid.NewString(), uuid.Nil.String()} {
		b.refuses(t, codes.NotFound, "BUDGET_MEMBER_NOT_FOUND", func() error {
			_, err := b.RemoveMember(owner.ctx, &budgetv1.RemoveMemberRequest{BudgetId: mine, MemberId: unknown})
			return err
		})
	}
}
