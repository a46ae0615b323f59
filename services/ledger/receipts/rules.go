package receipts

import (
	"context"
	"slices"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/coffer-budget/coffer/services/ledger/posting"
	"github.com/coffer-budget/coffer/services/ledger/rules"
)

// applyRules runs the owner's rules for receipts on the transactions of a reading, unless the
// request switches rules off. The merchant is the payee, and the line is the description. A
// category that the user corrected takes precedence over rules, and the category of the request
// applies where no rule sets one. Transfers and skips have no effect: the transactions must add up
// to the total.
func (s *Receipts) applyRules(ctx context.Context, r *reading) error {
	if r.withoutRules {
		return nil
	}
	set, err := rules.Load(ctx, s.DB, r.owner, rules.OnReceipt)
	if err != nil || set.Empty() {
		return err
	}
	set.Limit(rules.RequestSteps)
	for i := range r.transactions {
		t := &r.transactions[i]
		o, err := rules.Run(ctx, set, rules.Subject(*t))
		if err != nil {
			return err
		}
		if o.Category != uuid.Nil && !r.categorized[i] {
			t.CategoryID = &o.Category
		}
		rules.Complete(t, o)
		r.countRules(o.Matched)
	}
	return nil
}

func (r *reading) countRules(matched []uuid.UUID) {
	for _, id := range matched {
		at := slices.Index(r.applied, id)
		if at < 0 {
			at = len(r.applied)
			r.applied, r.appliedTo = append(r.applied, id), append(r.appliedTo, 0)
		}
		r.appliedTo[at]++
	}
}

// recordRules stores the tags that rules added to transactions, and counts the applications of the
// rules. Without a match it does nothing.
func (s *Receipts) recordRules(
	ctx context.Context, tx pgx.Tx, r reading, transactions []posting.Transaction,
) error {
	if len(r.applied) == 0 {
		return nil
	}
	if err := posting.ShareOwner(ctx, tx, r.owner); err != nil {
		return err
	}
	if err := posting.UseTags(ctx, tx, r.owner, s.Now(), transactions); err != nil {
		return err
	}
	return rules.CountApplied(ctx, tx, r.owner, r.applied, r.appliedTo, s.Now())
}
