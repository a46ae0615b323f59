// Package matching decides what the rules of a user do with a transaction.
//
// It is pure: Compile prepares the rules once, and Set.Run evaluates them for one transaction.
// Rules run in their order, and a later rule sees the texts and tags that earlier ones have set.
// The first rule that sets a category, a transfer or a skip decides this for all rules. Tags
// accumulate. An Outcome has no amount, date or wallet, so a rule cannot change them.
//
// Texts are compared after Fold: without regard to case, width and repeated spaces. Patterns are
// RE2 expressions of limited size, so the time of a comparison is linear in the text. MaxSteps
// limits the patterns of all rules together (ADR 108).
package matching

import (
	"context"
	"errors"
	"math"
	"slices"

	"github.com/google/uuid"
)

const (
	Payee       = "payee"
	Description = "description"
	Notes       = "notes"
	// Text stands for any of payee, description and notes.
	Text     = "text"
	Amount   = "amount"
	Currency = "currency"
	WalletID = "walletId"
	Type     = "type"
	Tag      = "tag"
)

const (
	Is         = "is"
	Contains   = "contains"
	StartsWith = "startsWith"
	EndsWith   = "endsWith"
	Matches    = "matches"
	Less       = "lt"
	Greater    = "gt"
	Between    = "between"
	In         = "in"
)

const (
	SetCategory    = "setCategory"
	AddTag         = "addTag"
	SetPayee       = "setPayee"
	SetDescription = "setDescription"
	SetNotes       = "setNotes"
	TransferTo     = "transferTo"
	Skip           = "skip"
)

// Kinds are the kinds of actions.
var Kinds = []string{SetCategory, AddTag, SetPayee, SetDescription, SetNotes, TransferTo, Skip}

// Ops are the operators of each field.
var Ops = map[string][]string{
	Payee:       {Is, Contains, StartsWith, EndsWith, Matches, In},
	Description: {Is, Contains, StartsWith, EndsWith, Matches, In},
	Notes:       {Is, Contains, StartsWith, EndsWith, Matches, In},
	Text:        {Is, Contains, StartsWith, EndsWith, Matches, In},
	Amount:      {Is, Less, Greater, Between},
	Currency:    {Is, In},
	WalletID:    {Is, In},
	Type:        {Is, In},
	Tag:         {Is, In},
}

// Rule is a rule of a user.
type Rule struct {
	ID uuid.UUID
	// Any: one condition is enough.
	Any bool
	// Stop: if the rule matches, later rules do not run.
	Stop       bool
	Conditions []Condition
	Actions    []Action
}

// Condition compares a field of a transaction with values.
type Condition struct {
	Field  string   `json:"field"`
	Op     string   `json:"op"`
	Values []string `json:"values"`
	Not    bool     `json:"not,omitempty"`
}

// Action is a change of a transaction.
type Action struct {
	Kind  string `json:"kind"`
	Value string `json:"value,omitempty"`
}

// UnknownAmount is the amount of a transaction whose currency is not known yet. It meets no
// comparison.
const UnknownAmount = -1

// Transaction is what rules see of a transaction, a row of an import or a line of a receipt.
type Transaction struct {
	Payee, Description, Notes string
	// AmountE4 is the absolute amount in ten-thousandths of the major unit, or UnknownAmount.
	AmountE4 int64
	// Currency and Wallet are empty if they are not known yet. Such a transaction meets no
	// condition on them, except with Not.
	Income   bool
	Currency string
	Wallet   uuid.UUID
	// Tags are names.
	Tags []string
}

// Outcome is what rules change.
type Outcome struct {
	// At most one of Category, TransferTo and Skip is set. DecidedBy is the rule that set it.
	Category   uuid.UUID
	TransferTo uuid.UUID
	Skip       bool
	DecidedBy  uuid.UUID
	// Payee, Description and Notes are nil if no rule sets them.
	Payee, Description, Notes *string
	// Tags are names to add, in the order of the rules.
	Tags    []string
	Matched []uuid.UUID
}

// ErrSteps is returned for patterns that would take too many steps.
var ErrSteps = errors.New("the patterns of the rules take too many steps")

// Set is a list of rules that is ready to run. It is not safe for concurrent use.
type Set struct {
	rules []compiled
	// left is the number of steps that all further runs may take together.
	left int64
}

type compiled struct {
	Rule
	conditions []condition
	// decision is the value of setCategory or transferTo.
	decision uuid.UUID
}

// Compile prepares rules, in the order in which they run. It returns an error for a condition or an
// action that is not valid.
func Compile(rules []Rule) (*Set, error) {
	set := &Set{rules: make([]compiled, len(rules)), left: math.MaxInt64}
	for index, rule := range rules {
		compiled := compiled{Rule: rule, conditions: make([]condition, len(rule.Conditions))}
		for j, given := range rule.Conditions {
			var err error
			if compiled.conditions[j], err = compileCondition(given); err != nil {
				return nil, err
			}
		}
		for _, a := range rule.Actions {
			if a.Kind == SetCategory || a.Kind == TransferTo {
				id, err := uuid.Parse(a.Value)
				if err != nil {
					return nil, err
				}
				compiled.decision = id
			}
		}
		set.rules[index] = compiled
	}
	return set, nil
}

// Empty reports whether the set has no rules.
func (s *Set) Empty() bool { return len(s.rules) == 0 }

// Limit sets the maximum number of steps that patterns take in all further runs together. Without
// it, only MaxSteps limits each run.
func (s *Set) Limit(steps int64) { s.left = steps }

// Run returns what the rules change in a transaction. 500 rules, one in ten with a pattern, take
// about 40 µs (docs/benchmarks.md). It returns ErrSteps if patterns would take more than MaxSteps
// on the transaction or exceed the limit of the set, and the error of ctx when it ends. A caller
// then uses no part of the outcome.
func (s *Set) Run(ctx context.Context, t Transaction) (Outcome, error) {
	var outcome Outcome
	steps := min(MaxSteps, s.left)
	sub := newSubject(t, steps)
	for i := range s.rules {
		if err := ctx.Err(); err != nil {
			return Outcome{}, err
		}
		compiled := &s.rules[i]
		matches := compiled.matches(&sub)
		if sub.left < 0 {
			return Outcome{}, ErrSteps
		}
		if !matches {
			continue
		}
		outcome.Matched = append(outcome.Matched, compiled.ID)
		for _, a := range compiled.Actions {
			compiled.act(a, &sub, &outcome)
		}
		if compiled.Stop {
			break
		}
	}
	s.left -= steps - sub.left
	return outcome, nil
}

func (c *compiled) matches(sub *subject) bool {
	for _, condition := range c.conditions {
		if condition.met(sub) == c.Any {
			return c.Any
		}
	}
	return !c.Any
}

// act adds an action to the outcome, and to what later rules see. A tag that the transaction
// already has is not added again, ignoring case. Later rules still set texts and tags after another
// rule has decided.
func (c *compiled) act(action Action, sub *subject, outcome *Outcome) {
	switch action.Kind {
	case SetPayee:
		outcome.Payee = &action.Value
		sub.texts[payeeText] = newFolded(action.Value)
	case SetDescription:
		outcome.Description = &action.Value
		sub.texts[descriptionText] = newFolded(action.Value)
	case SetNotes:
		outcome.Notes = &action.Value
		sub.texts[notesText] = newFolded(action.Value)
	case AddTag:
		if key := Fold(action.Value); !slices.Contains(sub.tags, key) {
			sub.tags, outcome.Tags = append(sub.tags, key), append(outcome.Tags, action.Value)
		}
	}
	if outcome.DecidedBy != uuid.Nil {
		return
	}
	switch action.Kind {
	case SetCategory:
		outcome.Category, outcome.DecidedBy = c.decision, c.ID
	case TransferTo:
		outcome.TransferTo, outcome.DecidedBy = c.decision, c.ID
	case Skip:
		outcome.Skip, outcome.DecidedBy = true, c.ID
	}
}
