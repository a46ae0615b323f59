package rules

import (
	"context"
	"errors"
	"math"
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/coffer-budget/coffer/internal/apierr"
	"github.com/coffer-budget/coffer/internal/caller"
	"github.com/coffer-budget/coffer/internal/idem"
	"github.com/coffer-budget/coffer/internal/pg"
	"github.com/coffer-budget/coffer/internal/text"
	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
	"github.com/coffer-budget/coffer/services/ledger/posting"
	"github.com/coffer-budget/coffer/services/ledger/request"
	"github.com/coffer-budget/coffer/services/ledger/rules/matching"
)

const (
	previewed = "RULE_PREVIEWED"
	// maxPreviewed is the maximum number of transactions that a preview examines. A preview of a
	// longer history counts its newest transactions only, while the job applies the rule to all of
	// them. Patterns examine fewer if they take RequestSteps before.
	maxPreviewed = 20_000
	// previewRows is the number of transactions that a preview reads together.
	previewRows = 5000
	maxExamples = 10
)

// ApplyRule applies one of the caller's rules to existing transactions: it queues a job, or with
// dryRun counts the transactions that the rule would change and returns examples. Legs of transfers
// are not changed.
//
// Errors: RULE_RUNNING while the rule is being applied or an application of it is being undone,
// RULE_NOT_FOUND, and the errors of the window.
//
// The job reads the rule again in each chunk, so it needs no copy. A rule cannot be changed while
// its job runs. Without an Idempotency-Key, a repeated request gets RULE_RUNNING, or starts another
// job if the first one has ended. A preview stores no key.
func (s *Rules) ApplyRule(
	ctx context.Context, req *ledgerv1.ApplyRuleRequest,
) (*ledgerv1.ApplyRuleResponse, error) {
	id, ok := text.ID(req.GetId())
	if !ok {
		return nil, errInvalidID
	}
	var problems apierr.Problems
	window := parseWindow(&problems, req)
	owner := caller.ID(ctx)
	resp := &ledgerv1.ApplyRuleResponse{}
	call := idem.Call{Owner: owner, Key: req.GetIdempotencyKey(), Request: req}
	err := request.CheckOwned(ctx, s.DB, problems, owner, request.References{Wallet: window.Wallet})
	switch {
	case err != nil && req.GetDryRun():
		return nil, err
	case err != nil: // The wallet may have been deleted after the first request with the key.
		resp.Replayed, err = idem.ReplayRejected(ctx, s.DB, call, resp, err)
		return resp, err
	case req.GetDryRun():
		return s.preview(ctx, owner, id, window)
	}
	resp.Replayed, err = idem.InTx(ctx, s.DB, call, resp, func(tx pgx.Tx) error {
		r, err := lockIdle(ctx, tx, id)
		if err != nil {
			return err
		}
		if err := upsertJob(ctx, tx, r, window, s.Now()); err != nil {
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

func parseWindow(problems *apierr.Problems, req *ledgerv1.ApplyRuleRequest) window {
	var window window
	if req.From != nil {
		window.Start = new(request.ParseBound(problems, "from", req.GetFrom(), false))
	}
	if req.To != nil {
		window.End = new(request.ParseBound(problems, "to", req.GetTo(), true))
	}
	if window.Start != nil && window.End != nil && !problems.Has(request.ErrInvalidDate) &&
		!window.Start.Before(*window.End) {
		problems.Invalid("to", "must not be before from")
	}
	if req.WalletId != nil {
		window.Wallet = request.ParseReference(problems, "walletId", req.GetWalletId(),
			request.ErrInvalidWalletID)
	}
	return window
}

// preview counts the newest transactions that a rule matches and changes, at most maxPreviewed of
// them. examined states how many it has examined, if there are more. It uses the same changeOf as
// the job, so a preview never differs from the application on the same transactions. A separate
// statement reads each page of rows, so a preview is not a snapshot: transactions that are created
// meanwhile may be missing.
func (s *Rules) preview(
	ctx context.Context, owner, id uuid.UUID, window window,
) (*ledgerv1.ApplyRuleResponse, error) {
	leave, err := s.reads.Enter(ctx, owner)
	if err != nil {
		return nil, err
	}
	defer leave()
	rule, err := known(selectRule(ctx, s.DB, owner, id))
	if err != nil {
		return nil, err
	}
	set, err := compile(rule)
	if err != nil {
		return nil, err
	}
	set.Limit(RequestSteps)
	resp := &ledgerv1.ApplyRuleResponse{
		Code: previewed, Message: "Rule previewed", Rule: rule.Proto(), Matched: new(int32(0)),
		Changed: new(int32(0)), Examined: new(int32(0)),
	}
	date, before := time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC), uuid.Max
	for resp.GetExamined() < maxPreviewed {
		ts, err := selectBefore(ctx, s.DB, owner, window, date, before, previewRows)
		if err != nil {
			return nil, err
		}
		err = previewOf(ctx, s.DB, set, ts, resp)
		if errors.Is(err, errTooLong) && resp.GetExamined() > 0 {
			break
		}
		if err != nil {
			return nil, err
		}
		if len(ts) < previewRows {
			break
		}
		date, before = ts[len(ts)-1].Date, ts[len(ts)-1].ID
	}
	return resp, nil
}

// previewOf adds the effects on some transactions to a preview.
func previewOf(
	ctx context.Context, q pg.Querier, set *matching.Set, ts []posting.Transaction,
	resp *ledgerv1.ApplyRuleResponse,
) error {
	if err := posting.AddDetails(ctx, q, ownerOf(ts), ts); err != nil {
		return err
	}
	for _, transaction := range ts {
		after, matched, changed, err := changeOf(ctx, set, transaction)
		if err != nil {
			return err
		}
		*resp.Examined++
		if !matched {
			continue
		}
		*resp.Matched++
		if !changed {
			continue
		}
		*resp.Changed++
		if len(resp.GetExamples()) < maxExamples {
			resp.Examples = append(resp.Examples,
				&ledgerv1.RuleExample{Before: transaction.Proto(), After: after.Proto()})
		}
	}
	return nil
}

func ownerOf(ts []posting.Transaction) uuid.UUID {
	if len(ts) == 0 {
		return uuid.Nil
	}
	return ts[0].OwnerID
}

// changeOf returns a transaction after the rules of a set, and reports whether one matches and
// whether it changes anything. TagNames has the names of all tags, and Tags still the keys from
// before. Amount, date, currency and wallet stay as they are. A split transaction keeps its parts.
func changeOf(
	ctx context.Context, set *matching.Set, transaction posting.Transaction,
) (after posting.Transaction, matched, changed bool, err error) {
	outcome, err := Run(ctx, set, Subject(transaction))
	if err != nil {
		return transaction, false, false, err
	}
	after = transaction
	single := len(transaction.Splits) == 0 && transaction.TransferID == nil &&
		!transaction.Adjustment
	if single && outcome.Category != uuid.Nil {
		after.CategoryID = &outcome.Category
	}
	Complete(&after, outcome)
	changed = after.Payee != transaction.Payee || after.Description != transaction.Description ||
		after.Notes != transaction.Notes || len(after.TagNames) != len(transaction.TagNames) ||
		after.CategoryID != nil && !transaction.HasCategory(*after.CategoryID)
	return after, len(outcome.Matched) > 0, changed, nil
}

// Complete sets the texts and adds the tags of an outcome. Tags beyond the maximum of a transaction
// are dropped, because a rule must not make a receipt or an import fail. Package receipts calls it
// for the transactions of a receipt, and changeOf for existing ones.
func Complete(transaction *posting.Transaction, outcome matching.Outcome) {
	for _, set := range []struct{ field, value *string }{
		{&transaction.Payee, outcome.Payee},
		{&transaction.Description, outcome.Description},
		{&transaction.Notes, outcome.Notes},
	} {
		if set.value != nil {
			*set.field = *set.value
		}
	}
	transaction.TagNames = slices.Clone(transaction.TagNames)
	for _, tag := range outcome.Tags {
		if len(transaction.TagNames) < request.MaxTags {
			transaction.TagNames = append(transaction.TagNames, tag)
		}
	}
}

// Subject returns the part of a transaction that rules read. TagNames must be loaded. Rules compare
// amounts without a sign, and the type separately.
func Subject(t posting.Transaction) matching.Transaction {
	amount := t.AmountE4()
	if amount < 0 {
		amount = max(-amount, -math.MaxInt64)
	}
	return matching.Transaction{
		Payee: t.Payee, Description: t.Description, Notes: t.Notes, AmountE4: amount,
		Income: t.AmountMinor > 0, Currency: t.Currency, Wallet: t.WalletID, Tags: t.TagNames,
	}
}

// applyTo applies a rule to transactions that tx has locked, with their totals, events, and the
// changes that an undo takes back. It returns the number of transactions that the rule matches, and
// of those that it changes for the first time in this application. The owner's lock is held, so the
// categories and wallets of the rule exist until tx ends.
func (s *Rules) applyTo(
	ctx context.Context, tx pgx.Tx, rule Rule, ts []posting.Transaction,
) (matches, changes int, err error) {
	set, err := compile(rule)
	if err != nil {
		return 0, 0, err
	}
	if err := posting.AddDetails(ctx, tx, rule.OwnerID, ts); err != nil {
		return 0, 0, err
	}
	var before, after []posting.Transaction
	for _, transaction := range ts {
		next, matched, changed, err := changeOf(ctx, set, transaction)
		if err != nil {
			return 0, 0, err
		}
		if matched {
			matches++
		}
		if changed {
			before, after = append(before, transaction), append(after, next)
		}
	}
	if err := posting.UseTags(ctx, tx, rule.OwnerID, s.Now(), after); err != nil {
		return 0, 0, err
	}
	if changes, err = insertChanges(ctx, tx, rule, before, after); err != nil {
		return 0, 0, err
	}
	return matches, changes, s.replace(ctx, tx, before, after)
}

// replace writes the fields of changed transactions that a rule may set, with their totals and
// events.
func (s *Rules) replace(
	ctx context.Context, tx pgx.Tx, before, after []posting.Transaction,
) error {
	if len(after) == 0 {
		return nil
	}
	now := s.Now()
	for i := range after {
		after[i].Version, after[i].UpdatedAt = before[i].Version+1, now
	}
	if err := updateTransactions(ctx, tx, ownerOf(after), after); err != nil {
		return posting.ClientError(err)
	}
	if err := posting.Replace(ctx, tx, before, after); err != nil {
		return err
	}
	return s.PublishUpdates(ctx, tx, before, after)
}
