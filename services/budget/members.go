package budget

import (
	"context"

	budgetv1 "github.com/coffer-budget/coffer/proto/gen/coffer/budget/v1"
	"github.com/coffer-budget/coffer/services/budget/internal/sharing"
)

// ShareBudget invites a user to a budget, or an e-mail by mail. Only the owner may invite.
func (s *server) ShareBudget(
	ctx context.Context, req *budgetv1.ShareBudgetRequest,
) (resp *budgetv1.ShareBudgetResponse, err error) {
	resp = &budgetv1.ShareBudgetResponse{}
	answer := sharing.NewAnswer(ctx, req, resp, func(m *budgetv1.Member, etag string) {
		resp.Member, resp.Etag = m, etag
	})
	resp.Replayed, err = s.members.Share(ctx, sharing.Invite{
		Thing: req.GetBudgetId(), Email: req.GetEmail(), Role: req.Role,
		SharePercent: req.SharePercent, ByMail: req.GetInvite(),
	}, answer)
	if err != nil {
		return nil, err
	}
	return resp, nil
}

// ResendInvitation sends the mail of an invitation again.
func (s *server) ResendInvitation(
	ctx context.Context, req *budgetv1.ResendInvitationRequest,
) (resp *budgetv1.ResendInvitationResponse, err error) {
	resp = &budgetv1.ResendInvitationResponse{}
	answer := sharing.NewAnswer(ctx, req, resp, func(m *budgetv1.Member, _ string) {
		resp.Member = m
	})
	resp.Replayed, err = s.members.Resend(ctx, req.GetBudgetId(), req.GetInvitationId(), answer)
	if err != nil {
		return nil, err
	}
	return resp, nil
}

// WithdrawInvitation deletes an invitation by mail.
func (s *server) WithdrawInvitation(
	ctx context.Context, req *budgetv1.WithdrawInvitationRequest,
) (*budgetv1.WithdrawInvitationResponse, error) {
	id, err := s.members.Withdraw(ctx, req.GetBudgetId(), req.GetInvitationId())
	if err != nil {
		return nil, err
	}
	return &budgetv1.WithdrawInvitationResponse{Id: id}, nil
}

// ListMembers returns the members of a budget, newest first.
func (s *server) ListMembers(
	ctx context.Context, req *budgetv1.ListMembersRequest,
) (*budgetv1.ListMembersResponse, error) {
	members, pagination, err := s.members.List(ctx, req.GetBudgetId(),
		sharing.Page{Limit: req.Limit, Cursor: req.GetCursor()})
	if err != nil {
		return nil, err
	}
	return &budgetv1.ListMembersResponse{Members: members, Pagination: pagination}, nil
}

// GetMember returns a member that ListMembers returns to the caller.
func (s *server) GetMember(
	ctx context.Context, req *budgetv1.GetMemberRequest,
) (*budgetv1.GetMemberResponse, error) {
	member, etag, err := s.members.Get(ctx, req.GetBudgetId(), req.GetMemberId())
	if err != nil {
		return nil, err
	}
	return &budgetv1.GetMemberResponse{Member: member, Etag: etag}, nil
}

// RespondToInvitation stores the answer of the invited user, or the owner's change of role and
// share.
func (s *server) RespondToInvitation(
	ctx context.Context, req *budgetv1.RespondToInvitationRequest,
) (*budgetv1.RespondToInvitationResponse, error) {
	member, etag, err := s.members.ChangeMember(ctx, sharing.MemberChange{
		Thing: req.GetBudgetId(), Member: req.GetMemberId(), IfMatch: req.GetIfMatch(),
		Status: req.Status, Response: req.Response, Role: req.Role,
		SharePercent: req.SharePercent,
	})
	if err != nil {
		return nil, err
	}
	return &budgetv1.RespondToInvitationResponse{Member: member, Etag: etag}, nil
}

// RemoveMember deletes a membership. The owner and the member may do it.
func (s *server) RemoveMember(
	ctx context.Context, req *budgetv1.RemoveMemberRequest,
) (*budgetv1.RemoveMemberResponse, error) {
	id, err := s.members.Remove(ctx, req.GetBudgetId(), req.GetMemberId(), req.GetIfMatch())
	if err != nil {
		return nil, err
	}
	return &budgetv1.RemoveMemberResponse{Id: id}, nil
}

// ListInvitations returns the acting user's pending invitations to budgets, newest first.
func (s *server) ListInvitations(
	ctx context.Context, req *budgetv1.ListInvitationsRequest,
) (*budgetv1.ListInvitationsResponse, error) {
	invitations, pagination, err := s.members.Invitations(ctx,
		sharing.Page{Limit: req.Limit, Cursor: req.GetCursor()})
	if err != nil {
		return nil, err
	}
	return &budgetv1.ListInvitationsResponse{
		Invitations: invitations, Pagination: pagination,
	}, nil
}
