package rules

import (
	"fmt"
	"slices"
	"strings"

	"github.com/coffer-budget/coffer/internal/apierr"
	"github.com/coffer-budget/coffer/internal/text"
	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
	"github.com/coffer-budget/coffer/services/ledger/posting"
	"github.com/coffer-budget/coffer/services/ledger/request"
	"github.com/coffer-budget/coffer/services/ledger/rules/matching"
)

const (
	matchAll = "all"
	matchAny = "any"
)

const (
	maxConditions = 10
	maxActions    = 5
	// maxValue is the maximum length of a text that a condition compares, in characters.
	maxValue = 200
	// maxBytes is the maximum size of the values of a rule's conditions and actions together. All
	// rules of a user are in one message, and each import loads them.
	maxBytes = 16 << 10
)

func parseRule(problems *apierr.Problems, req *ledgerv1.CreateRuleRequest) Rule {
	rule := Rule{Enabled: req.Enabled == nil || req.GetEnabled(), Stop: req.GetStop()}
	rule.setName(problems, req.GetName())
	if req.GetMatch() != "" {
		rule.setMatch(problems, req.GetMatch())
	}
	rule.setConditions(problems, req.GetConditions())
	rule.setActions(problems, req.GetActions())
	rule.checkSize(problems)
	if rule.Sources = []string{OnImport, OnReceipt}; len(req.GetOn()) > 0 {
		rule.setSources(problems, req.GetOn())
	}
	return rule
}

func (r Rule) change(problems *apierr.Problems, req *ledgerv1.UpdateRuleRequest) Rule {
	if req.Name != nil {
		r.setName(problems, req.GetName())
	}
	if req.Enabled != nil {
		r.Enabled = req.GetEnabled()
	}
	if req.Match != nil {
		r.setMatch(problems, req.GetMatch())
	}
	if req.Conditions != nil {
		r.setConditions(problems, req.GetConditions().GetValues())
	}
	if req.Actions != nil {
		r.setActions(problems, req.GetActions().GetValues())
	}
	if req.Conditions != nil || req.Actions != nil {
		r.checkSize(problems)
	}
	if req.Stop != nil {
		r.Stop = req.GetStop()
	}
	if req.On != nil {
		r.setSources(problems, req.GetOn().GetValues())
	}
	return r
}

func isEmpty(req *ledgerv1.UpdateRuleRequest) bool {
	return req.Name == nil && req.Enabled == nil && req.Match == nil && req.Conditions == nil &&
		req.Actions == nil && req.Stop == nil && req.On == nil
}

func (r *Rule) setName(p *apierr.Problems, s string) {
	name, problem := text.Name("name", s)
	p.Field(problem)
	r.Name = name
}

func (r *Rule) setMatch(p *apierr.Problems, s string) {
	if s != matchAll && s != matchAny {
		p.Invalid("match", "must be all or any")
	}
	r.MatchAny = s == matchAny
}

// setSources accepts a list of distinct sources. It sorts them and removes repeated ones, so that
// equal rules have equal rows.
func (r *Rule) setSources(problems *apierr.Problems, sources []string) {
	known := []string{OnImport, OnReceipt, recurrence}
	for i, s := range sources {
		if !slices.Contains(known, s) {
			problems.Invalid(fmt.Sprintf("on[%d]", i), "must be "+strings.Join(known, ", "))
		}
	}
	if len(sources) == 0 {
		problems.Invalid("on", "must have at least one element")
	}
	r.Sources = slices.Compact(slices.Sorted(slices.Values(sources)))
}

func (r *Rule) setConditions(p *apierr.Problems, conditions []*ledgerv1.RuleCondition) {
	r.Conditions = nil
	if len(conditions) < 1 || len(conditions) > maxConditions {
		p.Invalid("conditions", fmt.Sprintf("must have 1 to %d elements", maxConditions))
		return
	}
	for i, c := range conditions {
		r.Conditions = append(r.Conditions, parseCondition(p, fmt.Sprintf("conditions[%d]", i), c))
	}
}

func (r *Rule) checkSize(problems *apierr.Problems) {
	size := 0
	for _, c := range r.Conditions {
		for _, v := range c.Values {
			size += len(v)
		}
	}
	for _, a := range r.Actions {
		size += len(a.Value)
	}
	if size > maxBytes {
		problems.Invalid("conditions", fmt.Sprintf(
			"must have values of at most %d bytes, together with the actions", maxBytes))
	}
}

// parseCondition returns a condition. path is its place in the request, for problems.
func parseCondition(
	problems *apierr.Problems, path string, message *ledgerv1.RuleCondition,
) matching.Condition {
	condition := matching.Condition{
		Field: message.GetField(), Op: message.GetOp(), Not: message.GetNot(),
	}
	ops, known := matching.Ops[condition.Field]
	if !known {
		problems.Invalid(path+".field",
			"must be payee, description, notes, text, amount, currency, walletId, type or tag")
		return condition
	}
	if !slices.Contains(ops, condition.Op) {
		problems.Invalid(path+".op",
			"must be one of "+strings.Join(ops, ", ")+" for "+condition.Field)
		return condition
	}
	least, most := matching.Count(condition.Op)
	switch n := len(message.GetValues()); {
	case n >= least && n <= most:
	case least == most:
		problems.Invalid(path+".values",
			fmt.Sprintf("must have %d elements for %s", least, condition.Op))
		return condition
	default:
		problems.Invalid(path+".values",
			fmt.Sprintf("must have %d to %d elements for %s", least, most, condition.Op))
		return condition
	}
	for i, s := range message.GetValues() {
		condition.Values = append(condition.Values,
			parseValue(problems, fmt.Sprintf("%s.values[%d]", path, i), condition, s))
	}
	return condition
}

// parseValue returns a value of a condition. It returns the normalized form that is stored: ids and
// currencies in their usual form, a text as text.Description normalizes it, and other values as
// they are.
func parseValue(
	problems *apierr.Problems, path string, condition matching.Condition, given string,
) string {
	problem := func(message string) { problems.Invalid(path, message) }
	switch {
	case condition.Op == matching.Matches:
		if _, err := matching.CompilePattern(given); err != nil {
			problems.Add(errInvalidPattern.With(path,
				"must be a regular expression in RE2 syntax of at most 200 bytes"))
		}
	case condition.Field == matching.Amount:
		if _, err := matching.ParseAmount(given); err != nil {
			problem("must be a decimal of at least 0, in the major unit")
		}
	case condition.Field == matching.WalletID:
		id := request.ParseID(problems, path, given, request.ErrInvalidWalletID)
		return id.String()
	case condition.Field == matching.Currency:
		return request.ParseCurrency(problems, path, given).Code()
	case condition.Field == matching.Type:
		if given != posting.Expense && given != posting.Income {
			problem("must be expense or income")
		}
	default:
		value, invalid := text.Description(path, given)
		problems.Field(invalid)
		if invalid == nil && (matching.Fold(value) == "" || len([]rune(value)) > maxValue) {
			problem(fmt.Sprintf("must have 1 to %d characters", maxValue))
		}
		return value
	}
	return given
}

// setActions accepts 1 to 5 actions of different kinds. At most one of them may decide about the
// transaction as a whole: set its category, make it a transfer, or skip it.
func (r *Rule) setActions(problems *apierr.Problems, actions []*ledgerv1.RuleAction) {
	r.Actions, r.CategoryID = nil, nil
	if len(actions) < 1 || len(actions) > maxActions {
		problems.Invalid("actions", fmt.Sprintf("must have 1 to %d elements", maxActions))
		return
	}
	decides := ""
	seen := map[string]bool{}
	for i, message := range actions {
		path, kind := fmt.Sprintf("actions[%d]", i), message.GetKind()
		switch {
		case !slices.Contains(matching.Kinds, kind):
			problems.Invalid(path+".kind", "must be "+strings.Join(matching.Kinds, ", "))
		case seen[kind]:
			problems.Invalid(path+".kind", "must not repeat another action")
		case kind == matching.SetCategory || kind == matching.TransferTo || kind == matching.Skip:
			if decides != "" {
				problems.Invalid(path+".kind", "cannot be combined with "+decides)
			}
			decides = kind
		}
		seen[kind] = true
		r.Actions = append(r.Actions, r.parseAction(problems, path+".value", message))
	}
}

// parseAction returns an action. It stores the category of matching.SetCategory in the rule. path
// is the place of the value in the request.
func (r *Rule) parseAction(
	problems *apierr.Problems, path string, message *ledgerv1.RuleAction,
) matching.Action {
	action := matching.Action{Kind: message.GetKind()}
	var problem *apierr.Field
	switch action.Kind {
	case matching.SetCategory:
		r.CategoryID = request.RequireReference(problems, path, message.GetValue(),
			request.ErrInvalidCategoryID)
	case matching.TransferTo:
		id := request.RequireReference(problems, path, message.GetValue(),
			request.ErrInvalidWalletID)
		if id != nil {
			action.Value = id.String()
		}
	case matching.AddTag:
		action.Value, problem = text.Tag(path, message.GetValue())
	case matching.SetPayee:
		action.Value, problem = text.Payee(path, message.GetValue())
	case matching.SetDescription:
		action.Value, problem = text.Description(path, message.GetValue())
	case matching.SetNotes:
		action.Value, problem = text.Notes(path, message.GetValue())
	case matching.Skip:
		if message.GetValue() != "" {
			problem = &apierr.Field{Name: path, Message: "must be empty for skip"}
		}
	}
	problems.Field(problem)
	return action
}
