// Package rules serves the rules of users, which categorize and complete transactions, and the
// suggestions that it learns.
//
// It guarantees that a rule names only wallets and categories of its owner. Foreign keys ensure
// this, and each write shares the owner's lock, so a category is never merged or deleted while a
// rule that names it is written. A merge moves the rules along. The files:
//
//   - rules.go, order.go: the RPCs that read and change rules. parse.go and check.go validate
//     them; rule.go converts between rows and messages
//   - apply.go: the preview and the job that applies a rule to existing transactions. undo.go: the
//     undo of an application. jobs.go: the chunks of these jobs. Package jobs decides which job
//     runs
//   - run.go: the rules of an owner for the packages that run them, imports and receipts
//   - suggest.go: suggestions of categories. propose.go: suggestions of rules
//   - store_rules.go, store_jobs.go, store_undo.go, store_history.go: the statements on rules, on
//     jobs, on the changes that an undo takes back, and on the transactions to learn from
//
// Package matching decides the effects of a rule, and package learning the suggestions of an
// owner's history. Both are pure, and keep no state between requests (ADR 82). Start reading at
// matching.Set.Run.
package rules

import (
	"context"
	"errors"
	"log/slog"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/coffer-budget/coffer/internal/apierr"
	"github.com/coffer-budget/coffer/internal/caller"
	"github.com/coffer-budget/coffer/internal/etag"
	"github.com/coffer-budget/coffer/internal/idem"
	"github.com/coffer-budget/coffer/internal/jobs"
	"github.com/coffer-budget/coffer/internal/pg"
	"github.com/coffer-budget/coffer/internal/text"
	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
	"github.com/coffer-budget/coffer/services/ledger/posting"
	"github.com/coffer-budget/coffer/services/ledger/reads"
)

const maxRules = 500

// Rules implements RuleService.
type Rules struct {
	// An RPC without a method here is a compile error.
	ledgerv1.UnsafeRuleServiceServer

	*posting.Ledger
	Jobs  *jobs.Queue
	reads *reads.Gates
}

var _ ledgerv1.RuleServiceServer = (*Rules)(nil)

// New returns the server of the RPCs. The jobs wait until Jobs.Run is called.
func New(book *posting.Ledger, gates *reads.Gates, log *slog.Logger) *Rules {
	s := &Rules{Ledger: book, reads: gates}
	fail := func(ctx context.Context, j jobs.Job, reason string) error {
		return s.end(ctx, j, failed, reason)
	}
	h := jobs.Handler{Chunks: s.chunks, Fail: fail}
	s.Jobs = jobs.NewQueue(jobTable, h, book.DB, book.Now, log)
	return s
}

// CreateRule creates a rule after the caller's other rules. It does not run on existing
// transactions: ApplyRule does. Errors: LIMIT_REACHED, INVALID_RULE_PATTERN, and the errors of
// wallets and categories.
func (s *Rules) CreateRule(
	ctx context.Context, req *ledgerv1.CreateRuleRequest,
) (*ledgerv1.CreateRuleResponse, error) {
	var problems apierr.Problems
	rule := parseRule(&problems, req)
	rule.ID, rule.OwnerID, rule.Version, rule.CreatedAt = s.NewID(), caller.ID(ctx), 1, s.Now()
	rule.UpdatedAt = rule.CreatedAt
	call := idem.Call{Owner: rule.OwnerID, Key: req.GetIdempotencyKey(), Request: req}
	resp := &ledgerv1.CreateRuleResponse{}
	var err error
	resp.Replayed, err = idem.InTx(ctx, s.DB, call, resp, func(tx pgx.Tx) error {
		if err := posting.ShareOwner(ctx, tx, rule.OwnerID); err != nil {
			return err
		}
		if err := checkOwned(ctx, tx, problems, rule); err != nil {
			return err
		}
		last, err := selectLast(ctx, tx, rule.OwnerID)
		if err != nil {
			return err
		}
		if last.Count >= maxRules {
			return errLimitReached
		}
		if err := checkSteps(ctx, tx, rule, Rule{}); err != nil {
			return err
		}
		rule.Position = last.Position + 1
		if err := insertRule(ctx, tx, rule); err != nil {
			return posting.ClientError(err)
		}
		resp.Rule, resp.Etag = rule.Proto(), etag.Format(rule.Version)
		return s.Publish(ctx, tx, rule.OwnerID,
			&ledgerv1.RuleCreated{OwnerId: rule.OwnerID.String(), Rule: resp.GetRule()})
	})
	if err != nil {
		return nil, err
	}
	return resp, nil
}

// ListRules returns all rules of the caller by position. There are at most maxRules, so the list
// has no pages.
func (s *Rules) ListRules(
	ctx context.Context, _ *ledgerv1.ListRulesRequest,
) (*ledgerv1.ListRulesResponse, error) {
	rules, err := All(ctx, s.DB, caller.ID(ctx))
	if err != nil {
		return nil, err
	}
	return &ledgerv1.ListRulesResponse{Rules: rules}, nil
}

// All returns the rules of an owner in their order, as the API shows them. An owner has at most
// maxRules.
func All(ctx context.Context, q pg.Querier, owner uuid.UUID) ([]*ledgerv1.Rule, error) {
	rows, err := selectRules(ctx, q, owner)
	return protos(rows), err
}

// GetRule returns one of the caller's rules. With wait it returns when its job has made progress,
// or after that time. A client with a progress bar repeats the request until the job has ended.
func (s *Rules) GetRule(
	ctx context.Context, req *ledgerv1.GetRuleRequest,
) (*ledgerv1.GetRuleResponse, error) {
	id, ok := text.ID(req.GetId())
	if !ok {
		return nil, errInvalidID
	}
	wait, err := jobs.ParseWait(req.Wait, 0)
	if err != nil {
		return nil, err
	}
	read := func() (Rule, error) { return known(selectRule(ctx, s.DB, caller.ID(ctx), id)) }
	first, err := read()
	if err != nil {
		return nil, err
	}
	r, err := jobs.Wait(ctx, wait, first, read, func(now Rule) bool {
		return !now.working() || *now.JobStatus != *first.JobStatus || now.JobDone != first.JobDone
	})
	if err != nil {
		return nil, err
	}
	return &ledgerv1.GetRuleResponse{Rule: r.Proto(), Etag: etag.Format(r.Version)}, nil
}

// known replaces pgx.ErrNoRows with the public error.
func known(r Rule, err error) (Rule, error) {
	if errors.Is(err, pgx.ErrNoRows) {
		return Rule{}, errNotFound
	}
	return r, err
}

// UpdateRule changes one of the caller's rules. It cannot change a rule while its job runs: the job
// would apply two versions of it. Errors: RULE_RUNNING, VERSION_MISMATCH, EMPTY_UPDATE and
// those of CreateRule.
func (s *Rules) UpdateRule(
	ctx context.Context, req *ledgerv1.UpdateRuleRequest,
) (*ledgerv1.UpdateRuleResponse, error) {
	id, ok := text.ID(req.GetId())
	if !ok {
		return nil, errInvalidID
	}
	if isEmpty(req) {
		return nil, apierr.EmptyUpdate
	}
	resp := &ledgerv1.UpdateRuleResponse{}
	err := pg.InTx(ctx, s.DB, func(tx pgx.Tx) error {
		before, err := lockMatching(ctx, tx, id, req.GetIfMatch())
		if err != nil {
			return err
		}
		var p apierr.Problems
		rule := before.change(&p, req)
		if err := checkOwned(ctx, tx, p, rule); err != nil {
			return err
		}
		if before.working() {
			return errRunning
		}
		if err := checkSteps(ctx, tx, rule, before); err != nil {
			return err
		}
		rule.Version++
		rule.UpdatedAt = s.Now()
		if err := updateRule(ctx, tx, rule); err != nil {
			return posting.ClientError(err)
		}
		resp.Rule, resp.Etag = rule.Proto(), etag.Format(rule.Version)
		return s.Publish(ctx, tx, rule.OwnerID,
			&ledgerv1.RuleUpdated{OwnerId: rule.OwnerID.String(), Rule: resp.GetRule()})
	})
	if err != nil {
		return nil, err
	}
	return resp, nil
}

// lockIdle shares the owner's lock and returns the caller's rule, or errRunning if it has a job.
func lockIdle(ctx context.Context, tx pgx.Tx, id uuid.UUID) (Rule, error) {
	r, err := lockMatching(ctx, tx, id, "")
	if err == nil && r.working() {
		err = errRunning
	}
	return r, err
}

// lockMatching shares the owner's lock and returns the caller's rule if its version matches
// If-Match. No other write of the rule can start until tx ends, because each of them takes the
// owner's next number.
func lockMatching(ctx context.Context, tx pgx.Tx, id uuid.UUID, ifMatch string) (Rule, error) {
	owner := caller.ID(ctx)
	if err := posting.ShareOwner(ctx, tx, owner); err != nil {
		return Rule{}, err
	}
	r, err := known(selectRule(ctx, tx, owner, id))
	if err != nil {
		return Rule{}, err
	}
	if !etag.Matches(ifMatch, r.Version) {
		return Rule{}, apierr.VersionMismatch
	}
	return r, nil
}

// DeleteRule deletes one of the caller's rules, with its job. A running job ends with the rule: its
// next chunk finds no lease. The changes that it has made stay.
func (s *Rules) DeleteRule(
	ctx context.Context, req *ledgerv1.DeleteRuleRequest,
) (*ledgerv1.DeleteRuleResponse, error) {
	id, ok := text.ID(req.GetId())
	if !ok {
		return nil, errInvalidID
	}
	err := pg.InTx(ctx, s.DB, func(tx pgx.Tx) error {
		r, err := lockMatching(ctx, tx, id, req.GetIfMatch())
		if err != nil {
			return err
		}
		if err := deleteRule(ctx, tx, r.OwnerID, id); err != nil {
			return err
		}
		return s.Publish(ctx, tx, r.OwnerID,
			&ledgerv1.RuleDeleted{OwnerId: r.OwnerID.String(), RuleId: id.String()})
	})
	if err != nil {
		return nil, err
	}
	return &ledgerv1.DeleteRuleResponse{Id: id.String()}, nil
}
