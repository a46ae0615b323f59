package ledger

import (
	"cmp"
	"context"
	"errors"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/coffer-budget/coffer/internal/apierr"
	"github.com/coffer-budget/coffer/internal/caller"
	"github.com/coffer-budget/coffer/internal/etag"
	"github.com/coffer-budget/coffer/internal/idem"
	"github.com/coffer-budget/coffer/internal/outbox"
	"github.com/coffer-budget/coffer/internal/pg"
	"github.com/coffer-budget/coffer/internal/text"
	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
)

// The values of a transaction's type.
const (
	expense = "expense"
	income  = "income"
)

// CreateTransaction creates a transaction, and updates the wallet's balance and the monthly total with it. The batcher inserts
// simultaneous creates with one statement and one commit. Errors: WALLET_NOT_FOUND, INVALID_CATEGORY_EXIST_PARAMS,
// UNSUPPORTED_CURRENCY, INVALID_TRANSACTION_DATE, INVALID_TRANSACTION_TYPE, WALLET_CURRENCY_LIMIT_REACHED.
func (s *server) CreateTransaction(ctx context.Context, req *ledgerv1.CreateTransactionRequest) (*ledgerv1.CreateTransactionResponse, error) {
	var p apierr.Problems
	owner, c := caller.ID(ctx), parseTransaction(&p, req)
	t := c.apply(&p, transaction{})
	if p.Err() != nil {
		// A response names unknown wallets and categories beside the other problems, so that one correction suffices.
		return nil, ownProblems(ctx, s.db, p, owner, c.references())
	}
	t.ID, t.OwnerID, t.Version, t.CreatedAt = s.newID(), owner, 1, s.now()
	t.UpdatedAt = t.CreatedAt
	resp := &ledgerv1.CreateTransactionResponse{Transaction: t.proto(), Etag: etag.Format(t.Version)}
	call := idem.Call{Scope: t.OwnerID.String(), Key: req.GetIdempotencyKey(), Request: req}
	record, err := call.Record(resp)
	if err != nil {
		return nil, err
	}
	written, err := s.batcher.submit(ctx, t, s.created(ctx, t.OwnerID, resp.GetTransaction()), record)
	if err != nil {
		return nil, clientError(err)
	}
	if written {
		return resp, nil
	}
	// The transaction was not inserted: either the key was used before, or a reference is not the owner's.
	if resp.Replayed, err = idem.Replay(ctx, s.db, call, resp); err != nil {
		return nil, err
	}
	if !resp.GetReplayed() {
		return nil, s.notInserted(ctx, s.db, t)
	}
	return resp, nil
}

// notInserted returns the reason why insertTransactions skipped a transaction: its wallet or category does not belong to the
// owner.
func (s *server) notInserted(ctx context.Context, q pg.Querier, t transaction) error {
	if err := ownProblems(ctx, q, apierr.Problems{}, t.OwnerID, t.references()); err != nil {
		return err
	}
	// The wallet and the category were created after the insert, so a retry succeeds.
	return apierr.Unavailable
}

// references returns the wallet and the category of t.
func (t transaction) references() references { return references{&t.WalletID, &t.CategoryID} }

// created returns the event of a created transaction.
func (s *server) created(ctx context.Context, owner uuid.UUID, t *ledgerv1.Transaction) outbox.Event {
	return s.event(ctx, owner, &ledgerv1.TransactionCreated{OwnerId: owner.String(), Transaction: t})
}

// createTransactions inserts transactions of one owner with their events, whose content is messages, and without idempotency
// records. It returns the ids of the inserted transactions: those whose wallet and category belong to the owner. For several
// transactions q must be a database transaction, and the caller must roll it back on an error or a missing id.
func (s *server) createTransactions(ctx context.Context, q pg.Querier, ts []transaction, messages []*ledgerv1.Transaction) (map[uuid.UUID]bool, error) {
	events := make([]outbox.Event, len(ts))
	for i, t := range ts {
		events[i] = s.created(ctx, t.OwnerID, messages[i])
	}
	rows, err := outbox.Encode(events...)
	if err != nil {
		return nil, err
	}
	s.wake()
	written, err := insertTransactions(ctx, q, 0, ts, rows, make([]idem.Record, len(ts)))
	return written, clientError(err)
}

// GetTransaction returns one of the caller's transactions. Errors: INVALID_TRANSACTION_ID, TRANSACTION_NOT_FOUND,
// TRANSACTION_OWNER_MISMATCH for another user's transaction.
func (s *server) GetTransaction(ctx context.Context, req *ledgerv1.GetTransactionRequest) (*ledgerv1.GetTransactionResponse, error) {
	id, ok := text.ID(req.GetId())
	if !ok {
		return nil, errInvalidTransactionID
	}
	t, err := ownTransaction(ctx, s.db, id, selectTransaction)
	if err != nil {
		return nil, err
	}
	return &ledgerv1.GetTransactionResponse{Transaction: t.proto(), Etag: etag.Format(t.Version)}, nil
}

// UpdateTransaction changes the fields that the request sets, and corrects balances and totals accordingly. Errors: those of
// GetTransaction and CreateTransaction, EMPTY_UPDATE, VERSION_MISMATCH.
func (s *server) UpdateTransaction(ctx context.Context, req *ledgerv1.UpdateTransactionRequest) (*ledgerv1.UpdateTransactionResponse, error) {
	id, ok := text.ID(req.GetId())
	if !ok {
		return nil, errInvalidTransactionID
	}
	var p apierr.Problems
	c, err := parseTransactionUpdate(&p, req)
	if err != nil {
		return nil, err
	}
	resp := &ledgerv1.UpdateTransactionResponse{}
	err = pg.InTx(ctx, s.db, func(tx pgx.Tx) error {
		t, err := s.changeTransaction(ctx, tx, id, req.GetIfMatch(), c, p)
		if err != nil {
			return err
		}
		resp.Transaction, resp.Etag = t.proto(), etag.Format(t.Version)
		return nil
	})
	if err != nil {
		return nil, err
	}
	return resp, nil
}

// changeTransaction writes the next version of a transaction with its postings and its event. The problems p of the request take
// precedence over the errors of the transaction: not found, another user's, or another version.
func (s *server) changeTransaction(ctx context.Context, tx pgx.Tx, id uuid.UUID, ifMatch string, c changes, p apierr.Problems) (transaction, error) {
	before, err := lockForChange(ctx, tx, id, ifMatch)
	if err != nil {
		return transaction{}, cmp.Or(p.Err(), err)
	}
	after := c.apply(&p, before)
	if err := ownProblems(ctx, tx, p, after.OwnerID, c.references()); err != nil {
		return transaction{}, err
	}
	after.Version++
	after.UpdatedAt = s.now()
	if err := updateTransaction(ctx, tx, after); err != nil {
		return transaction{}, clientError(err)
	}
	// Most changes of a description or a day need no postings.
	if !before.postsLike(after) {
		if err := applyPostings(ctx, tx, before.inverse(), after.posting()); err != nil {
			return transaction{}, clientError(err)
		}
	}
	event := &ledgerv1.TransactionUpdated{OwnerId: after.OwnerID.String(), Before: before.proto(), After: after.proto()}
	return after, s.publish(ctx, tx, after.OwnerID, event)
}

// DeleteTransaction deletes a transaction and removes it from balances and totals. It also deletes the transaction's receipt if
// this was the receipt's last transaction. Errors: those of GetTransaction, VERSION_MISMATCH.
func (s *server) DeleteTransaction(ctx context.Context, req *ledgerv1.DeleteTransactionRequest) (*ledgerv1.DeleteTransactionResponse, error) {
	id, ok := text.ID(req.GetId())
	if !ok {
		return nil, errInvalidTransactionID
	}
	err := pg.InTx(ctx, s.db, func(tx pgx.Tx) error {
		t, err := lockForChange(ctx, tx, id, req.GetIfMatch())
		if err != nil {
			return err
		}
		if err := deleteTransaction(ctx, tx, t); err != nil {
			return err
		}
		if err := deleteUnusedReceipt(ctx, tx, t); err != nil {
			return err
		}
		if err := applyPostings(ctx, tx, t.inverse()); err != nil {
			return clientError(err)
		}
		return s.publish(ctx, tx, t.OwnerID, &ledgerv1.TransactionDeleted{OwnerId: t.OwnerID.String(), Transaction: t.proto()})
	})
	if err != nil {
		return nil, err
	}
	return &ledgerv1.DeleteTransactionResponse{Id: id.String()}, nil
}

// lockForChange locks the caller's transaction and returns it if its version matches If-Match. It shares the owner's lock first,
// like each database transaction that writes totals (see ownerLock).
func lockForChange(ctx context.Context, tx pgx.Tx, id uuid.UUID, ifMatch string) (transaction, error) {
	if err := shareOwner(ctx, tx, caller.ID(ctx)); err != nil {
		return transaction{}, err
	}
	t, err := ownTransaction(ctx, tx, id, lockTransaction)
	if err != nil {
		return transaction{}, err
	}
	if !etag.Matches(ifMatch, t.Version) {
		return transaction{}, apierr.VersionMismatch
	}
	return t, nil
}

// ownTransaction returns the transaction that read returns, which is selectTransaction or lockTransaction, if it belongs to the
// caller. It distinguishes a missing transaction from another user's.
func ownTransaction(ctx context.Context, q pg.Querier, id uuid.UUID, read func(context.Context, pg.Querier, uuid.UUID) (transaction, error)) (transaction, error) {
	t, err := read(ctx, q, id)
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return transaction{}, errTransactionNotFound
	case err != nil:
		return transaction{}, err
	case t.OwnerID != caller.ID(ctx):
		return transaction{}, errTransactionOwnerMismatch
	}
	return t, nil
}

// clientError maps constraint violations to public errors: a wallet or category deleted concurrently, too many currencies in a
// wallet, or a balance or total out of range. It returns other errors, and nil, unchanged.
func clientError(err error) error {
	switch {
	case pg.IsViolation(err, "transactions_wallet_fkey"), pg.IsViolation(err, "wallet_balances_wallet_fkey"):
		return errWalletNotFound
	case pg.IsViolation(err, categoryKey):
		return errCategoryNotFound
	case pg.IsViolation(err, "wallet_balances_currency_count"):
		return errCurrencyLimitReached
	case pg.IsViolation(err, "wallet_balances_amount_range"), pg.IsViolation(err, "monthly_totals_amount_range"):
		return errWalletOverflow
	}
	return err
}

// proto returns t as the API shows it. The type follows the sign of the amount.
func (t transaction) proto() *ledgerv1.Transaction {
	m := &ledgerv1.Transaction{
		Id:          t.ID.String(),
		Amount:      currencyOf(t.Currency).Format(t.AmountMinor),
		Description: t.Description,
		Date:        formatTime(t.Date),
		Currency:    t.Currency,
		WalletId:    t.WalletID.String(),
		CategoryId:  t.CategoryID.String(),
		Type:        income,
		CreatedAt:   formatTime(t.CreatedAt),
		UpdatedAt:   formatTime(t.UpdatedAt),
	}
	if t.AmountMinor < 0 {
		m.Type = expense
	}
	if t.ReceiptID != nil {
		m.ReceiptId = new(t.ReceiptID.String())
	}
	return m
}

// transactionsProto returns ts as the API shows them, in the same order.
func transactionsProto(ts []transaction) []*ledgerv1.Transaction {
	out := make([]*ledgerv1.Transaction, len(ts))
	for i, t := range ts {
		out[i] = t.proto()
	}
	return out
}
