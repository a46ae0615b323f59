package goals

import (
	"context"

	budgetv1 "github.com/coffer-budget/coffer/proto/gen/coffer/budget/v1"
	"github.com/coffer-budget/coffer/services/budget/internal/sharing"
)

// ShareGoal invites a user to a goal, or an e-mail by mail. Only the owner may invite.
func (s *Server) ShareGoal(
	ctx context.Context, req *budgetv1.ShareGoalRequest,
) (resp *budgetv1.ShareGoalResponse, err error) {
	resp = &budgetv1.ShareGoalResponse{}
	answer := sharing.NewAnswer(ctx, req, resp, func(m *budgetv1.Member, etag string) {
		resp.Member, resp.Etag = goalMember(m), etag
	})
	resp.Replayed, err = s.Members.Share(ctx, sharing.Invite{
		Thing: req.GetGoalId(), Email: req.GetEmail(), Role: req.Role,
		SharePercent: req.SharePercent, ByMail: req.GetInvite(),
	}, answer)
	if err != nil {
		return nil, err
	}
	return resp, nil
}

// ResendGoalInvitation sends the mail of an invitation again.
func (s *Server) ResendGoalInvitation(
	ctx context.Context, req *budgetv1.ResendGoalInvitationRequest,
) (resp *budgetv1.ResendGoalInvitationResponse, err error) {
	resp = &budgetv1.ResendGoalInvitationResponse{}
	answer := sharing.NewAnswer(ctx, req, resp, func(m *budgetv1.Member, _ string) {
		resp.Member = goalMember(m)
	})
	resp.Replayed, err = s.Members.Resend(ctx, req.GetGoalId(), req.GetInvitationId(), answer)
	if err != nil {
		return nil, err
	}
	return resp, nil
}

// WithdrawGoalInvitation deletes an invitation by mail.
func (s *Server) WithdrawGoalInvitation(
	ctx context.Context, req *budgetv1.WithdrawGoalInvitationRequest,
) (*budgetv1.WithdrawGoalInvitationResponse, error) {
	id, err := s.Members.Withdraw(ctx, req.GetGoalId(), req.GetInvitationId())
	if err != nil {
		return nil, err
	}
	return &budgetv1.WithdrawGoalInvitationResponse{Id: id}, nil
}

// ListGoalMembers returns the members of a goal, newest first.
func (s *Server) ListGoalMembers(
	ctx context.Context, req *budgetv1.ListGoalMembersRequest,
) (*budgetv1.ListGoalMembersResponse, error) {
	members, pagination, err := s.Members.List(ctx, req.GetGoalId(),
		sharing.Page{Limit: req.Limit, Cursor: req.GetCursor()})
	if err != nil {
		return nil, err
	}
	resp := &budgetv1.ListGoalMembersResponse{Pagination: pagination}
	for _, m := range members {
		resp.Members = append(resp.Members, goalMember(m))
	}
	return resp, nil
}

// GetGoalMember returns a member that ListGoalMembers returns to the caller.
func (s *Server) GetGoalMember(
	ctx context.Context, req *budgetv1.GetGoalMemberRequest,
) (*budgetv1.GetGoalMemberResponse, error) {
	member, etag, err := s.Members.Get(ctx, req.GetGoalId(), req.GetMemberId())
	if err != nil {
		return nil, err
	}
	return &budgetv1.GetGoalMemberResponse{Member: goalMember(member), Etag: etag}, nil
}

// RespondToGoalInvitation stores the answer of the invited user, or the owner's change of role and
// share.
func (s *Server) RespondToGoalInvitation(
	ctx context.Context, req *budgetv1.RespondToGoalInvitationRequest,
) (*budgetv1.RespondToGoalInvitationResponse, error) {
	member, etag, err := s.Members.ChangeMember(ctx, sharing.MemberChange{
		Thing: req.GetGoalId(), Member: req.GetMemberId(), IfMatch: req.GetIfMatch(),
		Status: req.Status, Response: req.Response, Role: req.Role,
		SharePercent: req.SharePercent,
	})
	if err != nil {
		return nil, err
	}
	return &budgetv1.RespondToGoalInvitationResponse{Member: goalMember(member), Etag: etag}, nil
}

// RemoveGoalMember deletes a membership. The owner and the member may do it.
func (s *Server) RemoveGoalMember(
	ctx context.Context, req *budgetv1.RemoveGoalMemberRequest,
) (*budgetv1.RemoveGoalMemberResponse, error) {
	id, err := s.Members.Remove(ctx, req.GetGoalId(), req.GetMemberId(), req.GetIfMatch())
	if err != nil {
		return nil, err
	}
	return &budgetv1.RemoveGoalMemberResponse{Id: id}, nil
}

// ListGoalInvitations returns the acting user's pending invitations to goals, newest first.
func (s *Server) ListGoalInvitations(
	ctx context.Context, req *budgetv1.ListGoalInvitationsRequest,
) (*budgetv1.ListGoalInvitationsResponse, error) {
	invitations, pagination, err := s.Members.Invitations(ctx,
		sharing.Page{Limit: req.Limit, Cursor: req.GetCursor()})
	if err != nil {
		return nil, err
	}
	resp := &budgetv1.ListGoalInvitationsResponse{Pagination: pagination}
	for _, i := range invitations {
		resp.Invitations = append(resp.Invitations, &budgetv1.GoalInvitation{
			GoalId: i.GetBudgetId(), GoalName: i.GetBudgetName(), MemberId: i.GetMemberId(),
			OwnerId: i.GetOwnerId(), OwnerName: i.OwnerName, OwnerEmail: i.OwnerEmail,
			Role: i.GetRole(), SharePercent: i.SharePercent, InvitedAt: i.GetInvitedAt(),
		})
	}
	return resp, nil
}

// goalMember converts a member of a goal, which package sharing returns like one of a budget.
func goalMember(m *budgetv1.Member) *budgetv1.GoalMember {
	return &budgetv1.GoalMember{
		Id: m.GetId(), MemberId: m.GetMemberId(), GoalId: m.GetBudgetId(), Name: m.GetName(),
		Email: m.GetEmail(),
		Role:  m.GetRole(), SharePercent: m.SharePercent, Status: m.GetStatus(),
		InvitedAt: m.GetInvitedAt(), RespondedAt: m.RespondedAt, InvitationId: m.InvitationId,
		ExpiresAt: m.ExpiresAt,
	}
}
