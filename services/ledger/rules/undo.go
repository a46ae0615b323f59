package rules

import (
	"context"
	"slices"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/coffer-budget/coffer/internal/caller"
	"github.com/coffer-budget/coffer/internal/idem"
	"github.com/coffer-budget/coffer/internal/jobs"
	"github.com/coffer-budget/coffer/internal/pg"
	"github.com/coffer-budget/coffer/internal/text"
	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
	"github.com/coffer-budget/coffer/services/ledger/posting"
)

// UndoRule queues the undo of the latest application of one of the caller's rules. Errors:
// RULE_NOT_FOUND, RULE_RUNNING, and RULE_NOT_UNDOABLE.
func (s *Rules) UndoRule(
	ctx context.Context, req *ledgerv1.UndoRuleRequest,
) (*ledgerv1.UndoRuleResponse, error) {
	id, ok := text.ID(req.GetId())
	if !ok {
		return nil, errInvalidID
	}
	owner := caller.ID(ctx)
	resp := &ledgerv1.UndoRuleResponse{}
	call := idem.Call{Owner: owner, Key: req.GetIdempotencyKey(), Request: req}
	var err error
	resp.Replayed, err = idem.InTx(ctx, s.DB, call, resp, func(tx pgx.Tx) error {
		rule, err := lockIdle(ctx, tx, id)
		if err != nil {
			return err
		}
		now := s.Now()
		if until := rule.undoableUntil(); until == nil || !now.Before(*until) {
			return errNotUndoable
		}
		if err := queueUndo(ctx, tx, owner, id, now); err != nil {
			return err
		}
		resp.Rule, err = s.publishJob(ctx, tx, owner, id)
		return err
	})
	if err != nil {
		return nil, err
	}
	s.Jobs.Wake()
	return resp, nil
}

// undoChunk restores the next transactions that an application has changed, and reports whether
// there were none. The deletion of their changes commits together with the restored values, so a
// job that continues on another replica restores nothing twice.
func (s *Rules) undoChunk(
	ctx context.Context, job jobs.Job, pace *jobs.Pace,
) (finished bool, err error) {
	err = pg.InTx(ctx, s.DB, func(tx pgx.Tx) error {
		if err := posting.LockOwner(ctx, tx, job.OwnerID); err != nil {
			return err
		}
		written, err := jobs.Renew[written](ctx, tx, jobTable, job, writtenColumns)
		if err != nil {
			return err
		}
		changes, err := takeChanges(ctx, tx, job, written.AppliedAt, pace.Rows())
		if err != nil {
			return err
		}
		if finished = len(changes) == 0; finished {
			return nil
		}
		restored, kept, err := s.restoreAll(ctx, tx, job.OwnerID, written, changes)
		if err != nil {
			return err
		}
		return advanceUndo(ctx, tx, job, len(changes), restored, kept)
	})
	return finished, err
}

// restoreAll restores the transactions of changes that still exist, with their totals and events.
// It returns how many it restored, and how many it kept at least in part.
func (s *Rules) restoreAll(
	ctx context.Context, tx pgx.Tx, owner uuid.UUID, written written, changes []change,
) (restored, kept int, err error) {
	ids, byID := make([]uuid.UUID, len(changes)), map[uuid.UUID]change{}
	for i, c := range changes {
		ids[i], byID[c.TransactionID] = c.TransactionID, c
	}
	ts, err := posting.LockAll(ctx, tx, owner, ids)
	if err != nil {
		return 0, 0, err
	}
	if err := posting.AddDetails(ctx, tx, owner, ts); err != nil {
		return 0, 0, err
	}
	var before, after []posting.Transaction
	for _, t := range ts {
		next, changed, complete := byID[t.ID].restore(t, written)
		if changed {
			before, after = append(before, t), append(after, next)
		}
		if complete {
			restored++
		} else {
			kept++
		}
	}
	return restored, kept, s.replace(ctx, tx, before, after)
}

// restore returns a transaction with its values from before the application, where it still has the
// written ones. changed reports whether that changes anything, and complete whether all fields that
// the application has changed now have their former values.
func (c change) restore(
	transaction posting.Transaction, written written,
) (after posting.Transaction, changed, complete bool) {
	if transaction.TransferID != nil {
		return transaction, false, false
	}
	after, complete = transaction, true
	for _, field := range []struct{ value, former, wrote *string }{
		{&after.Payee, c.Payee, written.Payee},
		{&after.Description, c.Description, written.Description},
		{&after.Notes, c.Notes, written.Notes},
	} {
		switch {
		case field.former == nil || *field.value == *field.former:
		case field.wrote != nil && *field.value == *field.wrote:
			*field.value, changed = *field.former, true
		default:
			complete = false
		}
	}
	switch {
	case !c.Recategorized || c.CategoryID != nil && transaction.HasCategory(*c.CategoryID):
	case c.CategoryID != nil && written.Category != nil &&
		transaction.HasCategory(*written.Category):
		after.CategoryID, changed = c.CategoryID, true
	default:
		complete = false
	}
	switch {
	case !c.Tagged:
	case written.Tag == nil:
		complete = false
	default:
		if i := slices.Index(transaction.Tags, *written.Tag); i >= 0 {
			after.Tags = slices.Delete(slices.Clone(transaction.Tags), i, i+1)
			after.TagNames = slices.Delete(slices.Clone(transaction.TagNames), i, i+1)
			changed = true
		}
	}
	return after, changed, complete
}
