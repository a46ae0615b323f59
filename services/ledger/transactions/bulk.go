package transactions

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/coffer-budget/coffer/internal/apierr"
	"github.com/coffer-budget/coffer/internal/caller"
	"github.com/coffer-budget/coffer/internal/idem"
	"github.com/coffer-budget/coffer/internal/pg"
	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
	"github.com/coffer-budget/coffer/services/ledger/posting"
	"github.com/coffer-budget/coffer/services/ledger/request"
)

const (
	// maxBulkItems is the maximum number of transactions in one request.
	maxBulkItems = 500
	// maxWaitingBulks limits the requests that wait for s.bulks, and with them the memory that
	// their items use. Further requests are rejected with SERVICE_UNAVAILABLE.
	maxWaitingBulks = 16
	// maxBadItems limits the items whose problems an error lists, so that a response to 500 invalid
	// items stays small.
	maxBadItems = 10
)

// CreateTransactions inserts up to maxBulkItems transactions with one statement, all or none. The
// field names of an error have the prefix transactions[i], with i from 0. It bypasses the batcher,
// because a bulk request is a group already.
func (s *Transactions) CreateTransactions(
	ctx context.Context, req *ledgerv1.CreateTransactionsRequest,
) (*ledgerv1.CreateTransactionsResponse, error) {
	items := req.GetTransactions()
	if len(items) == 0 || len(items) > maxBulkItems {
		return nil, apierr.Invalid("transactions",
			fmt.Sprintf("must be 1 to %d transactions", maxBulkItems))
	}
	leave, err := s.bulks.Enter(ctx)
	if err != nil {
		return nil, err
	}
	defer leave()
	owner, now := caller.ID(ctx), s.Now()
	parsed := make([]bulkItem, len(items))
	ts, valid := make([]posting.Transaction, len(items)), true
	for i, item := range items {
		parsed[i] = parseItem(item)
		ts[i] = parsed[i].transaction
	}
	for i, problem := range repeated("transactions", ts) {
		parsed[i].problems.Add(problem)
	}
	for i := range parsed {
		valid = valid && parsed[i].problems.Err() == nil
		s.begin(&ts[i], owner, now)
	}
	if !valid {
		return nil, bulkProblems(ctx, s.DB, owner, parsed)
	}
	// The idempotency record covers the whole request.
	call := idem.Call{Owner: owner, Key: req.GetIdempotencyKey(), Request: req}
	resp := &ledgerv1.CreateTransactionsResponse{}
	resp.Replayed, err = idem.InTx(ctx, s.DB, call, resp, func(tx pgx.Tx) error {
		// The statement does not check the categories of parts.
		if slices.ContainsFunc(ts, func(t posting.Transaction) bool { return len(t.Splits) > 0 }) {
			if err := bulkProblems(ctx, tx, owner, parsed); err != nil {
				return err
			}
		}
		if err := s.useTags(ctx, tx, owner, ts); err != nil {
			return err
		}
		resp.Transactions = posting.Protos(ts)
		written, err := s.InsertTransactions(ctx, tx, ts, resp.GetTransactions())
		if err != nil {
			return err
		}
		if len(written) < len(ts) {
			// If there is no problem now, the missing wallets and categories were created after the
			// insert, and a retry succeeds.
			return cmp.Or(bulkProblems(ctx, tx, owner, parsed), error(apierr.Unavailable))
		}
		return nil
	})
	switch {
	case err == nil:
		return resp, nil
	case pg.IsViolation(err, externalKey):
		// A transaction that had one of the external ids may have been deleted since. A retry then
		// succeeds.
		return nil, cmp.Or(s.duplicates(ctx, "transactions", ts), error(apierr.Unavailable))
	}
	return nil, err
}

// bulkItem is a parsed item of a bulk request. transaction is incomplete if there are problems.
type bulkItem struct {
	transaction posting.Transaction
	named       request.References
	problems    apierr.Problems
}

// parseItem parses and validates one item, without a query. It rejects an idempotency key of a
// single item, because the request is written and replayed as a whole.
func parseItem(req *ledgerv1.CreateTransactionRequest) bulkItem {
	var item bulkItem
	if req.GetIdempotencyKey() != "" {
		item.problems.Invalid("idempotencyKey", "must be sent in the header, for the whole batch")
	}
	c := parseTransaction(&item.problems, req)
	item.transaction, item.named = c.apply(&item.problems, posting.Transaction{}), c.references()
	return item
}

// bulkProblems returns the problems of the first maxBadItems invalid items, including wallets and
// categories that do not belong to the owner, or nil if there are none. One query checks the
// references of all items.
func bulkProblems(ctx context.Context, q pg.Querier, owner uuid.UUID, items []bulkItem) error {
	named := make([]request.References, len(items))
	for i, item := range items {
		named[i] = item.named
	}
	owned, err := request.SelectReferences(ctx, q, owner, named...)
	if err != nil {
		return err
	}
	problems := make([]error, len(items))
	for i, item := range items {
		owned.Check(&item.problems, item.named)
		problems[i] = item.problems.Err()
	}
	return itemProblems("transactions", problems)
}

// itemProblems returns one error with the problems of the first maxBadItems invalid items, or nil.
// Its fields have the prefix list[i], with i from 0.
func itemProblems(list string, problems []error) error {
	var all apierr.Problems
	bad := 0
	for i, problem := range problems {
		item := fmt.Sprintf("%s[%d]", list, i)
		switch e := apierr.From(problem); {
		case e == nil || bad == maxBadItems:
			continue
		case len(e.Fields) == 0:
			all.Add(e.With(item, e.Message))
		default:
			all.Include(e.Under(item))
		}
		bad++
	}
	return all.Err()
}

func (s *Transactions) createTagged(
	ctx context.Context, transaction posting.Transaction, call idem.Call,
	resp *ledgerv1.CreateTransactionResponse,
) (*ledgerv1.CreateTransactionResponse, error) {
	var err error
	resp.Replayed, err = idem.InTx(ctx, s.DB, call, resp, func(tx pgx.Tx) error {
		ts := []posting.Transaction{transaction}
		if err := s.useTags(ctx, tx, transaction.OwnerID, ts); err != nil {
			return err
		}
		resp.Transaction = ts[0].Proto()
		written, err := s.InsertTransactions(ctx, tx, ts,
			[]*ledgerv1.Transaction{resp.GetTransaction()})
		if err == nil && !written[transaction.ID] {
			return posting.NotInserted(ctx, tx, transaction)
		}
		return err
	})
	if err != nil {
		return nil, s.rejected(ctx, transaction, err)
	}
	return resp, nil
}

// useTags is posting.UseTags for new transactions: it shares the owner's lock first.
func (s *Transactions) useTags(
	ctx context.Context, tx pgx.Tx, owner uuid.UUID, ts []posting.Transaction,
) error {
	if !slices.ContainsFunc(ts, func(t posting.Transaction) bool { return len(t.TagNames) > 0 }) {
		return nil
	}
	if err := posting.ShareOwner(ctx, tx, owner); err != nil {
		return err
	}
	return posting.UseTags(ctx, tx, owner, s.Now(), ts)
}
