package export

import (
	"context"
	"errors"

	"github.com/coffer-budget/coffer/internal/apierr"
	"github.com/coffer-budget/coffer/internal/archive"
	budgetv1 "github.com/coffer-budget/coffer/proto/gen/coffer/budget/v1"
	restv1 "github.com/coffer-budget/coffer/proto/gen/coffer/rest/v1"
)

// A resource that was deleted after it was listed has no rows in the later files.
var (
	errBudgetNotFound  = apierr.New(restv1.Reason_BUDGET_NOT_FOUND)
	errWebhookNotFound = apierr.New(restv1.Reason_WEBHOOK_NOT_FOUND)
)

// write writes the files of this service, from the responses of its RPCs for the acting user.
func (s *Server) write(ctx context.Context, files *archive.Files) error {
	budgets, err := s.budgets(ctx, files)
	if err != nil {
		return err
	}
	if err := s.members(ctx, files, budgets); err != nil {
		return err
	}
	if err := s.limits(ctx, files, budgets); err != nil {
		return err
	}
	if err := s.invitations(ctx, files); err != nil {
		return err
	}
	if err := s.goals(ctx, files); err != nil {
		return err
	}
	if err := s.notifications(ctx, files); err != nil {
		return err
	}
	return s.webhooks(ctx, files)
}

// listed is a page of a list.
type listed interface{ GetPagination() *restv1.Pagination }

// pages calls read for each page of a list, and do with each page.
func pages[Page listed](
	read func(cursor string) (Page, error), do func(Page) error,
) error {
	for cursor := ""; ; {
		page, err := read(cursor)
		if err != nil {
			return err
		}
		if err := do(page); err != nil {
			return err
		}
		if !page.GetPagination().GetHasMore() {
			return nil
		}
		cursor = page.GetPagination().GetNextCursor()
	}
}

// maxPage is the largest page of a list.
const maxPage = 200

// budgets writes the budgets of the user, and those of others that the user has accepted. It
// returns their ids.
func (s *Server) budgets(ctx context.Context, files *archive.Files) (ids []string, err error) {
	if err := files.Begin("budgets.jsonl"); err != nil {
		return nil, err
	}
	return ids, pages(
		func(cursor string) (*budgetv1.ListBudgetsResponse, error) {
			return s.Budgets.ListBudgets(ctx, &budgetv1.ListBudgetsRequest{
				Limit: new(int32(maxPage)), Cursor: cursor,
			})
		},
		func(page *budgetv1.ListBudgetsResponse) error {
			for _, b := range page.GetBudgets() {
				ids = append(ids, b.GetId())
			}
			return archive.AddRows(files, page.GetBudgets())
		})
}

func (s *Server) members(ctx context.Context, files *archive.Files, budgets []string) error {
	if err := files.Begin("memberships.jsonl"); err != nil {
		return err
	}
	for _, id := range budgets {
		err := pages(
			func(cursor string) (*budgetv1.ListMembersResponse, error) {
				return s.Budgets.ListMembers(ctx, &budgetv1.ListMembersRequest{
					BudgetId: id, Limit: new(int32(maxPage)), Cursor: cursor,
				})
			},
			func(page *budgetv1.ListMembersResponse) error {
				return archive.AddRows(files, page.GetMembers())
			})
		if err != nil && !errors.Is(err, errBudgetNotFound) {
			return err
		}
	}
	return nil
}

// limits writes the former and present limits of the budgets.
func (s *Server) limits(ctx context.Context, files *archive.Files, budgets []string) error {
	if err := files.Begin("limits.jsonl"); err != nil {
		return err
	}
	for _, id := range budgets {
		err := pages(
			func(cursor string) (*budgetv1.ListLimitsResponse, error) {
				return s.Budgets.ListLimits(ctx, &budgetv1.ListLimitsRequest{
					BudgetId: id, Limit: new(int32(maxPage)), Cursor: cursor,
				})
			},
			func(page *budgetv1.ListLimitsResponse) error {
				for _, limit := range page.GetLimits() {
					row := &budgetv1.ExportedLimit{BudgetId: id, Limit: limit}
					if err := files.Row(row); err != nil {
						return err
					}
				}
				return nil
			})
		if err != nil && !errors.Is(err, errBudgetNotFound) {
			return err
		}
	}
	return nil
}

// invitations writes the pending invitations to budgets of others.
func (s *Server) invitations(ctx context.Context, files *archive.Files) error {
	if err := files.Begin("invitations.jsonl"); err != nil {
		return err
	}
	return pages(
		func(cursor string) (*budgetv1.ListInvitationsResponse, error) {
			return s.Budgets.ListInvitations(ctx, &budgetv1.ListInvitationsRequest{
				Limit: new(int32(maxPage)), Cursor: cursor,
			})
		},
		func(page *budgetv1.ListInvitationsResponse) error {
			return archive.AddRows(files, page.GetInvitations())
		})
}

func (s *Server) notifications(ctx context.Context, files *archive.Files) error {
	if err := files.Begin("notifications.jsonl"); err != nil {
		return err
	}
	return pages(
		func(cursor string) (*budgetv1.ListNotificationsResponse, error) {
			return s.Notifications.ListNotifications(ctx, &budgetv1.ListNotificationsRequest{
				Limit: new(int32(maxPage)), Cursor: cursor,
			})
		},
		func(page *budgetv1.ListNotificationsResponse) error {
			return archive.AddRows(files, page.GetNotifications())
		})
}

// webhooks writes the webhooks, without secrets, and their deliveries.
func (s *Server) webhooks(ctx context.Context, files *archive.Files) error {
	if err := files.Begin("webhooks.jsonl"); err != nil {
		return err
	}
	var ids []string
	err := pages(
		func(cursor string) (*budgetv1.ListWebhooksResponse, error) {
			return s.Webhooks.ListWebhooks(ctx, &budgetv1.ListWebhooksRequest{
				Limit: new(int32(maxPage)), Cursor: cursor,
			})
		},
		func(page *budgetv1.ListWebhooksResponse) error {
			for _, w := range page.GetWebhooks() {
				ids = append(ids, w.GetId())
			}
			return archive.AddRows(files, page.GetWebhooks())
		})
	if err != nil {
		return err
	}
	if err := files.Begin("deliveries.jsonl"); err != nil {
		return err
	}
	for _, id := range ids {
		err := pages(
			func(cursor string) (*budgetv1.ListWebhookDeliveriesResponse, error) {
				return s.Webhooks.ListWebhookDeliveries(ctx,
					&budgetv1.ListWebhookDeliveriesRequest{
						WebhookId: id, Limit: new(int32(maxPage)), Cursor: cursor,
					})
			},
			func(page *budgetv1.ListWebhookDeliveriesResponse) error {
				return archive.AddRows(files, page.GetDeliveries())
			})
		if err != nil && !errors.Is(err, errWebhookNotFound) {
			return err
		}
	}
	return nil
}
