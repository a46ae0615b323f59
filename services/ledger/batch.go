package ledger

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/coffer-budget/coffer/internal/apierr"
	"github.com/coffer-budget/coffer/internal/caller"
	"github.com/coffer-budget/coffer/internal/idem"
	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
)

const (
	maxBatch = 500
	// waitingBatches bounds the memory that they take.
	waitingBatches = 16
	// maxBadItems bounds an error answer.
	maxBadItems = 10
)

// CreateTransactions books many transactions in one statement, all or none.
func (s *server) CreateTransactions(ctx context.Context, req *ledgerv1.CreateTransactionsRequest) (*ledgerv1.CreateTransactionsResponse, error) {
	ts, err := parseBatch(req)
	if err != nil {
		return nil, err
	}
	leave, err := s.batches.Enter(ctx)
	if err != nil {
		return nil, err
	}
	defer leave()
	owner, now := caller.ID(ctx), s.now()
	for i := range ts {
		ts[i].ID, ts[i].OwnerID, ts[i].Version, ts[i].CreatedAt, ts[i].UpdatedAt = s.newID(), owner, 1, now, now
	}
	call := idem.Call{Scope: owner.String(), Key: req.GetIdempotencyKey(), Request: req}
	resp := &ledgerv1.CreateTransactionsResponse{Transactions: transactionsProto(ts)}
	resp.Replayed, err = idem.InTx(ctx, s.db, call, resp, func(tx pgx.Tx) error {
		written, err := s.createTransactions(ctx, tx, ts, resp.GetTransactions())
		if err != nil {
			return err
		}
		for i, t := range ts {
			if !written[t.ID] {
				return under(part(i), s.unwritten(ctx, tx, t))
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return resp, nil
}

// parseBatch tells what is wrong with the first items that are.
func parseBatch(req *ledgerv1.CreateTransactionsRequest) ([]transaction, error) {
	items := req.GetTransactions()
	if len(items) == 0 || len(items) > maxBatch {
		return nil, apierr.Validation([]apierr.Field{{Name: "transactions", Message: fmt.Sprintf("must be 1 to %d transactions", maxBatch)}})
	}
	var p apierr.Problems
	ts, bad := make([]transaction, len(items)), 0
	for i := 0; i < len(items) && bad < maxBadItems; i++ {
		var err error
		if ts[i], err = parseItem(items[i]); err != nil {
			p.Include(apierr.From(err).Under(part(i)))
			bad++
		}
	}
	return ts, p.Err()
}

// parseItem refuses a key, which would make no difference: the batch is written or repeated as a whole.
func parseItem(item *ledgerv1.CreateTransactionRequest) (transaction, error) {
	if item.GetIdempotencyKey() != "" {
		return transaction{}, apierr.Validation([]apierr.Field{{Name: "idempotencyKey", Message: "must be given for all in the header"}})
	}
	return parseTransaction(item)
}

func part(i int) string { return fmt.Sprintf("transactions[%d]", i) }

// under has a public error speak of a part of the request.
func under(path string, err error) error {
	if e := apierr.From(err); e != nil {
		return e.Under(path)
	}
	return err
}
