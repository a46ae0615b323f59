package booking

import (
	"context"
	"slices"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/proto"

	"github.com/coffer-budget/coffer/internal/apierr"
	"github.com/coffer-budget/coffer/internal/jobs"
	"github.com/coffer-budget/coffer/internal/pg"
	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
	"github.com/coffer-budget/coffer/services/ledger/imports/staging"
	"github.com/coffer-budget/coffer/services/ledger/posting"
	"github.com/coffer-budget/coffer/services/ledger/transfers"
)

// undoChunk runs the next step of an undo, and ends the job after the last one: it deletes the
// transactions of booked rows, then unlinks matched transactions, and then deletes the wallets and
// categories that the commit created.
func (x *executor) undoChunk(
	ctx context.Context, job jobs.Job, progress *progress, pace *jobs.Pace,
) (finished bool, err error) {
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
	// kept holds the ids of transactions that stay.
	kept map[uuid.UUID]bool
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
	var undoneRows, kept []int32
	for _, b := range rows {
		if removal.kept[b.TransactionID] {
			kept = append(kept, b.N)
		} else {
			undoneRows = append(undoneRows, b.N)
		}
	}
	changed, err := setUndone(ctx, tx, imp.OwnerID, imp.ID, rows[len(rows)-1].N, rows[0].N,
		undoneRows, kept)
	if err != nil {
		return err
	}
	return addProgress(ctx, tx, imp, changed, int64(len(rows)), x.Now())
}

// plan decides what happens to imported transactions and the other legs of their transfers. The
// commit creates both legs of a transfer at the same time. A leg of another time is the user's: the
// user or the commit has matched it with the imported one. It stays, as an ordinary transaction
// with the category of the row. If the commit matched the two, this is the former category of the
// leg. Without such a category the transfer is kept.
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
	removal := removal{kept: map[uuid.UUID]bool{}}
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
		case !force && changed(transaction, pair, foreign) || len(foreign) > 0 && category == nil:
			for _, leg := range pair {
				removal.kept[leg.ID] = true
			}
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

// completeUndo ends the job. It follows the last deletion, so an import that is undone has left
// nothing that is not in use.
func (x *executor) completeUndo(ctx context.Context, job jobs.Job) error {
	return pg.InTx(ctx, x.DB, func(tx pgx.Tx) error {
		e, err := renewLease(ctx, tx, job)
		if err != nil {
			return err
		}
		if err := setStatus(ctx, tx, e, staging.Undone, "", x.Now()); err != nil {
			return err
		}
		m, err := summary(ctx, tx, job.OwnerID, job.ID)
		if err != nil {
			return err
		}
		return x.Publish(ctx, tx, job.OwnerID,
			&ledgerv1.ImportUndone{OwnerId: job.OwnerID.String(), Import: m})
	})
}

// deleteCreated deletes the next wallet or category that the import created, and reports whether
// there was one. One that something uses stays, and another undo tries it again.
func (x *executor) deleteCreated(
	ctx context.Context, job jobs.Job, progress *progress,
) (found bool, err error) {
	creation, found, err := staging.NextCreation(ctx, x.DB, job.OwnerID, job.ID, progress.deleted)
	if err != nil || !found {
		return false, err
	}
	if _, err := renewLease(ctx, x.DB, job); err != nil {
		return false, err
	}
	if id := creation.ID.String(); creation.Kind == staging.CreatedWallet {
		_, err = x.accounts.DeleteWallet(ctx, &ledgerv1.DeleteWalletRequest{Id: id})
	} else {
		_, err = x.accounts.DeleteCategory(ctx, &ledgerv1.DeleteCategoryRequest{Id: id})
	}
	switch {
	case err == nil, hasCode(err, codes.NotFound):
		// The user may have deleted it, and so may an attempt that was interrupted here.
		err = staging.DeleteCreation(ctx, x.DB, job.OwnerID, job.ID, creation.ID)
	case hasCode(err, codes.FailedPrecondition), hasCode(err, codes.AlreadyExists):
		err = nil
	}
	if err != nil {
		return false, err
	}
	progress.deleted = creation.ID
	return true, nil
}

// hasCode reports whether an error is a public one with a code.
func hasCode(err error, code codes.Code) bool {
	e := apierr.From(err)
	return e != nil && e.Code == code
}
