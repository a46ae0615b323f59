package transactions

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"google.golang.org/protobuf/proto"

	"github.com/coffer-budget/coffer/internal/apierr"
	"github.com/coffer-budget/coffer/internal/caller"
	"github.com/coffer-budget/coffer/internal/etag"
	"github.com/coffer-budget/coffer/internal/text"
	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
	"github.com/coffer-budget/coffer/services/ledger/posting"
	"github.com/coffer-budget/coffer/services/ledger/request"
	"github.com/coffer-budget/coffer/services/ledger/transfers"
)

// revision holds the transactions that a request has locked, and their next versions. Both legs of
// a transfer are among them, because a change of one may change the other. The slices are parallel.
type revision struct {
	owner         uuid.UUID
	before, after []posting.Transaction
	// others are the places of the other legs, or -1 for a transaction that is no leg.
	others []int
	places map[uuid.UUID]int
	// unlocking decides about transactions that reconciliations lock.
	unlocking posting.Unlocking
	// missing has the errors of the ids of the request that the caller does not have.
	missing map[uuid.UUID]*apierr.Error
}

// lockForChange locks the caller's transactions, and the other legs of transfers. It shares the
// owner's lock first, like each database transaction that writes totals (see ownerLock).
func lockForChange(ctx context.Context, tx pgx.Tx, ids ...uuid.UUID) (*revision, error) {
	owner := caller.ID(ctx)
	if err := posting.ShareOwner(ctx, tx, owner); err != nil {
		return nil, err
	}
	rows, err := posting.Lock(ctx, tx, owner, ids...)
	if err != nil {
		return nil, err
	}
	if err := posting.AddDetails(ctx, tx, owner, rows); err != nil {
		return nil, err
	}
	r := &revision{
		owner: owner, before: rows, after: slices.Clone(rows),
		others: make([]int, len(rows)), places: make(map[uuid.UUID]int, len(rows)),
	}
	first := map[uuid.UUID]int{}
	for i, row := range rows {
		r.places[row.ID], r.others[i] = i, -1
		if row.TransferID == nil {
			continue
		}
		if j, ok := first[*row.TransferID]; ok {
			r.others[i], r.others[j] = j, i
		}
		first[*row.TransferID] = i
	}
	unknown := slices.DeleteFunc(slices.Clone(ids), func(id uuid.UUID) bool {
		_, ok := r.places[id]
		return ok
	})
	r.missing, err = posting.NotFound(ctx, tx, owner, unknown...)
	return r, err
}

// check returns the error of a transaction that the caller does not have, or that has another
// version than the request is based on.
func (r *revision) check(id uuid.UUID, ifMatch string) error {
	i, ok := r.places[id]
	switch {
	case !ok:
		return r.missing[id]
	case !etag.Matches(ifMatch, r.before[i].Version):
		return apierr.VersionMismatch
	}
	return nil
}

// checkAll returns the error of checkDeletion for each given id, or nil for a valid one. An id that
// occurs twice has one error, at its first place.
func (r *revision) checkAll(given []string) []error {
	problems, checked := make([]error, len(given)), map[uuid.UUID]bool{}
	for i, s := range given {
		if id, ok := text.ID(s); ok && !checked[id] {
			problems[i], checked[id] = r.checkDeletion(id, ""), true
		}
	}
	return problems
}

// apply sets the fields that the items change, and returns the problem of each item, or nil for a
// valid one.
func (r *revision) apply(
	ctx context.Context, tx pgx.Tx, items []change,
) (problems []error, err error) {
	named := make([]request.References, len(items))
	for i, item := range items {
		named[i] = item.references()
	}
	owned, err := request.SelectReferences(ctx, tx, r.owner, named...)
	if err != nil {
		return nil, err
	}
	keys, err := tagKeys(ctx, tx, r.owner, items)
	if err != nil {
		return nil, err
	}
	problems = make([]error, len(items))
	for i, item := range items {
		problems[i] = r.applyItem(item, owned, keys)
	}
	return problems, nil
}

// applyItem sets the fields that one item changes, and returns its problem. The problems of fields
// take precedence over those of the transaction: not found, another user's, another version, a leg
// of a transfer, an adjustment, or locked by a reconciliation. Of a leg, the fields that both legs
// share change in both of them, and the others only in the named one. keys are those of the tags
// that the item names.
func (r *revision) applyItem(item change, owned request.Owned, keys map[string]string) error {
	if item.rejected != nil {
		return item.rejected
	}
	// A copy, because pg.InTx may run its function again, which must start with the same problems.
	problems := item.problems
	if err := r.check(item.id, item.etag); err != nil {
		return cmp.Or(problems.Err(), err)
	}
	i := r.places[item.id]
	if other := r.others[i]; other >= 0 {
		if err := cmp.Or(problems.Err(), item.checkLeg(r.before[i])); err != nil {
			return err
		}
		for _, leg := range []*posting.Transaction{&r.after[i], &r.after[other]} {
			item.applyShared(leg)
			item.applyTags(&problems, leg, keys)
		}
		request.Set(&r.after[i].Payee, item.payee)
		request.Set(&r.after[i].Cleared, item.cleared)
		return cmp.Or(problems.Err(), r.unlock(i), r.unlock(other))
	}
	if r.before[i].Adjustment {
		if err := cmp.Or(problems.Err(), item.checkAdjustment()); err != nil {
			return err
		}
	}
	r.after[i] = item.apply(&problems, r.after[i])
	item.applyTags(&problems, &r.after[i], keys)
	owned.Check(&problems, item.references())
	return cmp.Or(problems.Err(), r.unlock(i))
}

// unlock returns TRANSACTION_RECONCILED if a reconciliation locks a field of the transaction that
// has changed.
func (r *revision) unlock(i int) error { return r.unlocking.Change(r.before[i], &r.after[i]) }

// checkDeletion is check for the deletion of a transaction, which a reconciliation may lock. With a
// leg of a transfer, it also checks the other leg.
func (r *revision) checkDeletion(id uuid.UUID, ifMatch string) error {
	if err := r.check(id, ifMatch); err != nil {
		return err
	}
	i := r.places[id]
	err := r.unlocking.Delete(r.before[i])
	if other := r.others[i]; other >= 0 {
		err = cmp.Or(err, r.unlocking.Delete(r.before[other]))
	}
	return err
}

// tagKeys returns the keys of the tags that items name, or nil if no item adds or removes tags.
func tagKeys(
	ctx context.Context, tx pgx.Tx, owner uuid.UUID, items []change,
) (map[string]string, error) {
	var changed, given []string
	for _, item := range items {
		changed = append(append(changed, item.addedTags...), item.removedTags...)
		if item.tags != nil {
			given = append(given, *item.tags...)
		}
	}
	if len(changed) == 0 {
		return nil, nil
	}
	return posting.TagKeys(ctx, tx, owner, slices.Concat(changed, given))
}

// useTags sets the tags of the transactions whose items change them.
func (r *revision) useTags(ctx context.Context, tx pgx.Tx, at time.Time, items []change) error {
	var places []int
	for _, item := range items {
		if item.tags == nil && len(item.addedTags)+len(item.removedTags) == 0 {
			continue
		}
		i := r.places[item.id]
		places = append(places, i)
		if other := r.others[i]; other >= 0 {
			places = append(places, other)
		}
	}
	tagged := make([]posting.Transaction, len(places))
	for i, place := range places {
		tagged[i] = r.after[place]
	}
	if err := posting.UseTags(ctx, tx, r.owner, at, tagged); err != nil {
		return err
	}
	for i, place := range places {
		r.after[place] = tagged[i]
	}
	return nil
}

// number gives the changed transactions their next versions, and returns the events of the changes
// in the order of the items. A transfer has one event, although both of its legs change.
func (r *revision) number(items []change, at time.Time) []proto.Message {
	var events []proto.Message
	for _, item := range items {
		i := r.places[item.id]
		before, after := &r.before[i], &r.after[i]
		if after.Version > before.Version {
			continue // The item of the other leg is an earlier one.
		}
		if r.others[i] < 0 {
			after.Version, after.UpdatedAt = before.Version+1, at
			events = append(events, &ledgerv1.TransactionUpdated{
				OwnerId: r.owner.String(), Before: before.Proto(), After: after.Proto(),
			})
			continue
		}
		other := &r.after[r.others[i]]
		changed, event := transfers.Next(transfers.Of(*before, r.before[r.others[i]]),
			transfers.Of(*after, *other), at)
		for _, leg := range []posting.Transaction{changed.Out, changed.In} {
			r.after[r.places[leg.ID]] = leg
		}
		events = append(events, event)
	}
	return events
}

// named returns the transactions that the items name, in their order.
func (r *revision) named(items []change) []posting.Transaction {
	ts := make([]posting.Transaction, len(items))
	for i, item := range items {
		ts[i] = r.after[r.places[item.id]]
	}
	return ts
}

// write writes the rows, and corrects balances and totals.
func (r *revision) write(ctx context.Context, tx pgx.Tx) error {
	if err := posting.Update(ctx, tx, r.after...); err != nil {
		return posting.ClientError(err)
	}
	var split []posting.Transaction
	for i, t := range r.after {
		if len(r.before[i].Splits)+len(t.Splits) > 0 {
			split = append(split, t)
		}
	}
	if err := posting.ReplaceSplits(ctx, tx, split...); err != nil {
		return posting.ClientError(err)
	}
	if err := posting.Replace(ctx, tx, r.before, r.after); err != nil {
		return err
	}
	return r.unlocking.Write(ctx, tx, r.owner)
}
