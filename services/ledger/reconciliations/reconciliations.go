// Package reconciliations makes the balances of wallets agree with reality.
//
// An adjustment is a transaction that sets the balance of a wallet at the end of a day. It has no
// category: balances and monthly_transfers contain it, and no total of income or spending does. A
// request computes the difference and inserts the adjustment under the owner's lock, so that no
// other write of the owner changes the balance in between.
//
// A reconciliation is the statement of a bank with which the cleared transactions of a wallet
// agree. It locks them: posting.Unlocking decides about later changes. It writes them under the
// owner's lock, too, so each write of the owner meets all of them locked or none. The files:
//
//   - reconciliations.go: the RPCs of reconciliations. adjustments.go: CreateAdjustment
//   - stated.go: the balance that a request states. store_reconciliations.go: the statements
//   - export.go: the rows in exports. restore.go: reconciliations of an export that is imported
//
// Reconciliations implements ReconciliationService.
package reconciliations

import (
	"context"
	"fmt"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/coffer-budget/coffer/internal/apierr"
	"github.com/coffer-budget/coffer/internal/calendar"
	"github.com/coffer-budget/coffer/internal/caller"
	"github.com/coffer-budget/coffer/internal/idem"
	"github.com/coffer-budget/coffer/internal/money"
	"github.com/coffer-budget/coffer/internal/page"
	"github.com/coffer-budget/coffer/internal/pg"
	"github.com/coffer-budget/coffer/internal/text"
	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
	"github.com/coffer-budget/coffer/services/ledger/posting"
	"github.com/coffer-budget/coffer/services/ledger/request"
)

const (
	// maxReconciliations is the maximum number of reconciliations per wallet: one a week for 19
	// years.
	maxReconciliations = 1000
	// maxLocked is the maximum number of transactions that a reconciliation locks. The request
	// writes each of them, and so does the deletion, while other writes of the owner wait.
	maxLocked = 20_000
)

// Reconciliations implements the RPCs.
type Reconciliations struct {
	// An RPC without a method here is a compile error.
	ledgerv1.UnsafeReconciliationServiceServer
	*posting.Ledger
	Cursors page.Cursors
}

var _ ledgerv1.ReconciliationServiceServer = (*Reconciliations)(nil)

// ReconcileWallet locks the cleared transactions of a wallet up to a day if their balance is that
// of the statement. With adjust, an adjustment with the difference precedes. Errors:
// BALANCE_DIFFERS, WALLET_NOT_FOUND, LIMIT_REACHED, and the errors of invalid fields.
func (s *Reconciliations) ReconcileWallet(
	ctx context.Context, req *ledgerv1.ReconcileWalletRequest,
) (*ledgerv1.ReconcileWalletResponse, error) {
	id, ok := text.ID(req.GetWalletId())
	if !ok {
		return nil, request.ErrInvalidWalletID
	}
	var problems apierr.Problems
	stated := parseStated(&problems, id, req)
	err := problems.Err()
	if err != nil {
		return nil, err
	}
	owner := caller.ID(ctx)
	call := idem.Call{Owner: owner, Key: req.GetIdempotencyKey(), Request: req}
	resp := &ledgerv1.ReconcileWalletResponse{}
	resp.Replayed, err = idem.InTx(ctx, s.DB, call, resp, func(tx pgx.Tx) error {
		if err := posting.ShareOwner(ctx, tx, owner); err != nil {
			return err
		}
		reconciled, err := s.reconcile(ctx, tx, stated, req.GetAdjust())
		if err != nil {
			return err
		}
		resp.Reconciliation = reconciled.proto()
		return s.Publish(ctx, tx, owner, &ledgerv1.WalletReconciled{
			OwnerId: owner.String(), Reconciliation: resp.GetReconciliation(),
		})
	})
	if err != nil {
		return nil, err
	}
	return resp, nil
}

// reconcile compares the balances, and writes the reconciliation with its locks.
func (s *Reconciliations) reconcile(
	ctx context.Context, tx pgx.Tx, stated stated, adjust bool,
) (reconciliation, error) {
	owner := caller.ID(ctx)
	expected, err := stated.resolve(ctx, tx, owner)
	if err != nil {
		return reconciliation{}, err
	}
	count, err := countReconciliations(ctx, tx, owner, stated.wallet)
	if err != nil {
		return reconciliation{}, err
	}
	if count >= maxReconciliations {
		return reconciliation{}, errLimitReached
	}
	cleared, err := stated.cleared(ctx, tx, owner)
	if err != nil {
		return reconciliation{}, err
	}
	difference := expected - cleared.Balance
	locks := cleared.Unlocked
	if adjust && difference != 0 {
		locks++ // the adjustment
	}
	if locks > maxLocked {
		return reconciliation{}, errTooManyToLock
	}
	if difference != 0 {
		if !adjust {
			return reconciliation{}, differs(stated.currency, expected, cleared.Balance)
		}
		_, err := s.adjust(ctx, tx, stated, posting.Transaction{
			OwnerID: owner, AmountMinor: difference, Cleared: true,
		})
		if err != nil {
			return reconciliation{}, err
		}
	}
	reconciled := reconciliation{
		ID: s.NewID(), OwnerID: owner, WalletID: stated.wallet, Currency: stated.currency.Code(),
		Date: stated.day, BalanceMinor: expected, CreatedAt: s.Now(),
	}
	reconciled.Locked, err = insertReconciliation(ctx, tx, reconciled)
	return reconciled, err
}

// differs returns BALANCE_DIFFERS with both balances and their difference.
func differs(currency money.Currency, expected, actual int64) error {
	e := *errBalanceDiffers
	e.Fields = []apierr.Field{
		{Name: "expected", Message: currency.Format(expected)},
		{Name: "actual", Message: currency.Format(actual)},
		{Name: "difference", Message: currency.Format(expected - actual)},
	}
	return &e
}

// ListReconciliations returns a page of the reconciliations of a wallet, newest first.
func (s *Reconciliations) ListReconciliations(
	ctx context.Context, req *ledgerv1.ListReconciliationsRequest,
) (*ledgerv1.ListReconciliationsResponse, error) {
	wallet, ok := text.ID(req.GetWalletId())
	if !ok {
		return nil, request.ErrInvalidWalletID
	}
	owner := caller.ID(ctx)
	if _, err := selectCurrency(ctx, s.DB, owner, wallet); err != nil {
		return nil, pg.IfNoRows(err, request.ErrWalletNotFound)
	}
	rows, pagination, err := page.List(s.Cursors, page.Query[reconciliation, uuid.UUID]{
		Scope: fmt.Sprintf("reconciliations %s %s", owner, wallet),
		Limit: req.Limit, Cursor: req.GetCursor(), First: uuid.Max,
		Position: func(r reconciliation) uuid.UUID { return r.ID },
		Select: func(after uuid.UUID, limit int) ([]reconciliation, error) {
			return selectReconciliations(ctx, s.DB, owner, wallet, after, limit)
		},
	})
	if err != nil {
		return nil, err
	}
	resp := &ledgerv1.ListReconciliationsResponse{Pagination: pagination}
	for _, r := range rows {
		resp.Reconciliations = append(resp.Reconciliations, r.proto())
	}
	return resp, nil
}

// DeleteReconciliation unlocks the transactions of the latest reconciliation of a wallet in its
// currency. Errors: RECONCILIATION_NOT_FOUND, RECONCILIATION_NOT_LATEST.
func (s *Reconciliations) DeleteReconciliation(
	ctx context.Context, req *ledgerv1.DeleteReconciliationRequest,
) (*ledgerv1.DeleteReconciliationResponse, error) {
	wallet, ok := text.ID(req.GetWalletId())
	if !ok {
		return nil, request.ErrInvalidWalletID
	}
	id, ok := text.ID(req.GetReconciliationId())
	if !ok {
		return nil, errInvalidReconciliationID
	}
	owner := caller.ID(ctx)
	err := pg.InTx(ctx, s.DB, func(tx pgx.Tx) error {
		if err := posting.ShareOwner(ctx, tx, owner); err != nil {
			return err
		}
		found, err := selectReconciliation(ctx, tx, owner, id)
		switch {
		case err != nil:
			return pg.IfNoRows(err, errReconciliationNotFound)
		case found.WalletID != wallet:
			return errReconciliationNotFound
		case !found.Latest:
			return errReconciliationNotLatest
		}
		return remove(ctx, tx, s.Ledger, found.reconciliation)
	})
	if err != nil {
		return nil, err
	}
	return &ledgerv1.DeleteReconciliationResponse{Id: id.String()}, nil
}

// proto returns r as the API shows it.
func (r reconciliation) proto() *ledgerv1.Reconciliation {
	return &ledgerv1.Reconciliation{
		Id: r.ID.String(), WalletId: r.WalletID.String(), Currency: r.Currency,
		Date:    r.Date.Format(calendar.DateLayout),
		Balance: money.CurrencyOf(r.Currency).Format(r.BalanceMinor), Locked: r.Locked,
		Differs: r.Differs, CreatedAt: calendar.FormatTime(r.CreatedAt),
	}
}
