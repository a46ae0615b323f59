package ledger

import (
	"cmp"
	"context"
	"fmt"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/coffer-budget/coffer/internal/apierr"
	"github.com/coffer-budget/coffer/internal/caller"
	"github.com/coffer-budget/coffer/internal/idem"
	"github.com/coffer-budget/coffer/internal/pg"
	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
)

const (
	maxBatch = 500
	// waitingBatches bounds the memory that waiting batches use.
	waitingBatches = 16
	// maxBadItems bounds the items that an error names.
	maxBadItems = 10
)

// CreateTransactions inserts many transactions in one statement, all or none.
func (s *server) CreateTransactions(ctx context.Context, req *ledgerv1.CreateTransactionsRequest) (*ledgerv1.CreateTransactionsResponse, error) {
	items := req.GetTransactions()
	if len(items) == 0 || len(items) > maxBatch {
		return nil, apierr.Validation([]apierr.Field{{Name: "transactions", Message: fmt.Sprintf("must be 1 to %d transactions", maxBatch)}})
	}
	leave, err := s.batches.Enter(ctx)
	if err != nil {
		return nil, err
	}
	defer leave()
	owner, now := caller.ID(ctx), s.now()
	parsed := make([]batchItem, len(items))
	ts, valid := make([]transaction, len(items)), true
	for i, item := range items {
		parsed[i] = parseItem(item)
		valid = valid && parsed[i].problems.Err() == nil
		ts[i] = parsed[i].transaction
		ts[i].ID, ts[i].OwnerID, ts[i].Version, ts[i].CreatedAt, ts[i].UpdatedAt = s.newID(), owner, 1, now, now
	}
	if !valid {
		return nil, batchProblems(ctx, s.db, owner, parsed)
	}
	call := idem.Call{Scope: owner.String(), Key: req.GetIdempotencyKey(), Request: req}
	resp := &ledgerv1.CreateTransactionsResponse{Transactions: transactionsProto(ts)}
	resp.Replayed, err = idem.InTx(ctx, s.db, call, resp, func(tx pgx.Tx) error {
		written, err := s.createTransactions(ctx, tx, ts, resp.GetTransactions())
		if err != nil {
			return err
		}
		if len(written) < len(ts) {
			// Without a problem, the missing wallets and categories were created in the meantime.
			return cmp.Or(batchProblems(ctx, tx, owner, parsed), error(apierr.Unavailable))
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return resp, nil
}

// batchItem is an item of a batch as far as it is valid.
type batchItem struct {
	transaction transaction
	named       references
	problems    apierr.Problems
}

// parseItem rejects an idempotency key of a single item, because the batch is written or repeated as a whole.
func parseItem(req *ledgerv1.CreateTransactionRequest) batchItem {
	var item batchItem
	if req.GetIdempotencyKey() != "" {
		item.problems.Field(&apierr.Field{Name: "idempotencyKey", Message: "must be sent in the header, for the whole batch"})
	}
	c := parseTransaction(&item.problems, req)
	item.transaction, item.named = c.apply(&item.problems, transaction{}), c.references()
	return item
}

// batchProblems returns the problems of the first invalid items, including wallets and categories that do not belong to the owner.
func batchProblems(ctx context.Context, q pg.Querier, owner uuid.UUID, items []batchItem) error {
	named := make([]references, len(items))
	for i, item := range items {
		named[i] = item.named
	}
	own, err := selectReferences(ctx, q, owner, named...)
	if err != nil {
		return err
	}
	var p apierr.Problems
	bad := 0
	for i, item := range items {
		own.check(&item.problems, item.named)
		if e := apierr.From(item.problems.Err()); e != nil && bad < maxBadItems {
			p.Include(e.Under(fmt.Sprintf("transactions[%d]", i)))
			bad++
		}
	}
	return p.Err()
}
