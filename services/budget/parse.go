package budget

import (
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/coffer-budget/coffer/internal/apierr"
	"github.com/coffer-budget/coffer/internal/calendar"
	"github.com/coffer-budget/coffer/internal/money"
	"github.com/coffer-budget/coffer/internal/text"
	budgetv1 "github.com/coffer-budget/coffer/proto/gen/coffer/budget/v1"
	"github.com/coffer-budget/coffer/services/budget/internal/spending"
)

const (
	// The limits are also constraints of the table.
	maxCategories = 100
	maxThreshold  = 1000
	maxThresholds = 10
	// maxDecimals is the number of decimals of the currency with the smallest unit.
	maxDecimals = 4
	dateProblem = "must be a date, YYYY-MM-DD, of the years 1900 to 2200"
)

var defaultThresholds = []int32{80, 100}

// parseAt returns a day of the window whose progress is requested, or nil for today.
func parseAt(p *apierr.Problems, at *string) *time.Time {
	if at == nil {
		return nil
	}
	d, ok := calendar.ParseDate(*at)
	if !ok {
		p.Add(errInvalidTimeframe.With("at", dateProblem))
	}
	return &d
}

// changes holds the fields of a budget that a request sets, each validated separately. A field is
// nil if it is not set, or invalid and among the problems.
type changes struct {
	// name is normalized, and currency is one that the money package knows.
	name     *string
	currency *money.Currency
	// limit is a decimal in the major unit. start and end are days, as midnight in UTC.
	limit  *string
	period *string
	start  *time.Time
	end    *time.Time
	// noEnd is set if the request removes the end.
	noEnd      bool
	wallet     *uuid.UUID
	categories []uuid.UUID
	// thresholds is empty, but not nil, if the request removes all.
	thresholds []int32
}

// parseCreate returns the fields of a new budget, and adds the problems of all fields to problems.
func parseCreate(problems *apierr.Problems, req *budgetv1.CreateBudgetRequest) changes {
	var parsed changes
	parsed.setName(problems, req.GetName())
	required(problems, "currency", req.GetCurrency(), parsed.setCurrency)
	required(problems, "limit", req.GetLimit(), parsed.setLimit)
	required(problems, "period", req.GetPeriod(), parsed.setPeriod)
	required(problems, "startDate", req.GetStartDate(), parsed.setStart)
	if req.EndDate != nil {
		parsed.setEnd(problems, req.GetEndDate())
	}
	required(problems, "walletId", req.GetWalletId(), parsed.setWallet)
	parsed.setCategories(problems, req.GetCategoryIds())
	if req.GetAlertThresholds() != nil {
		parsed.setThresholds(problems, req.GetAlertThresholds().GetValues())
	}
	return parsed
}

func required(p *apierr.Problems, field, value string, set func(*apierr.Problems, string)) {
	if value == "" {
		p.Invalid(field, "is required")
		return
	}
	set(p, value)
}

func parseUpdate(problems *apierr.Problems, req *budgetv1.UpdateBudgetRequest) (changes, error) {
	if err := apierr.CheckChange(req); err != nil {
		return changes{}, err
	}
	var parsed changes
	optional := func(value *string, set func(*apierr.Problems, string)) {
		if value != nil {
			set(problems, *value)
		}
	}
	optional(req.Name, parsed.setName)
	optional(req.Currency, parsed.setCurrency)
	optional(req.Limit, parsed.setLimit)
	optional(req.Period, parsed.setPeriod)
	optional(req.StartDate, parsed.setStart)
	optional(req.EndDate, parsed.setEnd)
	optional(req.WalletId, parsed.setWallet)
	if req.GetCategoryIds() != nil {
		parsed.setCategories(problems, req.GetCategoryIds().GetValues())
	}
	if req.GetAlertThresholds() != nil {
		parsed.setThresholds(problems, req.GetAlertThresholds().GetValues())
	}
	return parsed, nil
}

func (c *changes) setName(p *apierr.Problems, s string) {
	name, problem := text.Name("name", s)
	p.Field(problem)
	c.name = &name
}

func (c *changes) setCurrency(p *apierr.Problems, s string) {
	currency, ok := money.ParseCurrency(s)
	if !ok {
		p.Add(errUnsupportedCurrency.With("currency",
			"must be an active ISO 4217 code, such as EUR"))
		return
	}
	c.currency = &currency
}

// setLimit keeps the text of the number, because the allowed decimals depend on the currency, which
// the request may not contain.
func (c *changes) setLimit(p *apierr.Problems, s string) {
	n, err := money.ParseDecimal(s, maxDecimals)
	if problem := money.PositiveProblem(s, n, err); problem != "" {
		p.Invalid("limit", problem)
		return
	}
	c.limit = &s
}

func (c *changes) setPeriod(p *apierr.Problems, s string) {
	s = strings.ToLower(s)
	if !spending.IsPeriod(s) {
		p.Add(errInvalidPeriod.With("period",
			"must be daily, weekly, biweekly, monthly, quarterly, half_yearly, yearly or custom"))
		return
	}
	c.period = &s
}

func (c *changes) setStart(p *apierr.Problems, s string) {
	d, ok := calendar.ParseDate(s)
	if !ok {
		p.Add(errInvalidTimeframe.With("startDate", dateProblem))
		return
	}
	c.start = &d
}

func (c *changes) setEnd(problems *apierr.Problems, s string) {
	if s == "" {
		c.noEnd = true
		return
	}
	d, ok := calendar.ParseDate(s)
	if !ok {
		problems.Add(errInvalidTimeframe.With("endDate", dateProblem))
		return
	}
	c.end = &d
}

// setWallet checks the syntax of the id. The ledger checks that the wallet is the owner's.
func (c *changes) setWallet(p *apierr.Problems, s string) {
	id, ok := text.ID(s)
	if !ok {
		p.Add(errInvalidWalletID.With("walletId", "must be a UUID"))
		return
	}
	c.wallet = &id
}

// setCategories removes repeated ids and keeps the order. The ledger checks that they exist.
func (c *changes) setCategories(problems *apierr.Problems, ids []string) {
	if len(ids) == 0 {
		problems.Add(errInvalidCategoryIDs.With("categoryIds", "must name at least one category"))
		return
	}
	var categories []uuid.UUID
	// The count is limited after repeated ids were removed, so that it is the number of stored ids.
	seen := map[uuid.UUID]bool{}
	for _, s := range ids {
		id, ok := text.ID(s)
		if !ok {
			problems.Add(errInvalidCategoryIDs.With("categoryIds", "must be UUIDs of categories"))
			return
		}
		if !seen[id] {
			seen[id] = true
			categories = append(categories, id)
		}
	}
	if len(categories) > maxCategories {
		problems.Invalid("categoryIds", "must be at most 100 categories")
		return
	}
	c.categories = categories
}

// setThresholds sorts the thresholds and removes repeated ones. A threshold is a percentage of the
// limit and may exceed 100, so that an alert can follow the one about the limit itself.
func (c *changes) setThresholds(problems *apierr.Problems, percentages []int32) {
	c.thresholds = []int32{}
	for _, t := range percentages {
		if t < 1 || t > maxThreshold {
			problems.Invalid("alertThresholds", "must be percentages from 1 to 1000")
			return
		}
		c.thresholds = append(c.thresholds, t)
	}
	slices.Sort(c.thresholds)
	c.thresholds = slices.Compact(c.thresholds)
	if len(c.thresholds) > maxThresholds {
		problems.Invalid("alertThresholds", "must be at most 10 percentages")
	}
}

// apply returns the changed budget, and adds problems of fields that are invalid together. It does
// not change the stored budget, so it can be applied to more than one version of it.
func (c changes) apply(problems *apierr.Problems, budget budget) budget {
	// The limit is stored in the minor unit of the currency, so both must change together.
	old := budget.currency()
	if c.name != nil {
		budget.Name = *c.name
	}
	if c.currency != nil {
		budget.Currency = c.currency.Code()
	}
	if c.limit == nil && budget.LimitMinor > 0 && budget.currency() != old {
		// Amounts are not converted, and 12280 JPY is not 12280 EUR.
		problems.Invalid("limit", "is required with another currency")
	}
	if c.limit != nil && budget.Currency != "" {
		budget.LimitMinor = parseLimit(problems, budget.currency(), *c.limit)
	}
	if c.wallet != nil {
		budget.WalletID = *c.wallet
	}
	if c.categories != nil {
		budget.CategoryIDs = c.categories
	}
	if c.thresholds != nil {
		budget.AlertThresholds = c.thresholds
	}
	return c.applyTimeframe(problems, budget)
}

func (c changes) applyTimeframe(problems *apierr.Problems, budget budget) budget {
	if c.period != nil {
		budget.Period = *c.period
	}
	if c.start != nil {
		budget.StartDate = *c.start
	}
	if c.end != nil || c.noEnd {
		budget.EndDate = c.end
	}
	// Without a start, or with an invalid date, the timeframe cannot be validated.
	if budget.StartDate.IsZero() || problems.Has(errInvalidTimeframe) {
		return budget
	}
	if field, problem := budget.timeframe().Problem(); field != "" {
		problems.Add(errInvalidTimeframe.With(field, problem))
	}
	return budget
}

func parseLimit(p *apierr.Problems, currency money.Currency, s string) int64 {
	minor, err := currency.Parse(s)
	if problem := money.PositiveProblem(s, minor, err); problem != "" {
		p.Invalid("limit", problem)
	}
	return minor
}
