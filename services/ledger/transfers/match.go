package transfers

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/coffer-budget/coffer/internal/apierr"
	"github.com/coffer-budget/coffer/internal/caller"
	"github.com/coffer-budget/coffer/internal/etag"
	"github.com/coffer-budget/coffer/internal/idem"
	"github.com/coffer-budget/coffer/internal/money"
	"github.com/coffer-budget/coffer/internal/pg"
	"github.com/coffer-budget/coffer/internal/text"
	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
	"github.com/coffer-budget/coffer/services/ledger/posting"
	"github.com/coffer-budget/coffer/services/ledger/request"
)

const (
	outField = "outTransactionId"
	inField  = "inTransactionId"
)

// MatchTransfer makes a transfer of an expense and an income. They lose their categories, so totals
// and budgets no longer count them. Both keep their ids, dates and texts. Budget learns about it
// from an event for each of the two transactions.
//
// Errors: TRANSFER_LEGS_UNFIT with every reason why the two do not fit, TRANSACTION_NOT_FOUND,
// TRANSACTION_OWNER_MISMATCH.
//
// The owner's lock is exclusive, because writes that share it rely on a leg staying a leg.
func (s *Transfers) MatchTransfer(
	ctx context.Context, req *ledgerv1.MatchTransferRequest,
) (*ledgerv1.MatchTransferResponse, error) {
	var problems apierr.Problems
	owner := caller.ID(ctx)
	out := request.RequireReference(&problems, outField, req.GetOutTransactionId(),
		errInvalidTransactionID)
	in := request.RequireReference(&problems, inField, req.GetInTransactionId(),
		errInvalidTransactionID)
	if problems.Err() != nil {
		return nil, checkNamed(ctx, s.DB, problems, owner, out, in)
	}
	var err error
	resp := &ledgerv1.MatchTransferResponse{}
	call := idem.Call{Owner: owner, Key: req.GetIdempotencyKey(), Request: req}
	resp.Replayed, err = idem.InTx(ctx, s.DB, call, resp, func(tx pgx.Tx) error {
		if err := posting.LockOwner(ctx, tx, owner); err != nil {
			return err
		}
		before, err := lockPair(ctx, tx, owner, *out, *in)
		if err != nil {
			return err
		}
		if err := unfit(before); err != nil {
			return err
		}
		after, err := Match(ctx, tx, s.Ledger, before, s.Now())
		if err != nil {
			return err
		}
		resp.Transfer, resp.Etag = after.Proto(), etag.Format(after.Out.Version)
		return nil
	})
	if err != nil {
		return nil, err
	}
	return resp, nil
}

// lockPair locks two transactions of the owner. Like the RPCs of transactions, it distinguishes
// another user's transaction from one that does not exist.
func lockPair(ctx context.Context, tx pgx.Tx, owner, out, in uuid.UUID) (Transfer, error) {
	locked, err := lockTransactions(ctx, tx, owner, out, in)
	if err != nil {
		return Transfer{}, err
	}
	if len(locked) < 2 && out != in || len(locked) == 0 {
		// One that was created after the statement of lockTransactions is as unknown as it was
		// then.
		return Transfer{}, cmp.Or(checkNamed(ctx, tx, apierr.Problems{}, owner, &out, &in),
			error(posting.ErrTransactionNotFound))
	}
	return Transfer{Out: locked[out], In: locked[in]}, nil
}

// checkNamed returns the problems of a request as one error, including a problem for each
// transaction that does not belong to the owner. A transaction is nil if its id is malformed.
func checkNamed(
	ctx context.Context, q pg.Querier, problems apierr.Problems, owner uuid.UUID, out,
	in *uuid.UUID,
) error {
	for _, named := range []struct {
		field string
		id    *uuid.UUID
	}{{outField, out}, {inField, in}} {
		if named.id == nil {
			continue
		}
		_, err := posting.Select(ctx, q, owner, *named.id)
		if err == nil {
			continue
		}
		if !errors.Is(err, pgx.ErrNoRows) {
			return err
		}
		missing, err := posting.NotFound(ctx, q, owner, *named.id)
		if err != nil {
			return err
		}
		problems.Add(missing[*named.id].With(named.field, "must be one of your transactions"))
	}
	return problems.Err()
}

// unfit returns an error with the reasons why two transactions cannot become a transfer, at most
// one per transaction, or nil. A receipt and a split need categories, which a leg does not have.
func unfit(transfer Transfer) error {
	var fields []apierr.Field
	add := func(bad bool, name, message string) {
		known := slices.ContainsFunc(fields, func(f apierr.Field) bool { return f.Name == name })
		if bad && !known {
			fields = append(fields, apierr.Field{Name: name, Message: message})
		}
	}
	add(transfer.Out.AmountMinor > 0, outField, "must be an expense")
	add(transfer.In.AmountMinor < 0, inField, "must be an income")
	for _, leg := range []struct {
		field string
		posting.Transaction
	}{{outField, transfer.Out}, {inField, transfer.In}} {
		add(leg.TransferID != nil, leg.field, "must not be part of a transfer")
		add(leg.Adjustment, leg.field, "must not be an adjustment")
		add(leg.ReceiptID != nil, leg.field, "must not belong to a receipt")
		add(leg.SplitCount > 0, leg.field, "must not have splits")
	}
	add(transfer.Out.WalletID == transfer.In.WalletID, inField, "must be in another wallet")
	opposite := -transfer.Out.AmountMinor
	add(transfer.inOneCurrency() && transfer.In.AmountMinor != opposite, inField,
		"must have the amount "+money.CurrencyOf(transfer.Out.Currency).Format(opposite))
	if len(fields) == 0 {
		return nil
	}
	e := *errLegsUnfit
	e.Fields = fields
	return &e
}

// UnlinkTransfer makes an expense and an income of the legs of a transfer, with the categories of
// the request. It is the reverse of MatchTransfer, except that the former categories are not
// stored. Without inCategoryId both get the same category.
//
// Errors: TRANSFER_NOT_FOUND, and the reason of request.ErrCategoryNotFound with the field that
// names an unknown category.
func (s *Transfers) UnlinkTransfer(
	ctx context.Context, req *ledgerv1.UnlinkTransferRequest,
) (*ledgerv1.UnlinkTransferResponse, error) {
	id, ok := text.ID(req.GetId())
	if !ok {
		return nil, errInvalidTransferID
	}
	var problems apierr.Problems
	owner := caller.ID(ctx)
	category := request.RequireReference(&problems, "categoryId", req.GetCategoryId(),
		request.ErrInvalidCategoryID)
	inCategory := category
	if req.InCategoryId != nil {
		inCategory = request.ParseReference(&problems, "inCategoryId", req.GetInCategoryId(),
			request.ErrInvalidCategoryID)
	}
	if problems.Err() != nil {
		return nil, checkCategories(ctx, s.DB, problems, owner, category, inCategory)
	}
	var err error
	resp := &ledgerv1.UnlinkTransferResponse{}
	call := idem.Call{Owner: owner, Key: req.GetIdempotencyKey(), Request: req}
	resp.Replayed, err = idem.InTx(ctx, s.DB, call, resp, func(tx pgx.Tx) error {
		if err := posting.LockOwner(ctx, tx, owner); err != nil {
			return err
		}
		before, err := lockTransfer(ctx, tx, owner, id)
		if err != nil {
			return pg.IfNoRows(err, errTransferNotFound)
		}
		err = checkCategories(ctx, tx, apierr.Problems{}, owner, category, inCategory)
		if err != nil {
			return err
		}
		after := before
		after.Out.TransferID, after.In.TransferID = nil, nil
		after.Out.CategoryID, after.In.CategoryID = category, inCategory
		after = after.next(before, s.Now())
		if err := write(ctx, tx, before, after); err != nil {
			return err
		}
		resp.Transactions = posting.Protos(after.legs())
		deleted := &ledgerv1.TransferDeleted{OwnerId: owner.String(), Transfer: before.Proto()}
		if err := s.Publish(ctx, tx, owner, deleted); err != nil {
			return err
		}
		return s.PublishUpdates(ctx, tx, before.legs(), after.legs())
	})
	if err != nil {
		return nil, err
	}
	return resp, nil
}

// checkCategories returns the problems of a request as one error, including a problem for
// each category that does not belong to the owner. A category is nil if its id is malformed.
func checkCategories(
	ctx context.Context, q pg.Querier, problems apierr.Problems, owner uuid.UUID,
	category, inCategory *uuid.UUID,
) error {
	var ids []uuid.UUID
	for _, id := range []*uuid.UUID{category, inCategory} {
		if id != nil {
			ids = append(ids, *id)
		}
	}
	owned, err := request.SelectOwned(ctx, q, owner, nil, ids)
	if err != nil {
		return err
	}
	if category != nil && !slices.Contains(owned.Categories, *category) {
		problems.Add(request.ErrCategoryNotFound.With("categoryId", "is unknown"))
	}
	if inCategory != nil && (category == nil || *inCategory != *category) &&
		!slices.Contains(owned.Categories, *inCategory) {
		problems.Add(request.ErrCategoryNotFound.With("inCategoryId", "is unknown"))
	}
	return problems.Err()
}
