package budget

import (
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/coffer-budget/coffer/internal/apierr"
	"github.com/coffer-budget/coffer/internal/money"
	"github.com/coffer-budget/coffer/internal/text"
	budgetv1 "github.com/coffer-budget/coffer/proto/gen/coffer/budget/v1"
)

const (
	maxCategories = 100
	// mostDecimals is how many the finest currency has.
	mostDecimals = 4
)

// parseID takes the 36 characters of a UUID in any case; uuid.Parse alone would also take braces and urn: forms.
func parseID(s string) (uuid.UUID, bool) {
	if len(s) != 36 {
		return uuid.Nil, false
	}
	id, err := uuid.Parse(s)
	return id, err == nil
}

func parseBudgetID(s string) (uuid.UUID, error) {
	id, ok := parseID(s)
	if !ok {
		return uuid.Nil, errInvalidBudgetID
	}
	return id, nil
}

// parseAt reads the day that progress is asked for; today when absent.
func (s *server) parseAt(at *string) (time.Time, error) {
	if at == nil {
		return dayOf(s.now()), nil
	}
	d, ok := parseDate(*at)
	if !ok {
		return time.Time{}, errInvalidTimeframe.With("at", "must be a date, YYYY-MM-DD")
	}
	return d, nil
}

// changes are the fields of a budget that a request sets, checked as far as each can be on its own; nil: not set, or bad
// and among the problems.
type changes struct {
	name       *string
	currency   *money.Currency
	limit      *string
	period     *string
	start      *time.Time
	end        *time.Time
	noEnd      bool
	wallet     *uuid.UUID
	categories []uuid.UUID
}

// parseCreate returns the budget that a request asks for, but for what the server adds.
func parseCreate(req *budgetv1.CreateBudgetRequest) (budget, error) {
	var c changes
	var p problems
	c.setName(&p, req.GetName())
	required(&p, "currency", req.GetCurrency(), c.setCurrency)
	required(&p, "limit", req.GetLimit(), c.setLimit)
	required(&p, "period", req.GetPeriod(), c.setPeriod)
	required(&p, "startDate", req.GetStartDate(), c.setStart)
	if req.EndDate != nil {
		c.setEnd(&p, req.GetEndDate())
	}
	required(&p, "walletId", req.GetWalletId(), c.setWallet)
	c.setCategories(&p, req.GetCategoryIds())
	b := c.apply(&p, budget{})
	return b, p.err()
}

func required(p *problems, field, value string, set func(*problems, string)) {
	if value == "" {
		p.field(&apierr.Field{Name: field, Message: "is required"})
		return
	}
	set(p, value)
}

func parseUpdate(req *budgetv1.UpdateBudgetRequest) (changes, error) {
	var c changes
	var p problems
	some := false
	optional := func(value *string, set func(*problems, string)) {
		if value != nil {
			some = true
			set(&p, *value)
		}
	}
	optional(req.Name, c.setName)
	optional(req.Currency, c.setCurrency)
	optional(req.Limit, c.setLimit)
	optional(req.Period, c.setPeriod)
	optional(req.StartDate, c.setStart)
	optional(req.EndDate, c.setEnd)
	optional(req.WalletId, c.setWallet)
	if req.GetCategoryIds() != nil {
		some = true
		c.setCategories(&p, req.GetCategoryIds().GetValues())
	}
	if !some {
		return changes{}, apierr.EmptyUpdate
	}
	return c, p.err()
}

func (c *changes) setName(p *problems, s string) {
	name, problem := text.Name("name", s)
	p.field(problem)
	c.name = &name
}

func (c *changes) setCurrency(p *problems, s string) {
	currency, ok := money.ParseCurrency(s)
	if !ok {
		p.add(errUnsupportedCurrency.With("currency", "must be an ISO 4217 code"))
		return
	}
	c.currency = &currency
}

// setLimit leaves the number as it is: which decimals it may have depends on the currency, which may be the old one.
func (c *changes) setLimit(p *problems, s string) {
	n, err := money.ParseDecimal(s, mostDecimals)
	if problem := limitProblem(n, err); problem != "" {
		p.field(&apierr.Field{Name: "limit", Message: problem})
		return
	}
	c.limit = &s
}

func (c *changes) setPeriod(p *problems, s string) {
	s = strings.ToLower(s)
	if _, ok := periods[s]; !ok {
		p.add(errInvalidPeriod.With("period", "must be daily, weekly, biweekly, monthly, quarterly, half_yearly, yearly or custom"))
		return
	}
	c.period = &s
}

func (c *changes) setStart(p *problems, s string) {
	d, ok := parseDate(s)
	if !ok {
		p.add(errInvalidTimeframe.With("startDate", "must be a date, YYYY-MM-DD, of the years 1900 to 2200"))
		return
	}
	c.start = &d
}

func (c *changes) setEnd(p *problems, s string) {
	if s == "" {
		c.noEnd = true
		return
	}
	d, ok := parseDate(s)
	if !ok {
		p.add(errInvalidTimeframe.With("endDate", "must be a date, YYYY-MM-DD, of the years 1900 to 2200"))
		return
	}
	c.end = &d
}

func (c *changes) setWallet(p *problems, s string) {
	id, ok := parseID(s)
	if !ok {
		p.add(errInvalidWalletID.With("walletId", "must be a wallet's id"))
		return
	}
	c.wallet = &id
}

// setCategories drops repeats and keeps the order.
func (c *changes) setCategories(p *problems, ids []string) {
	if len(ids) == 0 {
		p.add(errInvalidCategoryIDs.With("categoryIds", "must name at least one category"))
		return
	}
	seen := map[uuid.UUID]bool{}
	for _, s := range ids {
		id, ok := parseID(s)
		if !ok {
			p.add(errInvalidCategoryIDs.With("categoryIds", "must be ids of categories"))
			return
		}
		if !seen[id] {
			seen[id] = true
			c.categories = append(c.categories, id)
		}
	}
	if len(c.categories) > maxCategories {
		p.field(&apierr.Field{Name: "categoryIds", Message: "must be at most 100 categories"})
	}
}

// apply returns the budget with the changes made, and adds what is wrong with the result as a whole.
func (c changes) apply(p *problems, b budget) budget {
	old := b.currency()
	if c.name != nil {
		b.Name = *c.name
	}
	if c.currency != nil {
		b.Currency = c.currency.Code()
	}
	limit := c.limit
	if limit == nil && b.LimitMinor > 0 && b.currency() != old {
		// The limit stays what it was in major units: 100 USD become 100 EUR, and 0.50 USD cannot become JPY.
		limit = new(old.Format(b.LimitMinor))
	}
	if limit != nil && b.Currency != "" {
		b.LimitMinor = parseLimit(p, b.currency(), *limit)
	}
	if c.wallet != nil {
		b.WalletID = *c.wallet
	}
	if c.categories != nil {
		b.CategoryIDs = c.categories
	}
	return c.applyTimeframe(p, b)
}

func (c changes) applyTimeframe(p *problems, b budget) budget {
	if c.period != nil {
		b.Period = *c.period
	}
	if c.start != nil {
		b.StartDate = *c.start
	}
	if c.end != nil || c.noEnd {
		b.EndDate = c.end
	}
	// Without the start or with a bad end there is nothing to compare.
	if b.StartDate.IsZero() || p.has(errInvalidTimeframe) {
		return b
	}
	if field, problem := b.timeframe().valid(); field != "" {
		p.add(errInvalidTimeframe.With(field, problem))
	}
	return b
}

func parseLimit(p *problems, currency money.Currency, s string) int64 {
	minor, err := currency.Parse(s)
	if problem := limitProblem(minor, err); problem != "" {
		p.field(&apierr.Field{Name: "limit", Message: problem})
	}
	return minor
}

func limitProblem(n int64, err error) string {
	switch {
	case err != nil:
		return err.Error()
	case n <= 0:
		return "must be greater than 0"
	}
	return ""
}

// problems collects what is wrong with a request.
type problems struct {
	fields   []apierr.Field
	specific []*apierr.Error
}

func (p *problems) field(f *apierr.Field) {
	if f != nil {
		p.fields = append(p.fields, *f)
	}
}

func (p *problems) add(e *apierr.Error) { p.specific = append(p.specific, e) }

func (p *problems) has(e *apierr.Error) bool {
	return slices.ContainsFunc(p.specific, func(s *apierr.Error) bool { return errors.Is(s, e) })
}

// err is nil, or one error that names every bad field: with the specific code when there is no ordinary problem.
func (p *problems) err() error {
	if len(p.fields) == 0 && len(p.specific) == 0 {
		return nil
	}
	e := &apierr.Error{}
	if len(p.fields) > 0 {
		e = apierr.Validation(p.fields)
	} else {
		*e = *p.specific[0]
		e.Fields = nil
	}
	for _, s := range p.specific {
		e.Fields = append(e.Fields, s.Fields...)
	}
	return e
}
