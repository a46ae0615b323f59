// Package posting applies transactions to the balances and monthly totals of their owners.
//
// It guarantees that both always equal the sum of the transactions. Insert writes transactions together with their postings,
// events and idempotency records, in one statement. After a change or a deletion of a transaction, Replace or Remove corrects the
// sums, in the same database transaction.
//
// Each database transaction that writes balances or totals takes the owner's lock first: ShareOwner if it writes transactions,
// LockOwner if it deletes or merges wallets or categories (see store_locks.go). Insert takes the lock itself.
//
// Ledger carries what the RPC methods of all resources need: the database, the outbox, the clock and new ids. ClientError maps
// the constraints that a posting may violate to public errors.
package posting

import (
	"context"

	"github.com/coffer-budget/coffer/internal/calendar"
	"github.com/coffer-budget/coffer/internal/pg"
	"github.com/coffer-budget/coffer/services/ledger/request"
)

// posting is the effect of a transaction on balances and totals. Sign 1 adds the transaction and -1 removes it.
type posting struct {
	Transaction
	sign int64
}

// Replace corrects balances and totals after a transaction was changed from before to after. Most changes of a description or a day
// need no postings. One statement applies both postings, so a row that both concern changes by the difference only.
func Replace(ctx context.Context, q pg.Querier, before, after Transaction) error {
	if before.WalletID == after.WalletID && before.CategoryID == after.CategoryID && before.Currency == after.Currency &&
		before.AmountMinor == after.AmountMinor && calendar.MonthOf(before.Date).Equal(calendar.MonthOf(after.Date)) {
		return nil
	}
	return ClientError(applyPostings(ctx, q, posting{before, -1}, posting{after, 1}))
}

// Remove corrects balances and totals after t was deleted.
func Remove(ctx context.Context, q pg.Querier, t Transaction) error {
	return ClientError(applyPostings(ctx, q, posting{t, -1}))
}

// ClientError maps constraint violations to public errors: a wallet or category deleted concurrently, too many currencies in a
// wallet, or a balance or total out of range. It returns other errors, and nil, unchanged. wallet_balances_currency_count is a
// trigger that reports its error like a violated constraint (ADR 56).
func ClientError(err error) error {
	switch {
	case pg.IsViolation(err, "transactions_wallet_fkey"), pg.IsViolation(err, "wallet_balances_wallet_fkey"):
		return request.ErrWalletNotFound
	case pg.IsViolation(err, "transactions_category_fkey"):
		return request.ErrCategoryNotFound
	case pg.IsViolation(err, "wallet_balances_currency_count"):
		return errCurrencyLimitReached
	case pg.IsViolation(err, "wallet_balances_amount_range"), pg.IsViolation(err, "monthly_totals_amount_range"):
		return errWalletOverflow
	}
	return err
}
