// Package transactions serves transactions: creation, alone or in bulk, changes, deletion and
// lists.
//
// Each write also updates the wallet's balance and the monthly total, with package posting, and
// adds an event to the outbox, in the same database transaction. The files:
//
//   - transactions.go: creation, lookup and deletion. Start reading at CreateTransaction
//   - update.go: changes of one or several transactions. revision.go: their locks and next
//     versions. changes.go and splits.go: validate the fields of a request
//   - duplicates.go: transactions with an external id that exists
//   - batcher.go: group commit, which inserts simultaneous single creates with one statement
//   - bulk.go: CreateTransactions, and single creates with tags
//   - payees.go: the payees of the newest transactions, and the currencies
//   - list.go, filters.go and store_list.go: filters, orders and cursors of lists, and the cost of
//     filters without an index. The statements keep a page fast however long the history is.
//     store_conditions.go: the filters as conditions of these statements, which totals use, too.
//     totals.go and store_totals.go: the totals of all pages of a list, on request
//
// Transactions implements these RPCs of LedgerService. New returns it, and Run starts the
// goroutines that insert transactions.
package transactions

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"google.golang.org/protobuf/proto"

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

// ownTransaction returns one of the caller's transactions with its splits.
func ownTransaction(ctx context.Context, q pg.Querier, id uuid.UUID) (posting.Transaction, error) {
	owner := caller.ID(ctx)
	t, err := posting.Select(ctx, q, owner, id)
	if errors.Is(err, pgx.ErrNoRows) {
		missing, err := posting.NotFound(ctx, q, owner, id)
		return posting.Transaction{}, cmp.Or(err, error(missing[id]))
	}
	if err != nil {
		return posting.Transaction{}, err
	}
	details := []posting.Transaction{t}
	err = posting.AddDetails(ctx, q, owner, details)
	return details[0], err
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
		r, err := lockForChange(ctx, tx, id)
		if err != nil {
			return err
		}
		r.unlocking.Allowed = req.GetUnlock()
		if err := r.checkDeletion(id, req.GetIfMatch()); err != nil {
			return err
		}
		return s.remove(ctx, tx, r, id)
	})
	if err != nil {
		return nil, err
	}
	return &ledgerv1.DeleteTransactionResponse{Id: id.String()}, nil
}

// DeleteTransactions deletes up to maxBulkItems transactions, all or none, as DeleteTransaction
// deletes one. The number of statements does not depend on the number of ids.
func (s *Transactions) DeleteTransactions(
	ctx context.Context, req *ledgerv1.DeleteTransactionsRequest,
) (*ledgerv1.DeleteTransactionsResponse, error) {
	if len(req.GetIds()) == 0 || len(req.GetIds()) > maxBulkItems {
		return nil, apierr.Invalid("ids", fmt.Sprintf("must be 1 to %d ids", maxBulkItems))
	}
	var problems apierr.Problems
	ids := request.ParseIDs(&problems, "ids", req.GetIds(), errInvalidTransactionID)
	if err := problems.Err(); err != nil {
		return nil, err
	}
	leave, err := s.bulks.Enter(ctx)
	if err != nil {
		return nil, err
	}
	defer leave()
	call := idem.Call{Owner: caller.ID(ctx), Key: req.GetIdempotencyKey(), Request: req}
	resp := &ledgerv1.DeleteTransactionsResponse{}
	for _, id := range ids {
		resp.Ids = append(resp.Ids, id.String())
	}
	resp.Replayed, err = idem.InTx(ctx, s.DB, call, resp, func(tx pgx.Tx) error {
		r, err := lockForChange(ctx, tx, ids...)
		if err != nil {
			return err
		}
		r.unlocking.Allowed = req.GetUnlock()
		if err := itemProblems("ids", r.checkAll(req.GetIds())); err != nil {
			return err
		}
		return s.remove(ctx, tx, r, ids...)
	})
	if err != nil {
		return nil, err
	}
	return resp, nil
}

// remove deletes the locked transactions, corrects balances and totals, and adds the events in the
// order of the ids. The statements follow the order of locks: transactions, receipts, totals,
// balances (see ownerLock).
func (s *Transactions) remove(
	ctx context.Context, tx pgx.Tx, r *revision, ids ...uuid.UUID,
) error {
	if err := posting.Delete(ctx, tx, r.before...); err != nil {
		return err
	}
	if err := posting.DeleteUnusedReceipts(ctx, tx, r.owner, r.receipts()); err != nil {
		return err
	}
	if err := posting.Remove(ctx, tx, r.before...); err != nil {
		return err
	}
	if err := r.unlocking.Write(ctx, tx, r.owner); err != nil {
		return err
	}
	return s.Publish(ctx, tx, r.owner, r.deleted(ids)...)
}

// receipts returns the distinct receipts of the transactions.
func (r *revision) receipts() []uuid.UUID {
	var ids []uuid.UUID
	for _, t := range r.before {
		if t.ReceiptID != nil && !slices.Contains(ids, *t.ReceiptID) {
			ids = append(ids, *t.ReceiptID)
		}
	}
	return ids
}

// deleted returns the events of the deletion of all transactions, in the order of ids. A transfer
// has one event.
func (r *revision) deleted(ids []uuid.UUID) []proto.Message {
	var events []proto.Message
	seen := map[int]bool{}
	for _, id := range ids {
		i := r.places[id]
		other := r.others[i]
		switch {
		case seen[other]:
		case other >= 0:
			events = append(events, transfers.Of(r.before[i], r.before[other]).Deleted())
		default:
			events = append(events, &ledgerv1.TransactionDeleted{
				OwnerId: r.owner.String(), Transaction: r.before[i].Proto(),
			})
		}
		seen[i] = true
	}
	return events
}
