package budget

import (
	"context"

	"github.com/jackc/pgx/v5"

	"github.com/coffer-budget/coffer/internal/apierr"
	"github.com/coffer-budget/coffer/internal/etag"
	"github.com/coffer-budget/coffer/internal/pg"
	budgetv1 "github.com/coffer-budget/coffer/proto/gen/coffer/budget/v1"
	"github.com/coffer-budget/coffer/services/budget/internal/notification"
)

// RespondToInvitation stores the answer of the invited user, or the owner's change of role and
// share. No user may do both, so a request with both is forbidden.
func (s *server) RespondToInvitation(
	ctx context.Context, req *budgetv1.RespondToInvitationRequest,
) (*budgetv1.RespondToInvitationResponse, error) {
	budgetID, memberID, err := parseMemberPath(req.GetBudgetId(), req.GetMemberId())
	if err != nil {
		return nil, err
	}
	change, err := parseMemberChange(req)
	if err != nil {
		return nil, err
	}
	var changed member
	err = pg.InTx(ctx, s.db, func(tx pgx.Tx) error {
		b, before, err := s.lockedMember(ctx, tx, budgetID, memberID, req.GetIfMatch())
		if err != nil {
			return err
		}
		changed, err = s.changeMember(ctx, tx, b, before, change)
		return err
	})
	if err != nil {
		return nil, err
	}
	return &budgetv1.RespondToInvitationResponse{
		Member: s.named(ctx, []member{changed})[0], Etag: etag.Format(changed.version()),
	}, nil
}

// changeMember applies a change that the acting user may make. It returns INSUFFICIENT_PERMISSIONS
// for terms that are not from the owner, and for an answer that is not the member's own.
func (s *server) changeMember(
	ctx context.Context, tx pgx.Tx, b seenBudget, m member, c memberChange,
) (member, error) {
	if c.hasTerms() && !b.role().may(changeMembers) || c.answer != absent && m.UserID != b.UserID {
		return member{}, errInsufficientPermissions
	}
	if c.hasTerms() {
		return s.changeTerms(ctx, tx, b, m, c)
	}
	return s.answer(ctx, tx, b, m, c.answer)
}

// answer stores a member's answer and notifies the owner. A member who accepted may still leave by
// rejecting. The two events differ in the name of the budget: a member who left must not receive a
// later name (ADR 45).
func (s *server) answer(
	ctx context.Context, tx pgx.Tx, seen seenBudget, current member, answer status,
) (member, error) {
	changes, permitted := current.Status.to(answer, byMember)
	// A rejected invitation cannot be accepted any more. The owner may send another one.
	if !permitted {
		return member{}, errInsufficientPermissions
	}
	if !changes {
		return current, nil
	}
	before := current.Status
	// A member who leaves knows the current name.
	current.KnownName = new(current.nameOf(seen.budget))
	current.Status, current.RespondedAt = answer, new(s.now().UTC())
	// The answer ends an invitation by mail, so that the owner sees the user.
	current.InvitationID, current.Email, current.ExpiresAt = nil, nil, nil
	if err := upsertMember(ctx, tx, current); err != nil {
		return member{}, err
	}
	answered := func(name string) *budgetv1.InvitationAnswered {
		return &budgetv1.InvitationAnswered{
			BudgetId: seen.ID.String(), BudgetName: name, OwnerId: seen.OwnerID.String(),
			MemberId: current.UserID.String(), Status: string(current.Status),
			PreviousStatus: string(before),
		}
	}
	return current, s.notifications.PublishEach(ctx, tx,
		notification.Addressed{User: seen.OwnerID, Data: answered(seen.Name)},
		notification.Addressed{User: current.UserID, Data: answered(current.nameOf(seen.budget))})
}

// changeTerms sets role and share. It holds the budget's lock, so that simultaneous changes and
// invitations cannot exceed 100 percent in total.
func (s *server) changeTerms(
	ctx context.Context, tx pgx.Tx, seen seenBudget, before member, change memberChange,
) (member, error) {
	if before.Status == rejected {
		return member{}, errInsufficientPermissions
	}
	// A change that sets the stored values publishes nothing.
	after := change.apply(before)
	if after.Role == before.Role && equalShares(after.ShareBP, before.ShareBP) {
		return before, nil
	}
	if err := checkShares(ctx, tx, before, after.ShareBP); err != nil {
		return member{}, err
	}
	if err := upsertMember(ctx, tx, after); err != nil {
		return member{}, err
	}
	updated := func(name string) *budgetv1.MemberUpdated {
		return &budgetv1.MemberUpdated{
			BudgetId: seen.ID.String(), BudgetName: name, OwnerId: seen.OwnerID.String(),
			MemberId: before.UserID.String(), Role: after.Role, SharePercent: after.sharePercent(),
			PreviousRole: before.Role, PreviousSharePercent: before.sharePercent(),
		}
	}
	return after, s.notifications.PublishEach(ctx, tx,
		notification.Addressed{User: seen.OwnerID, Data: updated(seen.Name)},
		notification.Addressed{User: before.UserID, Data: updated(before.nameOf(seen.budget))})
}

// checkShares returns errShareExceeded when a new share of the member would bring the total over
// 100 percent. The budget must be locked.
func checkShares(ctx context.Context, tx pgx.Tx, m member, share *int32) error {
	if share == nil {
		return nil
	}
	others, err := sumOtherShares(ctx, tx, m)
	if err != nil {
		return err
	}
	if others+int64(*share) > maxShareBP {
		return errShareExceeded
	}
	return nil
}

// memberChange is a request to change a membership: an answer, or terms (role and share).
type memberChange struct {
	// answer is absent when the request has none.
	answer status
	role   *string
	// share replaces the member's share if setShare is true; nil removes it.
	share    *int32
	setShare bool
}

// hasTerms reports whether the request changes role or share, which only the owner may do.
func (c memberChange) hasTerms() bool { return c.role != nil || c.setShare }

func (c memberChange) apply(m member) member {
	if c.role != nil {
		m.Role = *c.role
	}
	if c.setShare {
		m.ShareBP = c.share
	}
	return m
}

func equalShares(a, b *int32) bool {
	return (a == nil) == (b == nil) && (a == nil || *a == *b)
}

// parseMemberChange returns the change of a request. A request must have a role, a share or an
// answer to the invitation.
func parseMemberChange(req *budgetv1.RespondToInvitationRequest) (memberChange, error) {
	var problems apierr.Problems
	var parsed memberChange
	if req.Role != nil {
		parsed.role = new(parseRole(&problems, req.GetRole()))
	}
	if req.SharePercent != nil {
		parsed.setShare = true
		// An empty value is the JSON null that removes the share.
		if req.GetSharePercent() != "" {
			parsed.share = parsePercent(&problems, req.GetSharePercent())
		}
	}
	if !parsed.hasTerms() || req.Status != nil || req.Response != nil {
		var problem *apierr.Error
		if parsed.answer, problem = parseAnswer(req); problem != nil {
			problems.Add(problem)
		}
	}
	return parsed, problems.Err()
}

// parseAnswer returns the answer from status or response, or from both if they are equal.
func parseAnswer(req *budgetv1.RespondToInvitationRequest) (status, *apierr.Error) {
	answer := req.Status
	if answer == nil {
		answer = req.Response
	}
	if answer == nil || req.Response != nil && *req.Response != *answer {
		return absent, errInvalidInviteResponse
	}
	if s := status(*answer); s == accepted || s == rejected {
		return s, nil
	}
	return absent, errInvalidInviteResponse
}
