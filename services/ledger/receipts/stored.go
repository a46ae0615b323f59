package receipts

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"google.golang.org/protobuf/proto"

	"github.com/coffer-budget/coffer/internal/caller"
	"github.com/coffer-budget/coffer/internal/page"
	"github.com/coffer-budget/coffer/internal/pg"
	"github.com/coffer-budget/coffer/internal/text"
	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
	ocrv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ocr/v1"
	"github.com/coffer-budget/coffer/services/ledger/posting"
)

// GetReceipt returns one of the caller's receipts, with its corrections.
func (s *Receipts) GetReceipt(
	ctx context.Context, req *ledgerv1.GetReceiptRequest,
) (*ledgerv1.GetReceiptResponse, error) {
	id, ok := text.ID(req.GetId())
	if !ok {
		return nil, errInvalidReceiptID
	}
	row, err := selectReceipt(ctx, s.DB, caller.ID(ctx), id)
	if err != nil {
		return nil, pg.IfNoRows(err, errReceiptNotFound)
	}
	resp := &ledgerv1.GetReceiptResponse{Receipt: &ocrv1.Receipt{}}
	if err := proto.Unmarshal(row.Content, resp.GetReceipt()); err != nil {
		return nil, fmt.Errorf("decoding receipt %s: %w", id, err)
	}
	return resp, nil
}

// ListReceipts returns a page of the caller's receipts, newest first. A page of long receipts may
// have fewer than the limit.
func (s *Receipts) ListReceipts(
	ctx context.Context, req *ledgerv1.ListReceiptsRequest,
) (*ledgerv1.ListReceiptsResponse, error) {
	owner := caller.ID(ctx)
	rows, pagination, err := page.List(s.Cursors, page.Query[receipt, uuid.UUID]{
		Scope: "receipts " + owner.String(), Limit: req.Limit, Cursor: req.GetCursor(),
		First:    uuid.Max,
		Position: func(r receipt) uuid.UUID { return r.ID },
		Size:     func(r receipt) int { return len(r.Content) },
		Select: func(before uuid.UUID, limit int) ([]receipt, error) {
			return selectReceipts(ctx, s.DB, owner, before, limit)
		},
	})
	if err != nil {
		return nil, err
	}
	resp := &ledgerv1.ListReceiptsResponse{Pagination: pagination}
	for _, r := range rows {
		m := &ocrv1.Receipt{}
		if err := proto.Unmarshal(r.Content, m); err != nil {
			return nil, fmt.Errorf("decoding receipt %s: %w", r.ID, err)
		}
		resp.Receipts = append(resp.Receipts, m)
	}
	return resp, nil
}

// DeleteReceipt deletes one of the caller's receipts with its images. Its transactions stay, and
// get a new version without the receipt. Errors: RECEIPT_NOT_FOUND.
func (s *Receipts) DeleteReceipt(
	ctx context.Context, req *ledgerv1.DeleteReceiptRequest,
) (*ledgerv1.DeleteReceiptResponse, error) {
	id, ok := text.ID(req.GetId())
	if !ok {
		return nil, errInvalidReceiptID
	}
	owner := caller.ID(ctx)
	err := pg.InTx(ctx, s.DB, func(tx pgx.Tx) error {
		if err := posting.ShareOwner(ctx, tx, owner); err != nil {
			return err
		}
		before, err := lockTransactionsOf(ctx, tx, owner, id)
		if err != nil {
			return err
		}
		if err := posting.AddDetails(ctx, tx, owner, before); err != nil {
			return err
		}
		now := s.Now()
		if err := removeReceipt(ctx, tx, owner, id, now); err != nil {
			return err
		}
		found, err := deleteReceipt(ctx, tx, owner, id)
		if err != nil {
			return err
		}
		if !found {
			return errReceiptNotFound
		}
		after := slices.Clone(before)
		for i := range after {
			after[i].ReceiptID, after[i].Version, after[i].UpdatedAt = nil, before[i].Version+1, now
		}
		return s.PublishUpdates(ctx, tx, before, after)
	})
	if err != nil {
		return nil, err
	}
	return &ledgerv1.DeleteReceiptResponse{Id: id.String()}, nil
}

// GetReceiptImage returns the stored image of a page, by default the first one. Images are stored
// only if the upload asked for it with keepImage, so RECEIPT_IMAGE_NOT_FOUND is also returned for
// an existing receipt (ADR 29).
func (s *Receipts) GetReceiptImage(
	ctx context.Context, req *ledgerv1.GetReceiptImageRequest,
) (*ledgerv1.GetReceiptImageResponse, error) {
	id, ok := text.ID(req.GetId())
	if !ok {
		return nil, errInvalidReceiptID
	}
	owner := caller.ID(ctx)
	image, err := selectReceiptImage(ctx, s.DB, owner, id, cmp.Or(req.GetPage(), 1))
	switch {
	case err != nil:
		return nil, pg.IfNoRows(err, errReceiptNotFound)
	case image.Object != nil:
		image.Content, err = s.Files.Read(ctx, image.object(owner))
		if err != nil {
			return nil, err
		}
	case image.Content == nil:
		return nil, errReceiptImageMissing
	}
	return &ledgerv1.GetReceiptImageResponse{Image: image.Content}, nil
}
