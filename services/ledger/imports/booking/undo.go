package booking

import (
	"context"
	"slices"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"google.golang.org/grpc/codes"

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
	ctx context.Context, j jobs.Job, p *progress, pace *jobs.Pace,
) (finished bool, err error) {
	if !p.emptied {
		found, err := x.removeChunk(ctx, j, p, pace)
		p.emptied = err == nil && !found
		return false, err
	}
	if found, err := x.deleteCreated(ctx, j, p); err != nil || found {
		return false, err
	}
	return true, x.completeUndo(ctx, j)
}

// removeChunk deletes the transactions of the next booked rows, the last first. If no booked row
// is left, it unlinks matched transactions. found is false if no row of either kind is left. It
// keeps transactions that were changed since the import or have attachments, unless the undo is
// forced.
func (x *executor) removeChunk(
	ctx context.Context, j jobs.Job, p *progress, pace *jobs.Pace,
) (found bool, err error) {
	before := p.undone
	err = x.inChunk(ctx, j, func(tx pgx.Tx, e staging.Import) error {
		limit := pace.Rows()
		rows, err := selectBooked(ctx, tx, j.OwnerID, j.ID, p.undone, limit)
		if err != nil {
			return err
		}
		if found = len(rows) > 0; found {
			before = rows[len(rows)-1].N
			return x.remove(ctx, tx, e, rows)
		}
		n, err := x.unlink(ctx, tx, e, limit)
		if found = n > 0; found {
			return addProgress(ctx, tx, e, staging.Counts{}, 0, x.Now())
		}
		return err
	})
	if err == nil {
		p.undone = before
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
	ctx context.Context, tx pgx.Tx, e staging.Import, rows []bookedRow,
) error {
	ids, categories := make([]uuid.UUID, len(rows)), map[uuid.UUID]*uuid.UUID{}
	for i, r := range rows {
		ids[i], categories[r.TransactionID] = r.TransactionID, r.CategoryID
	}
	ts, err := posting.LockAll(ctx, tx, e.OwnerID, ids)
	if err != nil {
		return err
	}
	legs, err := lockOtherLegs(ctx, tx, e.OwnerID, ts)
	if err != nil {
		return err
	}
	r := plan(ts, legs, categories, e.UndoForce)
	if err := x.release(ctx, tx, e.OwnerID, r); err != nil {
		return err
	}
	if err := x.deleteAll(ctx, tx, e, r.removed); err != nil {
		return err
	}
	var undoneRows, kept []int32
	for _, b := range rows {
		if r.kept[b.TransactionID] {
			kept = append(kept, b.N)
		} else {
			undoneRows = append(undoneRows, b.N)
		}
	}
	changed, err := setUndone(ctx, tx, e.OwnerID, e.ID, rows[len(rows)-1].N, rows[0].N,
		undoneRows, kept)
	if err != nil {
		return err
	}
	return addProgress(ctx, tx, e, changed, int64(len(rows)), x.Now())
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
	r := removal{kept: map[uuid.UUID]bool{}}
	for _, t := range ts {
		pair, foreign := []posting.Transaction{t}, []posting.Transaction(nil)
		if t.TransferID != nil {
			// The first of two legs in ts decides. The second finds no sides.
			pair = sides[*t.TransferID]
			delete(sides, *t.TransferID)
			foreign = slices.DeleteFunc(slices.Clone(pair), func(leg posting.Transaction) bool {
				return own(t, leg)
			})
		}
		category := categories[t.ID]
		switch {
		case !force && changed(t, pair, foreign) || len(foreign) > 0 && category == nil:
			for _, leg := range pair {
				r.kept[leg.ID] = true
			}
		case len(foreign) > 0:
			r.removed = append(r.removed, t)
			r.imported = append(r.imported, t)
			r.released = append(r.released, foreign...)
			r.categories = append(r.categories, *category)
		default:
			r.removed = append(r.removed, pair...)
		}
	}
	return r
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
	ctx context.Context, tx pgx.Tx, e staging.Import, ts []posting.Transaction,
) error {
	if len(ts) == 0 {
		return nil
	}
	if err := posting.AddDetails(ctx, tx, e.OwnerID, ts); err != nil {
		return err
	}
	if err := posting.Delete(ctx, tx, ts...); err != nil {
		return err
	}
	if err := posting.Remove(ctx, tx, ts...); err != nil {
		return err
	}
	if err := deleteTags(ctx, tx, e.OwnerID, ts); err != nil {
		return err
	}
	event := &ledgerv1.TransactionsImportUndone{
		OwnerId: e.OwnerID.String(), ImportId: e.ID.String(), Count: int32(len(ts)),
	}
	event.WalletIds, event.CategoryIds, event.FirstDate, event.LastDate = concerned(ts)
	return x.Publish(ctx, tx, e.OwnerID, event)
}

// release makes ordinary transactions of the user's legs, and adds the events of these and of the
// former transfers. It reads the tags of the transfers, so it must precede deleteAll.
func (x *executor) release(ctx context.Context, tx pgx.Tx, owner uuid.UUID, r removal) error {
	if len(r.released) == 0 {
		return nil
	}
	for _, legs := range [][]posting.Transaction{r.released, r.imported} {
		if err := posting.AddDetails(ctx, tx, owner, legs); err != nil {
			return err
		}
	}
	after := slices.Clone(r.released)
	for i := range after {
		t := &after[i]
		t.TransferID = nil
		t.CategoryID = &r.categories[i]
		t.Version++
		t.UpdatedAt = x.Now()
		if err := posting.Update(ctx, tx, *t); err != nil {
			return err
		}
		former := transfers.Of(r.released[i], r.imported[i])
		if err := x.Publish(ctx, tx, owner, &ledgerv1.TransferDeleted{
			OwnerId: owner.String(), Transfer: former.Proto(),
		}); err != nil {
			return err
		}
	}
	if err := x.PublishUpdates(ctx, tx, r.released, after); err != nil {
		return err
	}
	return posting.Replace(ctx, tx, r.released, after)
}

// completeUndo ends the job. It follows the last deletion, so an import that is undone has left
// nothing that is not in use.
func (x *executor) completeUndo(ctx context.Context, j jobs.Job) error {
	return pg.InTx(ctx, x.DB, func(tx pgx.Tx) error {
		e, err := renewLease(ctx, tx, j)
		if err != nil {
			return err
		}
		if err := setStatus(ctx, tx, e, staging.Undone, "", x.Now()); err != nil {
			return err
		}
		m, err := summary(ctx, tx, j.OwnerID, j.ID)
		if err != nil {
			return err
		}
		return x.Publish(ctx, tx, j.OwnerID,
			&ledgerv1.ImportUndone{OwnerId: j.OwnerID.String(), Import: m})
	})
}

// deleteCreated deletes the next wallet or category that the import created, and reports whether
// there was one. One that something uses stays, and another undo tries it again.
func (x *executor) deleteCreated(
	ctx context.Context, j jobs.Job, p *progress,
) (found bool, err error) {
	c, found, err := staging.NextCreation(ctx, x.DB, j.OwnerID, j.ID, p.deleted)
	if err != nil || !found {
		return false, err
	}
	if _, err := renewLease(ctx, x.DB, j); err != nil {
		return false, err
	}
	if c.Kind == staging.CreatedWallet {
		_, err = x.accounts.DeleteWallet(ctx, &ledgerv1.DeleteWalletRequest{Id: c.ID.String()})
	} else {
		_, err = x.accounts.DeleteCategory(ctx, &ledgerv1.DeleteCategoryRequest{Id: c.ID.String()})
	}
	switch {
	case err == nil, hasCode(err, codes.NotFound):
		// The user may have deleted it, and so may an attempt that was interrupted here.
		err = staging.DeleteCreation(ctx, x.DB, j.OwnerID, j.ID, c.ID)
	case hasCode(err, codes.FailedPrecondition), hasCode(err, codes.AlreadyExists):
		err = nil
	}
	if err != nil {
		return false, err
	}
	p.deleted = c.ID
	return true, nil
}

// hasCode reports whether an error is a public one with a code.
func hasCode(err error, code codes.Code) bool {
	e := apierr.From(err)
	return e != nil && e.Code == code
}
