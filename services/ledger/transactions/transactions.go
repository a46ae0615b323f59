// Package transactions serves transactions: creation, alone or in bulk, changes, deletion and
// lists.
//
// Each write also updates the wallet's balance and the monthly total, with package posting, and
// adds an event to the outbox, in the same database transaction. The files:
//
//   - transactions.go: the RPC methods of single transactions. Start reading at CreateTransaction
//   - changes.go and splits.go: validate the fields of a request. legs.go: locks, and changes of a
//     leg of a transfer
//   - duplicates.go: transactions with an external id that exists
//   - batcher.go: group commit, which inserts simultaneous single creates with one statement
//   - bulk.go: CreateTransactions, and single creates with tags
//   - payees.go: the payees of the newest transactions, and the currencies
//   - list.go, filters.go and store_list.go: filters, orders and cursors of lists. The statements
//     keep a page fast however long the history is. search.go: the filters without an index, and
//     the cost of a search. store_conditions.go: the filters as conditions of these statements,
//     which totals use, too. totals.go and store_totals.go: the totals of all pages of a list, on
//     request
//
// Transactions implements these RPCs of LedgerService. New returns it, and Run starts the
// goroutines that insert transactions.
package transactions

import (
	"cmp"
	"context"
	"errors"
	"runtime"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/coffer-budget/coffer/internal/apierr"
	"github.com/coffer-budget/coffer/internal/caller"
	"github.com/coffer-budget/coffer/internal/etag"
	"github.com/coffer-budget/coffer/internal/idem"
	"github.com/coffer-budget/coffer/internal/page"
	"github.com/coffer-budget/coffer/internal/pg"
	"github.com/coffer-budget/coffer/internal/rpc"
	"github.com/coffer-budget/coffer/internal/text"
	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
	"github.com/coffer-budget/coffer/services/ledger/posting"
	"github.com/coffer-budget/coffer/services/ledger/reads"
	"github.com/coffer-budget/coffer/services/ledger/request"
	"github.com/coffer-budget/coffer/services/ledger/transfers"
)

// Transactions implements the RPCs of transactions.
type Transactions struct {
	*posting.Ledger
	cursors page.Cursors
	batcher *batcher
	// bulks limits concurrent bulk creates to the number of cores, because more would only hold
	// memory.
	bulks rpc.Gate
	reads *reads.Gates
}

// New returns the server of the RPCs. CreateTransaction waits until Run has been called.
func New(l *posting.Ledger, cursors page.Cursors, gates *reads.Gates) *Transactions {
	return &Transactions{
		Ledger: l, cursors: cursors, batcher: newBatcher(l.DB, l.Wake), reads: gates,
		bulks: rpc.NewGate(runtime.GOMAXPROCS(0), maxWaitingBulks, apierr.Unavailable),
	}
}

// Run starts the writers that insert transactions, and returns. They end with ctx.
func (s *Transactions) Run(ctx context.Context) {
	s.batcher.single = s.Distributed
	s.batcher.run(ctx)
}

// Measure publishes the metrics of the queue until stop is called.
func (s *Transactions) Measure() (stop func() error, err error) { return s.batcher.measure() }

// CreateTransaction creates a transaction, and updates the wallet's balance and the monthly total
// with it. The batcher inserts simultaneous creates with one statement and one commit. A tagged
// transaction has a separate database transaction, because it may add tags.
func (s *Transactions) CreateTransaction(
	ctx context.Context, req *ledgerv1.CreateTransactionRequest,
) (*ledgerv1.CreateTransactionResponse, error) {
	var problems apierr.Problems
	owner, parsed := caller.ID(ctx), parseTransaction(&problems, req)
	transaction := parsed.apply(&problems, posting.Transaction{})
	if problems.Err() != nil {
		// A response names unknown wallets and categories beside the other problems, so that one
		// correction suffices.
		return nil, request.CheckOwned(ctx, s.DB, problems, owner, parsed.references())
	}
	s.begin(&transaction, owner, s.Now())
	resp := &ledgerv1.CreateTransactionResponse{
		Transaction: transaction.Proto(), Etag: etag.Format(transaction.Version),
	}
	call := idem.Call{Owner: transaction.OwnerID, Key: req.GetIdempotencyKey(), Request: req}
	if len(transaction.Splits) > 0 {
		// The statement does not check the categories of parts: a foreign key would reject the
		// transactions of other requests with them.
		if err := request.CheckOwned(ctx, s.DB, problems, owner, parsed.references()); err != nil {
			resp.Replayed, err = idem.ReplayRejected(ctx, s.DB, call, resp, err)
			return resp, err
		}
	}
	if len(transaction.TagNames) > 0 {
		return s.createTagged(ctx, transaction, call, resp)
	}
	record, err := call.Record(resp)
	if err != nil {
		return nil, err
	}
	if known, err := s.repeats(ctx, transaction, call, resp); known || err != nil {
		return resp, err
	}
	event := s.Created(ctx, transaction.OwnerID, resp.GetTransaction())
	written, err := s.batcher.submit(ctx, transaction, event, record)
	if err != nil {
		return nil, s.rejected(ctx, transaction, err)
	}
	if written {
		return resp, nil
	}
	// The transaction was not inserted: either the key was used before, or a reference is not the
	// owner's.
	if resp.Replayed, err = idem.Replay(ctx, s.DB, call, resp); err != nil {
		return nil, err
	}
	if !resp.GetReplayed() {
		return nil, posting.NotInserted(ctx, s.DB, transaction)
	}
	return resp, nil
}

func (s *Transactions) begin(t *posting.Transaction, owner uuid.UUID, now time.Time) {
	t.ID, t.OwnerID, t.Version = s.NewID(), owner, 1
	t.CreatedAt, t.UpdatedAt = now, now
}

// GetTransaction returns one of the caller's transactions.
func (s *Transactions) GetTransaction(
	ctx context.Context, req *ledgerv1.GetTransactionRequest,
) (*ledgerv1.GetTransactionResponse, error) {
	id, ok := text.ID(req.GetId())
	if !ok {
		return nil, errInvalidTransactionID
	}
	own, err := ownTransaction(ctx, s.DB, id)
	if err != nil {
		return nil, err
	}
	tag := etag.Format(own.Version)
	return &ledgerv1.GetTransactionResponse{Transaction: own.Proto(), Etag: tag}, nil
}

// UpdateTransaction changes the fields that the request sets, and corrects balances and totals
// accordingly.
func (s *Transactions) UpdateTransaction(
	ctx context.Context, req *ledgerv1.UpdateTransactionRequest,
) (*ledgerv1.UpdateTransactionResponse, error) {
	id, ok := text.ID(req.GetId())
	if !ok {
		return nil, errInvalidTransactionID
	}
	var problems apierr.Problems
	changes, err := parseTransactionUpdate(&problems, req)
	if err != nil {
		return nil, err
	}
	var transaction posting.Transaction
	err = pg.InTx(ctx, s.DB, func(tx pgx.Tx) error {
		transaction, err = s.changeTransaction(ctx, tx, id, req.GetIfMatch(), changes, problems)
		return err
	})
	if err != nil {
		return nil, s.rejected(ctx, transaction, err)
	}
	return &ledgerv1.UpdateTransactionResponse{
		Transaction: transaction.Proto(), Etag: etag.Format(transaction.Version),
	}, nil
}

// changeTransaction writes the next version of a transaction with its postings and its event. The
// problems of the request take precedence over the errors of the transaction: not found,
// another user's, or another version. They are a copy, because pg.InTx may run the caller's
// function again, which must start with the same problems. If PostgreSQL rejects the next version,
// it is returned with the error.
func (s *Transactions) changeTransaction(
	ctx context.Context, tx pgx.Tx, id uuid.UUID, ifMatch string, changes changes,
	problems apierr.Problems,
) (posting.Transaction, error) {
	locked, err := lockForChange(ctx, tx, id, ifMatch)
	if err != nil {
		return posting.Transaction{}, cmp.Or(problems.Err(), err)
	}
	if locked.other != nil {
		return s.changeLeg(ctx, tx, locked, changes, problems)
	}
	before := locked.Transaction
	after := changes.apply(&problems, before)
	err = request.CheckOwned(ctx, tx, problems, after.OwnerID, changes.references())
	if err != nil {
		return posting.Transaction{}, err
	}
	after.Version++
	after.UpdatedAt = s.Now()
	if changes.tags != nil {
		changed := []posting.Transaction{after}
		if err := posting.UseTags(ctx, tx, after.OwnerID, after.UpdatedAt, changed); err != nil {
			return posting.Transaction{}, err
		}
		after = changed[0]
	}
	if err := posting.Update(ctx, tx, after); err != nil {
		return after, posting.ClientError(err)
	}
	if len(before.Splits)+len(after.Splits) > 0 {
		if err := posting.ReplaceSplits(ctx, tx, after); err != nil {
			return posting.Transaction{}, posting.ClientError(err)
		}
	}
	err = posting.Replace(ctx, tx, []posting.Transaction{before}, []posting.Transaction{after})
	if err != nil {
		return posting.Transaction{}, err
	}
	return after, s.Publish(ctx, tx, after.OwnerID, &ledgerv1.TransactionUpdated{
		OwnerId: after.OwnerID.String(), Before: before.Proto(), After: after.Proto(),
	})
}

// DeleteTransaction deletes a transaction and removes it from balances and totals. It also deletes
// the transaction's receipt if this was the receipt's last transaction. With a leg of a transfer it
// deletes the transfer.
func (s *Transactions) DeleteTransaction(
	ctx context.Context, req *ledgerv1.DeleteTransactionRequest,
) (*ledgerv1.DeleteTransactionResponse, error) {
	id, ok := text.ID(req.GetId())
	if !ok {
		return nil, errInvalidTransactionID
	}
	err := pg.InTx(ctx, s.DB, func(tx pgx.Tx) error {
		locked, err := lockForChange(ctx, tx, id, req.GetIfMatch())
		if err != nil {
			return err
		}
		if locked.other != nil {
			return transfers.Remove(ctx, tx, s.Ledger, locked.transfer())
		}
		// The statements follow the order of locks: transaction, receipt, totals, balances (see
		// ownerLock).
		if err := posting.Delete(ctx, tx, locked.Transaction); err != nil {
			return err
		}
		if receipt := locked.ReceiptID; receipt != nil {
			err := posting.DeleteUnusedReceipt(ctx, tx, locked.OwnerID, *receipt)
			if err != nil {
				return err
			}
		}
		if err := posting.Remove(ctx, tx, locked.Transaction); err != nil {
			return err
		}
		return s.Publish(ctx, tx, locked.OwnerID,
			&ledgerv1.TransactionDeleted{
				OwnerId: locked.OwnerID.String(), Transaction: locked.Proto(),
			})
	})
	if err != nil {
		return nil, err
	}
	return &ledgerv1.DeleteTransactionResponse{Id: id.String()}, nil
}

func addDetails(ctx context.Context, q pg.Querier, t *posting.Transaction) error {
	one := []posting.Transaction{*t}
	err := posting.AddDetails(ctx, q, t.OwnerID, one)
	*t = one[0]
	return err
}

// ownTransaction returns one of the caller's transactions with its splits.
func ownTransaction(ctx context.Context, q pg.Querier, id uuid.UUID) (posting.Transaction, error) {
	owner := caller.ID(ctx)
	t, err := posting.Select(ctx, q, owner, id)
	if errors.Is(err, pgx.ErrNoRows) {
		err = notFound(ctx, q, owner, id)
	}
	if err != nil {
		return posting.Transaction{}, err
	}
	err = addDetails(ctx, q, &t)
	return t, err
}
