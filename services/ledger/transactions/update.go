package transactions

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/coffer-budget/coffer/internal/apierr"
	"github.com/coffer-budget/coffer/internal/etag"
	"github.com/coffer-budget/coffer/internal/pg"
	"github.com/coffer-budget/coffer/internal/text"
	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
	"github.com/coffer-budget/coffer/services/ledger/posting"
	"github.com/coffer-budget/coffer/services/ledger/request"
)

// UpdateTransaction changes the fields that the request sets, and corrects balances and totals
// accordingly.
func (s *Transactions) UpdateTransaction(
	ctx context.Context, req *ledgerv1.UpdateTransactionRequest,
) (*ledgerv1.UpdateTransactionResponse, error) {
	item := parseChange(&ledgerv1.TransactionChange{
		Id: req.GetId(), Etag: req.GetIfMatch(), Amount: req.Amount, Description: req.Description,
		Date: req.Date, Currency: req.Currency, WalletId: req.WalletId, CategoryId: req.CategoryId,
		Type: req.Type, Payee: req.Payee, Notes: req.Notes, Tags: req.GetTags(),
		Splits: req.GetSplits(), AddTags: req.GetAddTags(), RemoveTags: req.GetRemoveTags(),
		Cleared: req.Cleared,
	})
	if item.rejected != nil {
		return nil, item.rejected
	}
	ts, err := s.update(ctx, req.GetUnlock(), single, item)
	if pg.IsViolation(err, externalKey) {
		return nil, s.rejected(ctx, ts[0], err)
	}
	if err != nil {
		return nil, err
	}
	return &ledgerv1.UpdateTransactionResponse{
		Transaction: ts[0].Proto(), Etag: etag.Format(ts[0].Version),
	}, nil
}

// UpdateTransactions changes up to maxBulkItems transactions, all or none, as UpdateTransaction
// changes one. The number of statements does not depend on the number of items.
func (s *Transactions) UpdateTransactions(
	ctx context.Context, req *ledgerv1.UpdateTransactionsRequest,
) (*ledgerv1.UpdateTransactionsResponse, error) {
	requested := req.GetItems()
	if len(requested) == 0 || len(requested) > maxBulkItems {
		return nil, apierr.Invalid("items", fmt.Sprintf("must be 1 to %d changes", maxBulkItems))
	}
	leave, err := s.bulks.Enter(ctx)
	if err != nil {
		return nil, err
	}
	defer leave()
	items, places := make([]change, len(requested)), map[uuid.UUID]int{}
	for i, item := range requested {
		items[i] = parseChange(item)
		place, repeated := places[items[i].id]
		switch {
		case items[i].rejected != nil:
		case repeated:
			problem := fmt.Sprintf("is also that of items[%d]", place)
			items[i].rejected = apierr.Invalid("id", problem)
		default:
			places[items[i].id] = i
		}
	}
	all := func(problems []error) error { return itemProblems("items", problems) }
	ts, err := s.update(ctx, req.GetUnlock(), all, items...)
	if pg.IsViolation(err, externalKey) {
		return nil, cmp.Or(s.duplicates(ctx, "items", ts), error(apierr.Unavailable))
	}
	if err != nil {
		return nil, err
	}
	return &ledgerv1.UpdateTransactionsResponse{
		Transactions: posting.Protos(ts), Etags: etags(ts),
	}, nil
}

// change is a change of one transaction.
type change struct {
	id uuid.UUID
	// etag is empty if the change applies to any version.
	etag string
	changes
	// problems are those of single fields. rejected is the problem of the whole item, without which
	// the item is not read.
	problems apierr.Problems
	rejected error
}

func parseChange(item *ledgerv1.TransactionChange) change {
	id, ok := text.ID(item.GetId())
	if !ok {
		return change{rejected: errInvalidTransactionID}
	}
	parsed := change{id: id, etag: item.GetEtag()}
	parsed.changes, parsed.rejected = parseTransactionUpdate(&parsed.problems, item)
	return parsed
}

// update writes the next versions of transactions with their postings and events, in one database
// transaction, and returns them in the order of the items. unlock allows changes of locked
// transactions. combine returns the error of the problems of all items, which are nil for the valid
// ones. If PostgreSQL rejects the versions, they are returned with the error.
func (s *Transactions) update(
	ctx context.Context, unlock bool, combine func([]error) error, items ...change,
) ([]posting.Transaction, error) {
	var ts []posting.Transaction
	err := pg.InTx(ctx, s.DB, func(tx pgx.Tx) error {
		r, err := lockForChange(ctx, tx, ids(items)...)
		if err != nil {
			return err
		}
		r.unlocking.Allowed = unlock
		problems, err := r.apply(ctx, tx, items)
		if err != nil {
			return err
		}
		if err := combine(problems); err != nil {
			return err
		}
		if err := r.useTags(ctx, tx, s.Now(), items); err != nil {
			return err
		}
		events := r.number(items, s.Now())
		ts = r.named(items)
		if err := r.write(ctx, tx); err != nil {
			return err
		}
		return s.Publish(ctx, tx, r.owner, events...)
	})
	return ts, err
}

func ids(items []change) []uuid.UUID {
	var ids []uuid.UUID
	for _, item := range items {
		if item.rejected == nil {
			ids = append(ids, item.id)
		}
	}
	return ids
}

// single returns the problem of the only item.
func single(problems []error) error { return problems[0] }

// applyTags removes and adds tags by the keys of their names, which differ only in case for names
// of the same tag. The names of new tags follow those of t. The keys stay parallel to the names,
// because the item of the other leg may change them again; posting.UseTags sets both later.
func (c changes) applyTags(
	problems *apierr.Problems, t *posting.Transaction, keys map[string]string,
) {
	if c.tags != nil {
		t.Tags = make([]string, len(*c.tags))
		for i, name := range *c.tags {
			t.Tags[i] = keys[name]
		}
		return
	}
	if len(c.addedTags)+len(c.removedTags) == 0 {
		return
	}
	var names, present []string
	for i, key := range t.Tags {
		removes := func(name string) bool { return keys[name] == key }
		if !slices.ContainsFunc(c.removedTags, removes) {
			names, present = append(names, t.TagNames[i]), append(present, key)
		}
	}
	for _, name := range c.addedTags {
		if key := keys[name]; !slices.Contains(present, key) {
			names, present = append(names, name), append(present, key)
		}
	}
	if len(names) > request.MaxTags {
		problems.Invalid("addTags", fmt.Sprintf("must leave at most %d tags", request.MaxTags))
	}
	t.Tags, t.TagNames = present, names
}

// checkLeg returns TRANSACTION_IS_TRANSFER if the changes contain a field that a request can only
// change in the transfer.
func (c changes) checkLeg(transaction posting.Transaction) error {
	var fields []apierr.Field
	for _, field := range []struct {
		name string
		set  bool
	}{
		{"amount", c.amount != nil},
		{"currency", c.currency != nil},
		{"walletId", c.wallet != nil},
		{"categoryId", c.category != nil},
		{"type", c.kind != nil},
		{"splits", c.splits != nil},
	} {
		if field.set {
			fields = append(fields,
				apierr.Field{Name: field.name, Message: "must be changed in the transfer"})
		}
	}
	if len(fields) == 0 {
		return nil
	}
	e := errTransactionIsTransfer.WithMessage("The transaction is part of transfer " +
		transaction.TransferID.String())
	e.Fields = fields
	return e
}

// checkAdjustment returns TRANSACTION_IS_ADJUSTMENT if the changes contain a field that an
// adjustment does not have.
func (c changes) checkAdjustment() error {
	e := *errTransactionIsAdjustment
	for _, field := range []struct {
		name string
		set  bool
	}{
		{"categoryId", c.category != nil},
		{"type", c.kind != nil},
		{"splits", c.splits != nil},
	} {
		if field.set {
			e.Fields = append(e.Fields,
				apierr.Field{Name: field.name, Message: "must be absent for an adjustment"})
		}
	}
	if len(e.Fields) == 0 {
		return nil
	}
	return &e
}

func (c changes) applyShared(t *posting.Transaction) {
	request.Set(&t.Description, c.description)
	request.Set(&t.Date, c.date)
	request.Set(&t.Notes, c.notes)
	request.Set(&t.TagNames, c.tags)
}
