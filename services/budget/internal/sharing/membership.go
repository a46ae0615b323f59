package sharing

import (
	"context"

	"github.com/jackc/pgx/v5"

	"github.com/coffer-budget/coffer/internal/apierr"
	"github.com/coffer-budget/coffer/internal/pg"
	budgetv1 "github.com/coffer-budget/coffer/proto/gen/coffer/budget/v1"
	"github.com/coffer-budget/coffer/services/budget/internal/notification"
)

// MemberChange is a request to change a membership: an answer, or terms (role and share). Status
// and Response are two names of the answer. An empty SharePercent removes the share.
type MemberChange struct {
	Thing, Member, IfMatch               string
	Status, Response, Role, SharePercent *string
}

// ChangeMember stores the answer of the invited user, or the owner's change of role and share. No
// user may do both, so a request with both is forbidden.
func (s *Members) ChangeMember(
	ctx context.Context, req MemberChange,
) (*budgetv1.Member, string, error) {
	id, memberID, err := s.parsePath(req.Thing, req.Member)
	if err != nil {
		return nil, "", err
	}
	change, err := parseMemberChange(req)
	if err != nil {
		return nil, "", err
	}
	var changed Member
	err = pg.InTx(ctx, s.DB, func(tx pgx.Tx) error {
		t, before, err := s.lockedMember(ctx, tx, id, memberID, req.IfMatch)
		if err != nil {
			return err
		}
		changed, err = s.changeMember(ctx, tx, t, before, change)
		return err
	})
	if err != nil {
		return nil, "", err
	}
	return s.named(ctx, []Member{changed})[0], changed.etag(), nil
}

// changeMember applies a change that the acting user may make. It returns INSUFFICIENT_PERMISSIONS
// for terms that are not from the owner, and for an answer that is not the member's own.
func (s *Members) changeMember(
	ctx context.Context, tx pgx.Tx, t Thing, m Member, c memberChange,
) (Member, error) {
	if c.hasTerms() && !t.Role().May(changeMembers) || c.answer != absent && m.UserID != t.UserID {
		return Member{}, errInsufficientPermissions
	}
	if c.hasTerms() {
		return s.changeTerms(ctx, tx, t, m, c)
	}
	return s.answer(ctx, tx, t, m, c.answer)
}

// answer stores a member's answer and notifies the owner. A member who accepted may still leave by
// rejecting. The two events differ in the name of the thing: a member who left must not receive a
// later name (ADR 45).
func (s *Members) answer(
	ctx context.Context, tx pgx.Tx, t Thing, before Member, answer Status,
) (Member, error) {
	changes, permitted := before.Status.to(answer, byMember)
	// A rejected invitation cannot be accepted any more. The owner may send another one.
	if !permitted {
		return Member{}, errInsufficientPermissions
	}
	if !changes {
		return before, nil
	}
	after := before
	// A member who leaves knows the current name.
	after.KnownName = new(before.nameOf(t))
	after.Status, after.RespondedAt = answer, new(s.Now().UTC())
	// The answer ends an invitation by mail, so that the owner sees the user.
	after.InvitationID, after.Email, after.ExpiresAt = nil, nil, nil
	if err := s.upsertMember(ctx, tx, after); err != nil {
		return Member{}, err
	}
	if answer == rejected {
		if err := s.leaves(ctx, tx, before); err != nil {
			return Member{}, err
		}
	}
	answered := func(name string) *budgetv1.InvitationAnswered {
		l := s.label(t.ID.String(), name)
		return &budgetv1.InvitationAnswered{
			BudgetId: l.BudgetID, BudgetName: l.BudgetName, GoalId: l.GoalID, GoalName: l.GoalName,
			OwnerId: t.OwnerID.String(), MemberId: after.UserID.String(),
			Status: string(after.Status), PreviousStatus: string(before.Status),
		}
	}
	return after, s.Notifications.PublishEach(ctx, tx,
		notification.Addressed{User: t.OwnerID, Data: answered(t.Name)},
		notification.Addressed{User: after.UserID, Data: answered(after.nameOf(t))})
}

// changeTerms sets role and share. It holds the lock of the thing, so that simultaneous changes and
// invitations cannot exceed 100 percent in total.
func (s *Members) changeTerms(
	ctx context.Context, tx pgx.Tx, t Thing, before Member, change memberChange,
) (Member, error) {
	if before.Status == rejected {
		return Member{}, errInsufficientPermissions
	}
	// A change that sets the stored values publishes nothing.
	after := change.apply(before)
	if after.Role == before.Role && equalShares(after.ShareBP, before.ShareBP) {
		return before, nil
	}
	if err := s.checkShares(ctx, tx, before, after.ShareBP); err != nil {
		return Member{}, err
	}
	if err := s.upsertMember(ctx, tx, after); err != nil {
		return Member{}, err
	}
	updated := func(name string) *budgetv1.MemberUpdated {
		l := s.label(t.ID.String(), name)
		return &budgetv1.MemberUpdated{
			BudgetId: l.BudgetID, BudgetName: l.BudgetName, GoalId: l.GoalID, GoalName: l.GoalName,
			OwnerId: t.OwnerID.String(), MemberId: before.UserID.String(), Role: after.Role,
			SharePercent: after.sharePercent(), PreviousRole: before.Role,
			PreviousSharePercent: before.sharePercent(),
		}
	}
	return after, s.Notifications.PublishEach(ctx, tx,
		notification.Addressed{User: t.OwnerID, Data: updated(t.Name)},
		notification.Addressed{User: before.UserID, Data: updated(before.nameOf(t))})
}

// checkShares returns s.shareExceeded when a new share of the member would bring the total over
// 100 percent. The budget must be locked.
func (s *Members) checkShares(ctx context.Context, tx pgx.Tx, m Member, share *int32) error {
	if share == nil {
		return nil
	}
	others, err := s.sumOtherShares(ctx, tx, m)
	if err != nil {
		return err
	}
	if others+int64(*share) > maxShareBP {
		return s.shareExceeded
	}
	return nil
}

// memberChange is a request to change a membership: an answer, or terms (role and share).
type memberChange struct {
	// answer is absent when the request has none.
	answer Status
	role   *string
	// share replaces the member's share if setShare is true; nil removes it.
	share    *int32
	setShare bool
}

// hasTerms reports whether the request changes role or share, which only the owner may do.
func (c memberChange) hasTerms() bool { return c.role != nil || c.setShare }

func (c memberChange) apply(m Member) Member {
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
func parseMemberChange(req MemberChange) (memberChange, error) {
	var problems apierr.Problems
	var parsed memberChange
	if req.Role != nil {
		parsed.role = new(parseRole(&problems, *req.Role))
	}
	if req.SharePercent != nil {
		parsed.setShare = true
		// An empty value is the JSON null that removes the share.
		if *req.SharePercent != "" {
			parsed.share = parsePercent(&problems, *req.SharePercent)
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
func parseAnswer(req MemberChange) (Status, *apierr.Error) {
	answer := req.Status
	if answer == nil {
		answer = req.Response
	}
	if answer == nil || req.Response != nil && *req.Response != *answer {
		return absent, errInvalidInviteResponse
	}
	if s := Status(*answer); s == Accepted || s == rejected {
		return s, nil
	}
	return absent, errInvalidInviteResponse
}
