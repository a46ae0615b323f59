package rules

import (
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/coffer-budget/coffer/internal/calendar"
	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
	restv1 "github.com/coffer-budget/coffer/proto/gen/coffer/rest/v1"
	"github.com/coffer-budget/coffer/services/ledger/rules/matching"
)

const (
	OnImport  = "import"
	OnReceipt = "receipt"
	// recurrence can be stored, but nothing runs such rules yet (ADR 82).
	recurrence = "recurrence"
)

// Rule is a row of rules, with its job.
type Rule struct {
	OwnerID uuid.UUID `db:"owner_id"`
	ID      uuid.UUID
	Name    string
	Enabled bool
	// Position is the place of the rule in the order in which rules run. It starts at 1, and
	// deleted rules leave gaps.
	Position int32
	// MatchAny is set if one condition suffices. Otherwise all conditions must match.
	MatchAny bool `db:"match_any"`
	// Stop is set if later rules do not run when this one matches.
	Stop bool
	// Sources holds the values of the field on.
	Sources    []string
	Conditions []matching.Condition
	// Actions has an empty value for matching.SetCategory. Its category is CategoryID, a column
	// with a foreign key.
	Actions    []matching.Action
	CategoryID *uuid.UUID `db:"category_id"`
	// AppliedCount is the number of transactions that the rule matched in imports, receipts and
	// applications together.
	AppliedCount  int32      `db:"applied_count"`
	LastAppliedAt *time.Time `db:"last_applied_at"`
	// Version starts at 1 and increases with each change of the fields that a PATCH can change. The
	// ETag contains it.
	Version   int64
	CreatedAt time.Time `db:"created_at"`
	UpdatedAt time.Time `db:"updated_at"`
	// JobStatus is nil if the rule was never applied to existing transactions.
	JobStatus  *string `db:"job_status"`
	JobDone    int64   `db:"job_done"`
	JobTotal   int64   `db:"job_total"`
	JobProblem string  `db:"job_problem"`
	// AppliedAt is the time of the latest application, and identifies its changes. Changed,
	// Restored and Kept are numbers of transactions: what the application changed, and what its
	// undo restored and kept. AppliedAt is nil if an earlier release has run the application.
	AppliedAt *time.Time `db:"applied_at"`
	Changed   int64
	Restored  int64
	Kept      int64
	// Seq is the place of the last change among the writes of the owner.
	Seq int64
}

// working reports whether a job that applies the rule, or undoes that, is queued or running.
func (r Rule) working() bool {
	return r.JobStatus != nil && slices.Contains([]string{queued, running, undoing}, *r.JobStatus)
}

// undoableUntil returns the time until which the latest application can be undone, or nil if it
// runs, has changed nothing, or was undone. An undo that failed can be started again.
func (r Rule) undoableUntil() *time.Time {
	if r.AppliedAt == nil || r.Changed == 0 || r.working() || *r.JobStatus == undone {
		return nil
	}
	return new(r.AppliedAt.Add(retention))
}

// wallets returns the wallets that the conditions and actions name. Each id occurs once.
// replaceWallets stores them, so that a foreign key prevents the deletion of the wallets.
func (r Rule) wallets() []uuid.UUID {
	var ids []uuid.UUID
	add := func(s string) {
		if id, err := uuid.Parse(s); err == nil && !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
	}
	for _, c := range r.Conditions {
		if c.Field == matching.WalletID {
			for _, s := range c.Values {
				add(s)
			}
		}
	}
	for _, a := range r.Actions {
		if a.Kind == matching.TransferTo {
			add(a.Value)
		}
	}
	return ids
}

func (r Rule) actions() []matching.Action {
	actions := slices.Clone(r.Actions)
	for i, a := range actions {
		if a.Kind == matching.SetCategory && r.CategoryID != nil {
			actions[i].Value = r.CategoryID.String()
		}
	}
	return actions
}

// compile returns the set of some rules. It returns an error only if a stored condition is invalid,
// which CreateRule and UpdateRule prevent.
func compile(rules ...Rule) (*matching.Set, error) {
	prepared := make([]matching.Rule, len(rules))
	for i, r := range rules {
		prepared[i] = matching.Rule{
			ID: r.ID, Any: r.MatchAny, Stop: r.Stop, Conditions: r.Conditions,
			Actions: r.actions(),
		}
	}
	return matching.Compile(prepared)
}

// Proto returns r as the API shows it.
func (r Rule) Proto() *ledgerv1.Rule {
	message := &ledgerv1.Rule{
		Id: r.ID.String(), Name: r.Name, Enabled: r.Enabled, Position: r.Position, Match: matchAll,
		Stop: r.Stop, On: r.Sources, AppliedCount: r.AppliedCount,
		CreatedAt: calendar.FormatTime(r.CreatedAt), UpdatedAt: calendar.FormatTime(r.UpdatedAt),
	}
	if r.MatchAny {
		message.Match = matchAny
	}
	for _, c := range r.Conditions {
		message.Conditions = append(message.Conditions,
			&ledgerv1.RuleCondition{Field: c.Field, Op: c.Op, Values: c.Values, Not: c.Not})
	}
	for _, a := range r.actions() {
		message.Actions = append(message.Actions,
			&ledgerv1.RuleAction{Kind: a.Kind, Value: a.Value})
	}
	if r.LastAppliedAt != nil {
		message.LastAppliedAt = new(calendar.FormatTime(*r.LastAppliedAt))
	}
	if r.JobStatus != nil {
		message.Progress = &restv1.Job{
			Status: *r.JobStatus, Done: r.JobDone, Total: r.JobTotal, Problem: r.JobProblem,
		}
	}
	if r.AppliedAt != nil {
		message.Application = &ledgerv1.RuleApplication{
			Changed: r.Changed, Restored: r.Restored, Kept: r.Kept,
		}
		if until := r.undoableUntil(); until != nil {
			message.Application.UndoableUntil = new(calendar.FormatTime(*until))
		}
	}
	return message
}

func protos(rows []Rule) []*ledgerv1.Rule {
	var ms []*ledgerv1.Rule
	for _, r := range rows {
		ms = append(ms, r.Proto())
	}
	return ms
}
