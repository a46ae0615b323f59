package transfers

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/coffer-budget/coffer/internal/apierr"
	"github.com/coffer-budget/coffer/internal/caller"
	"github.com/coffer-budget/coffer/internal/page"
	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
	"github.com/coffer-budget/coffer/services/ledger/request"
)

// position is the place of a transfer in a list: the date and the id of its outgoing leg. The leg
// in may have another date. The outgoing leg decides because the index transactions_transfers has
// its date and id.
type position struct {
	Date time.Time
	ID   uuid.UUID
}

// The window of a list without from and to. Dates of transactions are in the years 1900 to 2200, so
// the window contains all of them.
var (
	firstMoment = time.Date(1, 1, 1, 0, 0, 0, 0, time.UTC)
	lastMoment  = time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC)
)

// ListTransfers returns a page of the caller's transfers, newest first. The scope of the cursor
// contains the filters, so a cursor of another filter is rejected. With a filter by wallet a page
// examines at most examinedTransfers, so that it may have fewer transfers than the limit although
// more follow. s.Reads limits the simultaneous reads of a user.
func (s *Transfers) ListTransfers(
	ctx context.Context, req *ledgerv1.ListTransfersRequest,
) (*ledgerv1.ListTransfersResponse, error) {
	list, p := parseTransferList(req)
	list.owner = caller.ID(ctx)
	named := request.References{Wallet: list.wallet}
	if err := request.CheckOwned(ctx, s.DB, p, list.owner, named); err != nil {
		return nil, err
	}
	scope := strings.Join([]string{
		"transfers", list.owner.String(), req.GetWalletId(), req.GetFrom(), req.GetTo(),
	}, " ")
	var end *position
	transfers, pagination, err := page.List(s.Cursors, page.Query[Transfer, position]{
		Scope: scope, Limit: req.Limit, Cursor: req.GetCursor(),
		First:    position{Date: lastMoment, ID: uuid.Max},
		Position: func(t Transfer) position { return position{t.Out.Date, t.Out.ID} },
		Size:     func(t Transfer) int { return t.Out.Bytes() + t.In.Bytes() },
		Select: func(after position, limit int) ([]Transfer, error) {
			leave, err := s.Reads.Enter(ctx, list.owner)
			if err != nil {
				return nil, err
			}
			defer leave()
			list.after, list.limit = after, limit
			var rows []Transfer
			rows, end, err = s.read(ctx, list)
			return rows, err
		},
	})
	if err != nil {
		return nil, err
	}
	if end != nil && !pagination.GetHasMore() {
		pagination.HasMore = true
		if pagination.NextCursor, err = s.Cursors.Seal(scope, *end); err != nil {
			return nil, err
		}
	}
	resp := &ledgerv1.ListTransfersResponse{Pagination: pagination}
	for _, t := range transfers {
		resp.Transfers = append(resp.Transfers, t.Proto())
	}
	return resp, nil
}

// read returns up to l.limit transfers. With a filter by wallet it examines a limited number. end
// is then the last one that it has examined, or nil if the list ends there.
func (s *Transfers) read(
	ctx context.Context, list transferList,
) (rows []Transfer, end *position, err error) {
	until := position{Date: firstMoment}
	if list.wallet != nil {
		last, err := selectExamined(ctx, s.DB, list)
		switch {
		case errors.Is(err, pgx.ErrNoRows):
		case err != nil:
			return nil, nil, err
		default:
			until, end = last, &last
		}
	}
	rows, err = selectTransfers(ctx, s.DB, list, until)
	return rows, end, err
}

// parseTransferList validates the filters and the limit of a request, and returns all problems.
func parseTransferList(
	req *ledgerv1.ListTransfersRequest,
) (list transferList, problems apierr.Problems) {
	_, problem := page.Limit(req.Limit)
	problems.Field(problem)
	list = transferList{from: firstMoment, end: lastMoment}
	if req.WalletId != nil {
		list.wallet = request.ParseReference(&problems, "walletId", req.GetWalletId(),
			request.ErrInvalidWalletID)
	}
	if req.From != nil {
		list.from = request.ParseBound(&problems, "from", req.GetFrom(), false)
	}
	if req.To != nil {
		list.end = request.ParseBound(&problems, "to", req.GetTo(), true)
	}
	if !problems.Has(request.ErrInvalidDate) && !list.from.Before(list.end) {
		problems.Invalid("from", "must not be after to")
	}
	return list, problems
}
