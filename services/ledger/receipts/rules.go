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
func (s *Receipts) applyRules(ctx context.Context, reading *reading) error {
	if reading.withoutRules {
		return nil
	}
	set, err := rules.Load(ctx, s.DB, reading.owner, rules.OnReceipt)
	if err != nil || set.Empty() {
		return err
	}
	set.Limit(rules.RequestSteps)
	for i := range reading.transactions {
		transaction := &reading.transactions[i]
		o, err := rules.Run(ctx, set, rules.Subject(*transaction))
		if err != nil {
			return err
		}
		if o.Category != uuid.Nil && !reading.categorized[i] {
			transaction.CategoryID = &o.Category
		}
		rules.Complete(transaction, o)
		reading.countRules(o.Matched)
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
	ctx context.Context, tx pgx.Tx, reading reading, transactions []posting.Transaction,
) error {
	if len(reading.applied) == 0 {
		return nil
	}
	if err := posting.ShareOwner(ctx, tx, reading.owner); err != nil {
		return err
	}
	if err := posting.UseTags(ctx, tx, reading.owner, s.Now(), transactions); err != nil {
		return err
	}
	return rules.CountApplied(ctx, tx, reading.owner, reading.applied, reading.appliedTo, s.Now())
}
