package reconciliations

import (
	"context"

	"github.com/jackc/pgx/v5"

	"github.com/coffer-budget/coffer/internal/apierr"
	"github.com/coffer-budget/coffer/internal/caller"
	"github.com/coffer-budget/coffer/internal/etag"
	"github.com/coffer-budget/coffer/internal/idem"
	"github.com/coffer-budget/coffer/internal/text"
	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
	"github.com/coffer-budget/coffer/services/ledger/balances"
	"github.com/coffer-budget/coffer/services/ledger/posting"
	"github.com/coffer-budget/coffer/services/ledger/request"
)

// codeUnnecessary is the code of a response without an adjustment.
const codeUnnecessary = "ADJUSTMENT_UNNECESSARY"

// CreateAdjustment creates a transaction with the difference between a balance and the balance of
// the wallet at the end of a day. Errors: WALLET_NOT_FOUND, REPORT_TOO_LARGE, and the errors of
// invalid fields.
func (s *Reconciliations) CreateAdjustment(
	ctx context.Context, req *ledgerv1.CreateAdjustmentRequest,
) (*ledgerv1.CreateAdjustmentResponse, error) {
	id, ok := text.ID(req.GetWalletId())
	if !ok {
		return nil, request.ErrInvalidWalletID
	}
	var problems apierr.Problems
	stated := parseStated(&problems, id, req)
	description, problem := text.Description("description", req.GetDescription())
	problems.Field(problem)
	err := problems.Err()
	if err != nil {
		return nil, err
	}
	owner := caller.ID(ctx)
	call := idem.Call{Owner: owner, Key: req.GetIdempotencyKey(), Request: req}
	resp := &ledgerv1.CreateAdjustmentResponse{}
	resp.Replayed, err = idem.InTx(ctx, s.DB, call, resp, func(tx pgx.Tx) error {
		resp.Code, resp.Transaction, resp.Etag = "", nil, ""
		if err := posting.ShareOwner(ctx, tx, owner); err != nil {
			return err
		}
		wanted, err := stated.resolve(ctx, tx, owner)
		if err != nil {
			return err
		}
		code := stated.currency.Code()
		present, err := balances.At(ctx, tx, owner, stated.wallet, code, stated.day)
		if err != nil {
			return err
		}
		if wanted == present {
			resp.Code = codeUnnecessary
			return nil
		}
		resp.Transaction, err = s.adjust(ctx, tx, stated, posting.Transaction{
			OwnerID: owner, AmountMinor: wanted - present, Description: description,
		})
		resp.Etag = etag.Format(1)
		return err
	})
	if err != nil {
		return nil, err
	}
	return resp, nil
}

// adjust inserts an adjustment of a stated balance. It has its amount and its description. The
// owner's lock keeps the wallet, so the statement inserts the row. It returns an error if no
// transaction may have the amount.
func (s *Reconciliations) adjust(
	ctx context.Context, tx pgx.Tx, stated stated, adjustment posting.Transaction,
) (*ledgerv1.Transaction, error) {
	// Parse checks the limit of amounts.
	amount := stated.currency.Format(adjustment.AmountMinor)
	if _, err := stated.currency.Parse(amount); err != nil {
		return nil, errTooFar
	}
	adjustment.ID, adjustment.Adjustment, adjustment.Version = s.NewID(), true, 1
	adjustment.WalletID, adjustment.Date = stated.wallet, stated.day
	adjustment.Currency = stated.currency.Code()
	adjustment.CreatedAt = s.Now()
	adjustment.UpdatedAt = adjustment.CreatedAt
	message := adjustment.Proto()
	_, err := s.InsertTransactions(ctx, tx, []posting.Transaction{adjustment},
		[]*ledgerv1.Transaction{message})
	return message, err
}
