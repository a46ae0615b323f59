// Package posting applies transactions to the balances and monthly totals of their owners.
//
// It guarantees that both always equal the sum of the transactions. The monthly totals exclude the
// legs of transfers and adjustments, whose sums are in monthly_transfers, and count the parts of a
// split transaction instead of the transaction. Insert writes transactions together with their
// postings, events and idempotency records, in one statement. After a change or a deletion of a
// transaction, Replace or Remove corrects the sums, in the same database transaction.
//
// A posting adds to income or expense by its sign. A refund, which is a part with the opposite sign
// of its transaction, counts with the type of the transaction instead. Triggers on splits add such
// parts to the column refund_minor, which readers subtract from both, and the parts after the first
// of a transaction to further_parts, which readers subtract from the count (ADR 103).
//
// Each database transaction that writes balances or totals takes the owner's lock first: ShareOwner
// if it writes transactions, LockOwner if it deletes or merges wallets or categories (see
// store_locks.go). Insert takes the lock itself.
//
// Both take the owner's next number for synchronization, also in transactions that write wallets,
// categories, tags or settings. Triggers set it as seq on the rows that the transaction changes,
// and write tombstones of the rows that it deletes (ADR 83). A statement that changes many rows
// sets seq = (SELECT taken_seq(owner)) instead, which costs less than a trigger per row.
//
// Ledger carries the dependencies that the RPC methods of all resources share: the database, the
// outbox, the clock and new ids. ClientError maps the constraints that a posting may violate to
// public errors. The files:
//
//   - posting.go: the effects of a transaction, and the corrections of sums. ledger.go: Ledger.
//     transaction.go: Transaction
//   - store_postings.go: Insert, the statement that everything that creates transactions uses.
//     Start reading there. store_columns.go: the columns of its rows
//   - store_locks.go: the owner's lock, and the order of all locks
//   - store_transactions.go, store_splits.go, store_tags.go: the rows of transactions, their parts
//     and their tags. store_external.go: transactions by their external ids
//   - store_settings.go: the time zone that decides which day is today
//   - store_changes.go: the transactions that changed after a number, for package sync. errors.go:
//     ClientError. reconciled.go: which changes of reconciled transactions are allowed
package posting

import (
	"context"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/coffer-budget/coffer/internal/calendar"
	"github.com/coffer-budget/coffer/internal/pg"
	"github.com/coffer-budget/coffer/services/ledger/request"
)

// posting is an effect on the balance of a wallet, and on the monthly totals of a category. Without
// a category it is a leg of a transfer or an adjustment, and affects monthly_transfers instead of
// monthly_totals.
type posting struct {
	owner, wallet uuid.UUID
	category      *uuid.UUID
	currency      string
	month         time.Time
	// amount is in minor units. sign is 1 if the posting adds it and -1 if it removes it.
	amount, sign int64
}

// postings returns the effects of transactions: one for each, or one for each part of a split
// transaction.
func postings(sign int64, ts ...Transaction) []posting {
	var all []posting
	for _, transaction := range ts {
		month := calendar.MonthOf(transaction.Date)
		p := posting{
			transaction.OwnerID, transaction.WalletID, transaction.CategoryID, transaction.Currency,
			month, transaction.AmountMinor, sign,
		}
		if len(transaction.Splits) == 0 {
			all = append(all, p)
		}
		for _, s := range transaction.Splits {
			p.category, p.amount = &s.CategoryID, s.AmountMinor
			all = append(all, p)
		}
	}
	return all
}

// Replace corrects balances and totals after transactions were changed from before to after. The
// splits of both must be loaded. Most changes of a description or a day need no postings. One
// statement applies all postings, so a row that several concern changes by the difference only.
func Replace(ctx context.Context, q pg.Querier, before, after []Transaction) error {
	removed, added := postings(-1, before...), postings(1, after...)
	if slices.EqualFunc(removed, added, posting.reverses) {
		return nil
	}
	return ClientError(applyPostings(ctx, q, slices.Concat(removed, added)))
}

func (p posting) reverses(o posting) bool {
	sameCategory := p.category == o.category ||
		p.category != nil && o.category != nil && *p.category == *o.category
	return sameCategory && p.owner == o.owner && p.wallet == o.wallet && p.currency == o.currency &&
		p.month.Equal(o.month) && p.amount == o.amount && p.sign == -o.sign
}

// Remove corrects balances and totals after transactions were deleted. Their splits must be loaded.
func Remove(ctx context.Context, q pg.Querier, ts ...Transaction) error {
	return ClientError(applyPostings(ctx, q, postings(-1, ts...)))
}

// ClientError maps constraint violations to public errors: a wallet or category deleted
// concurrently, too many currencies in a wallet, or a balance or total out of range. It returns
// other errors, and nil, unchanged. wallet_balances_currency_count is a trigger that reports its
// error like a violated constraint (ADR 56).
func ClientError(err error) error {
	switch {
	case pg.IsViolation(err, "transactions_wallet_fkey"),
		pg.IsViolation(err, "wallet_balances_wallet_fkey"):
		return request.ErrWalletNotFound
	case pg.IsViolation(err, "transactions_category_fkey"):
		return request.ErrCategoryNotFound
	case pg.IsViolation(err, "wallet_balances_currency_count"):
		return errCurrencyLimitReached
	case pg.IsViolation(err, "wallet_balances_amount_range"),
		pg.IsViolation(err, "monthly_totals_amount_range"),
		pg.IsViolation(err, "monthly_transfers_amount_range"):
		return errWalletOverflow
	}
	return err
}
