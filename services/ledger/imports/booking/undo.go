package booking

import (
	"context"
	"slices"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"google.golang.org/protobuf/proto"

	"github.com/coffer-budget/coffer/internal/jobs"
	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
	"github.com/coffer-budget/coffer/services/ledger/imports/staging"
	"github.com/coffer-budget/coffer/services/ledger/posting"
	"github.com/coffer-budget/coffer/services/ledger/transfers"
)

// undoChunk runs the next step of an undo, and ends the job after the last one: it deletes the
// reconciliations that the commit restored and the transactions of booked rows, then unlinks
// matched transactions, and then deletes the wallets and categories that the commit created.
func (x *executor) undoChunk(
	ctx context.Context, job jobs.Job, progress *progress, pace *jobs.Pace,
) (finished bool, err error) {
	if !progress.unlocked {
		found, err := x.unreconcile(ctx, job, progress)
		progress.unlocked = err == nil && !found
		return false, err
	}
	if !progress.emptied {
		found, err := x.removeChunk(ctx, job, progress, pace)
		progress.emptied = err == nil && !found
		return false, err
	}
	if found, err := x.deleteCreated(ctx, job, progress); err != nil || found {
		return false, err
	}
	return true, x.completeUndo(ctx, job)
}

// removeChunk deletes the transactions of the next booked rows, the last first. If no booked row
// is left, it unlinks matched transactions. found is false if no row of either kind is left. It
// keeps transactions that were changed since the import or have attachments, unless the undo is
// forced.
func (x *executor) removeChunk(
	ctx context.Context, job jobs.Job, progress *progress, pace *jobs.Pace,
) (found bool, err error) {
	before := progress.undone
	err = x.inChunk(ctx, job, func(tx pgx.Tx, imp staging.Import) error {
		limit := pace.Rows()
		rows, err := selectBooked(ctx, tx, job.OwnerID, job.ID, progress.undone, limit)
		if err != nil {
			return err
		}
		if found = len(rows) > 0; found {
			before = rows[len(rows)-1].N
			return x.remove(ctx, tx, imp, rows)
		}
		n, err := x.unlink(ctx, tx, imp, limit)
		if found = n > 0; found {
			return addProgress(ctx, tx, imp, staging.Counts{}, 0, x.Now())
		}
		return err
	})
	if err == nil {
		progress.undone = before
	}
	return found, err
}

// removal holds the decisions of a chunk of an undo about the transactions of its rows.
type removal struct {
	removed []posting.Transaction
	// kept holds the reasons why transactions stay, by id.
	kept map[uuid.UUID]string
	// released are legs of the user, which become ordinary transactions of the categories at the
	// same positions. imported are the legs at the other sides, which the undo removes.
	released, imported []posting.Transaction
	categories         []uuid.UUID
}

// remove deletes the transactions of rows, with the other legs that the commit created. A row whose
// transaction the user has deleted is undone, too.
func (x *executor) remove(
	ctx context.Context, tx pgx.Tx, imp staging.Import, rows []bookedRow,
) error {
	ids, categories := make([]uuid.UUID, len(rows)), map[uuid.UUID]*uuid.UUID{}
	for i, r := range rows {
		ids[i], categories[r.TransactionID] = r.TransactionID, r.CategoryID
	}
	ts, err := posting.LockAll(ctx, tx, imp.OwnerID, ids)
	if err != nil {
		return err
	}
	legs, err := lockOtherLegs(ctx, tx, imp.OwnerID, ts)
	if err != nil {
		return err
	}
	removal := plan(ts, legs, categories, imp.UndoForce)
	if err := x.release(ctx, tx, imp.OwnerID, removal); err != nil {
		return err
	}
	if err := x.deleteAll(ctx, tx, imp, removal.removed); err != nil {
		return err
	}
	outcome := undoOutcome{first: rows[len(rows)-1].N, last: rows[0].N}
	for _, b := range rows {
		if reason, ok := removal.kept[b.TransactionID]; ok {
			outcome.kept, outcome.reasons = append(outcome.kept, b.N),
				append(outcome.reasons, reason)
		} else {
			outcome.undone = append(outcome.undone, b.N)
		}
	}
	changed, err := setUndone(ctx, tx, imp.OwnerID, imp.ID, outcome)
	if err != nil {
		return err
	}
	return addProgress(ctx, tx, imp, changed, int64(len(rows)), x.Now())
}

// plan decides what happens to imported transactions and the other legs of their transfers. The
// commit creates both legs of a transfer at the same time. A leg of another time is the user's: the
// user or the commit has matched it with the imported one. It stays, as an ordinary transaction
// with the category of the row. If the commit matched the two, this is the former category of the
// leg. Without such a category the transfer is kept. Transactions that a reconciliation locks are
// kept, also if the undo is forced.
func plan(ts, legs []posting.Transaction, categories map[uuid.UUID]*uuid.UUID, force bool) removal {
	sides := map[uuid.UUID][]posting.Transaction{}
	for _, t := range slices.Concat(ts, legs) {
		if t.TransferID != nil {
			sides[*t.TransferID] = append(sides[*t.TransferID], t)
		}
	}
	own := func(t, leg posting.Transaction) bool {
		return leg.ImportID != nil && *leg.ImportID == *t.ImportID ||
			leg.ImportID == nil && leg.CreatedAt.Equal(t.CreatedAt)
	}
	removal := removal{kept: map[uuid.UUID]string{}}
	for _, transaction := range ts {
		pair, foreign := []posting.Transaction{transaction}, []posting.Transaction(nil)
		if transaction.TransferID != nil {
			// The first of two legs in ts decides. The second finds no sides.
			pair = sides[*transaction.TransferID]
			delete(sides, *transaction.TransferID)
			foreign = slices.DeleteFunc(slices.Clone(pair), func(leg posting.Transaction) bool {
				return own(transaction, leg)
			})
		}
		category := categories[transaction.ID]
		switch {
		case reconciled(pair, foreign):
			removal.keep(pair, "the transaction is reconciled")
		case !force && changed(transaction, pair, foreign) || len(foreign) > 0 && category == nil:
			removal.keep(pair, "the transaction was changed after the import")
		case len(foreign) > 0:
			removal.removed = append(removal.removed, transaction)
			removal.imported = append(removal.imported, transaction)
			removal.released = append(removal.released, foreign...)
			removal.categories = append(removal.categories, *category)
		default:
			removal.removed = append(removal.removed, pair...)
		}
	}
	return removal
}

func (r removal) keep(ts []posting.Transaction, reason string) {
	for _, t := range ts {
		r.kept[t.ID] = reason
	}
}

// reconciled reports whether a reconciliation locks a transaction that the undo would delete: one
// of pair, except for the legs in foreign.
func reconciled(pair, foreign []posting.Transaction) bool {
	return slices.ContainsFunc(pair, func(leg posting.Transaction) bool {
		stays := slices.ContainsFunc(foreign, func(f posting.Transaction) bool {
			return f.ID == leg.ID
		})
		return leg.ReconciliationID != nil && !stays
	})
}

// changed reports whether the user has changed an imported transaction since the commit. pair holds
// the transaction and the other leg of its transfer, if it has one. The legs in foreign were
// matched with it: by the commit if both legs have not been updated since the newer of the imported
// ones was created. Attachments of a foreign leg do not count, because the leg stays.
func changed(t posting.Transaction, pair, foreign []posting.Transaction) bool {
	committed := t.CreatedAt
	for _, leg := range pair {
		if leg.ImportID != nil && *leg.ImportID == *t.ImportID && leg.CreatedAt.After(committed) {
			committed = leg.CreatedAt
		}
	}
	matched := len(pair) == 2 && !slices.ContainsFunc(pair, func(leg posting.Transaction) bool {
		return !leg.UpdatedAt.Equal(committed)
	})
	return slices.ContainsFunc(pair, func(leg posting.Transaction) bool {
		stays := slices.ContainsFunc(foreign, func(f posting.Transaction) bool {
			return f.ID == leg.ID
		})
		return leg.Version > 1 && !matched || leg.AttachmentCount > 0 && !stays
	})
}

// deleteAll deletes transactions, corrects balances and totals, and adds one event.
func (x *executor) deleteAll(
	ctx context.Context, tx pgx.Tx, imp staging.Import, ts []posting.Transaction,
) error {
	if len(ts) == 0 {
		return nil
	}
	if err := posting.AddDetails(ctx, tx, imp.OwnerID, ts); err != nil {
		return err
	}
	if err := posting.Delete(ctx, tx, ts...); err != nil {
		return err
	}
	if err := posting.Remove(ctx, tx, ts...); err != nil {
		return err
	}
	if err := deleteTags(ctx, tx, imp.OwnerID, ts); err != nil {
		return err
	}
	event := &ledgerv1.TransactionsImportUndone{
		OwnerId: imp.OwnerID.String(), ImportId: imp.ID.String(), Count: int32(len(ts)),
	}
	event.WalletIds, event.CategoryIds, event.FirstDate, event.LastDate = concerned(ts)
	return x.Publish(ctx, tx, imp.OwnerID, event)
}

// release makes ordinary transactions of the user's legs, and adds the events of these and of the
// former transfers. It reads the tags of the transfers, so it must precede deleteAll.
func (x *executor) release(ctx context.Context, tx pgx.Tx, owner uuid.UUID, removal removal) error {
	if len(removal.released) == 0 {
		return nil
	}
	for _, legs := range [][]posting.Transaction{removal.released, removal.imported} {
		if err := posting.AddDetails(ctx, tx, owner, legs); err != nil {
			return err
		}
	}
	after := slices.Clone(removal.released)
	events := make([]proto.Message, len(after))
	for i := range after {
		transaction := &after[i]
		transaction.TransferID = nil
		transaction.CategoryID = &removal.categories[i]
		transaction.Version++
		transaction.UpdatedAt = x.Now()
		events[i] = transfers.Of(removal.released[i], removal.imported[i]).Deleted()
	}
	if err := posting.Update(ctx, tx, after...); err != nil {
		return err
	}
	if err := x.Publish(ctx, tx, owner, events...); err != nil {
		return err
	}
	if err := x.PublishUpdates(ctx, tx, removal.released, after); err != nil {
		return err
	}
	return posting.Replace(ctx, tx, removal.released, after)
}
