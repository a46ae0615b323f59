package export

import (
	"context"
	"errors"

	"github.com/coffer-budget/coffer/internal/apierr"
	"github.com/coffer-budget/coffer/internal/archive"
	budgetv1 "github.com/coffer-budget/coffer/proto/gen/coffer/budget/v1"
	restv1 "github.com/coffer-budget/coffer/proto/gen/coffer/rest/v1"
)

// errGoalNotFound is returned for a goal that was deleted after it was listed.
var errGoalNotFound = apierr.New(restv1.Reason_GOAL_NOT_FOUND)

// goals writes the goals of the user and those of others that the user has accepted, with the money
// that is assigned to them, their members, and the pending invitations to goals of others.
func (s *Server) goals(ctx context.Context, files *archive.Files) error {
	if err := files.Begin("goals.jsonl"); err != nil {
		return err
	}
	var ids []string
	err := pages(
		func(cursor string) (*budgetv1.ListGoalsResponse, error) {
			return s.Goals.ListGoals(ctx, &budgetv1.ListGoalsRequest{
				Limit: new(int32(maxPage)), Cursor: cursor,
			})
		},
		func(page *budgetv1.ListGoalsResponse) error {
			for _, g := range page.GetGoals() {
				ids = append(ids, g.GetId())
			}
			return archive.AddRows(files, page.GetGoals())
		})
	if err != nil {
		return err
	}
	if err := files.Begin("assignments.jsonl"); err != nil {
		return err
	}
	for _, id := range ids {
		err := pages(
			func(cursor string) (*budgetv1.ListAssignmentsResponse, error) {
				return s.Goals.ListAssignments(ctx, &budgetv1.ListAssignmentsRequest{
					GoalId: id, Limit: new(int32(maxPage)), Cursor: cursor,
				})
			},
			func(page *budgetv1.ListAssignmentsResponse) error {
				return archive.AddRows(files, page.GetAssignments())
			})
		if err != nil && !errors.Is(err, errGoalNotFound) {
			return err
		}
	}
	if err := s.goalMembers(ctx, files, ids); err != nil {
		return err
	}
	return s.goalInvitations(ctx, files)
}

func (s *Server) goalMembers(ctx context.Context, files *archive.Files, goals []string) error {
	if err := files.Begin("goal-memberships.jsonl"); err != nil {
		return err
	}
	for _, id := range goals {
		err := pages(
			func(cursor string) (*budgetv1.ListGoalMembersResponse, error) {
				return s.Goals.ListGoalMembers(ctx, &budgetv1.ListGoalMembersRequest{
					GoalId: id, Limit: new(int32(maxPage)), Cursor: cursor,
				})
			},
			func(page *budgetv1.ListGoalMembersResponse) error {
				return archive.AddRows(files, page.GetMembers())
			})
		if err != nil && !errors.Is(err, errGoalNotFound) {
			return err
		}
	}
	return nil
}

func (s *Server) goalInvitations(ctx context.Context, files *archive.Files) error {
	if err := files.Begin("goal-invitations.jsonl"); err != nil {
		return err
	}
	return pages(
		func(cursor string) (*budgetv1.ListGoalInvitationsResponse, error) {
			return s.Goals.ListGoalInvitations(ctx, &budgetv1.ListGoalInvitationsRequest{
				Limit: new(int32(maxPage)), Cursor: cursor,
			})
		},
		func(page *budgetv1.ListGoalInvitationsResponse) error {
			return archive.AddRows(files, page.GetInvitations())
		})
}
