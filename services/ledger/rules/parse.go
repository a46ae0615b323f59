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

func parseRule(p *apierr.Problems, req *ledgerv1.CreateRuleRequest) Rule {
	r := Rule{Enabled: req.Enabled == nil || req.GetEnabled(), Stop: req.GetStop()}
	r.setName(p, req.GetName())
	if req.GetMatch() != "" {
		r.setMatch(p, req.GetMatch())
	}
	r.setConditions(p, req.GetConditions())
	r.setActions(p, req.GetActions())
	r.checkSize(p)
	if r.Sources = []string{OnImport, OnReceipt}; len(req.GetOn()) > 0 {
		r.setSources(p, req.GetOn())
	}
	return r
}

func (r Rule) change(p *apierr.Problems, req *ledgerv1.UpdateRuleRequest) Rule {
	if req.Name != nil {
		r.setName(p, req.GetName())
	}
	if req.Enabled != nil {
		r.Enabled = req.GetEnabled()
	}
	if req.Match != nil {
		r.setMatch(p, req.GetMatch())
	}
	if req.Conditions != nil {
		r.setConditions(p, req.GetConditions().GetValues())
	}
	if req.Actions != nil {
		r.setActions(p, req.GetActions().GetValues())
	}
	if req.Conditions != nil || req.Actions != nil {
		r.checkSize(p)
	}
	if req.Stop != nil {
		r.Stop = req.GetStop()
	}
	if req.On != nil {
		r.setSources(p, req.GetOn().GetValues())
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
func (r *Rule) setSources(p *apierr.Problems, sources []string) {
	known := []string{OnImport, OnReceipt, recurrence}
	for i, s := range sources {
		if !slices.Contains(known, s) {
			p.Invalid(fmt.Sprintf("on[%d]", i), "must be "+strings.Join(known, ", "))
		}
	}
	if len(sources) == 0 {
		p.Invalid("on", "must have at least one element")
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

func (r *Rule) checkSize(p *apierr.Problems) {
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
		p.Invalid("conditions", fmt.Sprintf(
			"must have values of at most %d bytes, together with the actions", maxBytes))
	}
}

// parseCondition returns a condition. path is its place in the request, for problems.
func parseCondition(p *apierr.Problems, path string, m *ledgerv1.RuleCondition) matching.Condition {
	c := matching.Condition{Field: m.GetField(), Op: m.GetOp(), Not: m.GetNot()}
	ops, known := matching.Ops[c.Field]
	if !known {
		p.Invalid(path+".field",
			"must be payee, description, notes, text, amount, currency, walletId, type or tag")
		return c
	}
	if !slices.Contains(ops, c.Op) {
		p.Invalid(path+".op", "must be one of "+strings.Join(ops, ", ")+" for "+c.Field)
		return c
	}
	least, most := matching.Count(c.Op)
	switch n := len(m.GetValues()); {
	case n >= least && n <= most:
	case least == most:
		p.Invalid(path+".values", fmt.Sprintf("must have %d elements for %s", least, c.Op))
		return c
	default:
		p.Invalid(path+".values",
			fmt.Sprintf("must have %d to %d elements for %s", least, most, c.Op))
		return c
	}
	for i, s := range m.GetValues() {
		c.Values = append(c.Values, parseValue(p, fmt.Sprintf("%s.values[%d]", path, i), c, s))
	}
	return c
}

// parseValue returns a value of a condition. It returns the normalized form that is stored: ids and
// currencies in their usual form, a text as text.Description normalizes it, and other values as
// they are.
func parseValue(p *apierr.Problems, path string, c matching.Condition, s string) string {
	problem := func(message string) { p.Invalid(path, message) }
	switch {
	case c.Op == matching.Matches:
		if _, err := matching.CompilePattern(s); err != nil {
			p.Add(errInvalidPattern.With(path,
				"must be a regular expression in RE2 syntax of at most 200 bytes"))
		}
	case c.Field == matching.Amount:
		if _, err := matching.ParseAmount(s); err != nil {
			problem("must be a decimal of at least 0, in the major unit")
		}
	case c.Field == matching.WalletID:
		id := request.ParseID(p, path, s, request.ErrInvalidWalletID)
		return id.String()
	case c.Field == matching.Currency:
		return request.ParseCurrency(p, path, s).Code()
	case c.Field == matching.Type:
		if s != posting.Expense && s != posting.Income {
			problem("must be expense or income")
		}
	default:
		value, invalid := text.Description(path, s)
		p.Field(invalid)
		if invalid == nil && (matching.Fold(value) == "" || len([]rune(value)) > maxValue) {
			problem(fmt.Sprintf("must have 1 to %d characters", maxValue))
		}
		return value
	}
	return s
}

// setActions accepts 1 to 5 actions of different kinds. At most one of them may decide about the
// transaction as a whole: set its category, make it a transfer, or skip it.
func (r *Rule) setActions(p *apierr.Problems, actions []*ledgerv1.RuleAction) {
	r.Actions, r.CategoryID = nil, nil
	if len(actions) < 1 || len(actions) > maxActions {
		p.Invalid("actions", fmt.Sprintf("must have 1 to %d elements", maxActions))
		return
	}
	decides := ""
	seen := map[string]bool{}
	for i, m := range actions {
		path, kind := fmt.Sprintf("actions[%d]", i), m.GetKind()
		switch {
		case !slices.Contains(matching.Kinds, kind):
			p.Invalid(path+".kind", "must be "+strings.Join(matching.Kinds, ", "))
		case seen[kind]:
			p.Invalid(path+".kind", "must not repeat another action")
		case kind == matching.SetCategory || kind == matching.TransferTo || kind == matching.Skip:
			if decides != "" {
				p.Invalid(path+".kind", "cannot be combined with "+decides)
			}
			decides = kind
		}
		seen[kind] = true
		r.Actions = append(r.Actions, r.parseAction(p, path+".value", m))
	}
}

// parseAction returns an action. It stores the category of matching.SetCategory in the rule. path
// is the place of the value in the request.
func (r *Rule) parseAction(
	p *apierr.Problems, path string, m *ledgerv1.RuleAction,
) matching.Action {
	a := matching.Action{Kind: m.GetKind()}
	var problem *apierr.Field
	switch a.Kind {
	case matching.SetCategory:
		r.CategoryID = request.RequireReference(p, path, m.GetValue(), request.ErrInvalidCategoryID)
	case matching.TransferTo:
		id := request.RequireReference(p, path, m.GetValue(), request.ErrInvalidWalletID)
		if id != nil {
			a.Value = id.String()
		}
	case matching.AddTag:
		a.Value, problem = text.Tag(path, m.GetValue())
	case matching.SetPayee:
		a.Value, problem = text.Payee(path, m.GetValue())
	case matching.SetDescription:
		a.Value, problem = text.Description(path, m.GetValue())
	case matching.SetNotes:
		a.Value, problem = text.Notes(path, m.GetValue())
	case matching.Skip:
		if m.GetValue() != "" {
			problem = &apierr.Field{Name: path, Message: "must be empty for skip"}
		}
	}
	p.Field(problem)
	return a
}
