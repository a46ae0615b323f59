package goals

import (
	"fmt"
	"time"

	"github.com/coffer-budget/coffer/internal/apierr"
	"github.com/coffer-budget/coffer/internal/calendar"
	"github.com/coffer-budget/coffer/internal/money"
	"github.com/coffer-budget/coffer/internal/text"
	budgetv1 "github.com/coffer-budget/coffer/proto/gen/coffer/budget/v1"
	restv1 "github.com/coffer-budget/coffer/proto/gen/coffer/rest/v1"
)

const dateProblem = "must be a date, YYYY-MM-DD, of the years 1900 to 2200"

var (
	errGoalNotFound       = apierr.New(restv1.Reason_GOAL_NOT_FOUND)
	errAssignmentNotFound = apierr.New(restv1.Reason_ASSIGNMENT_NOT_FOUND)
	errExceedsGoal        = apierr.New(restv1.Reason_ASSIGNMENT_EXCEEDS_GOAL)
	errCurrency           = apierr.New(restv1.Reason_UNSUPPORTED_CURRENCY)
	// The ledger returns the same reason with NOT_FOUND for a well-formed id.
	errInvalidWalletID = apierr.NewInvalid(restv1.Reason_WALLET_NOT_FOUND)
	errInvalidID       = apierr.NewInvalid(restv1.Reason_ASSIGNMENT_NOT_FOUND)

	errGoalLimit = apierr.New(restv1.Reason_LIMIT_REACHED).
			With("goal", fmt.Sprintf("a user may own at most %d goals", maxGoals))
	errAssignmentLimit = apierr.New(restv1.Reason_LIMIT_REACHED).
				With("assignment", fmt.Sprintf("a goal may have at most %d assignments",
			maxAssignments))
)

// parseCreate returns the goal of a request, or all problems of its fields.
func parseCreate(req *budgetv1.CreateGoalRequest) (goal, error) {
	var problems apierr.Problems
	var g goal
	g.setName(&problems, req.GetName())
	currency, known := money.ParseCurrency(req.GetCurrency())
	switch {
	case req.GetCurrency() == "":
		problems.Invalid("currency", "is required")
	case !known:
		problems.Add(errCurrency.With("currency",
			"must be an active ISO 4217 code, such as EUR"))
	default:
		g.Currency = currency.Code()
		g.setTarget(&problems, req.GetTarget())
	}
	if req.TargetDate != nil {
		g.setTargetDate(&problems, req.GetTargetDate())
	}
	g.setIcon(&problems, req.GetIcon())
	g.setNote(&problems, req.GetNote())
	return g, problems.Err()
}

// applyUpdate returns a goal with the fields that a request contains, or all problems of them.
func applyUpdate(g goal, req *budgetv1.UpdateGoalRequest) (goal, error) {
	var problems apierr.Problems
	set := func(value *string, field func(*apierr.Problems, string)) {
		if value != nil {
			field(&problems, *value)
		}
	}
	set(req.Name, g.setName)
	set(req.Target, g.setTarget)
	set(req.TargetDate, g.setTargetDate)
	set(req.Icon, g.setIcon)
	set(req.Note, g.setNote)
	if req.Archived != nil {
		g.Archived = req.GetArchived()
	}
	return g, problems.Err()
}

func (g *goal) setName(p *apierr.Problems, s string) {
	name, problem := text.Name("name", s)
	p.Field(problem)
	g.Name = name
}

func (g *goal) setTarget(p *apierr.Problems, s string) {
	if s == "" {
		p.Invalid("target", "is required")
		return
	}
	minor, err := g.money().Parse(s)
	if problem := money.PositiveProblem(s, minor, err); problem != "" {
		p.Invalid("target", problem)
	}
	g.TargetMinor = minor
}

// setTargetDate removes the date if s is empty.
func (g *goal) setTargetDate(p *apierr.Problems, s string) {
	g.TargetDate = nil
	if s != "" {
		g.TargetDate = new(parseDay(p, "targetDate", s))
	}
}

func (g *goal) setIcon(p *apierr.Problems, s string) {
	icon, problem := text.Icon("icon", s)
	p.Field(problem)
	g.Icon = icon
}

func (g *goal) setNote(p *apierr.Problems, s string) {
	note, problem := text.Description("note", s)
	p.Field(problem)
	g.Note = note
}

func parseDay(p *apierr.Problems, field, s string) time.Time {
	day, ok := calendar.ParseDate(s)
	switch {
	case s == "":
		p.Invalid(field, "is required")
	case !ok:
		p.Invalid(field, dateProblem)
	}
	return day
}

// parseAssignment returns the assignment of a request, or all problems of its fields.
func parseAssignment(
	req *budgetv1.CreateAssignmentRequest, currency money.Currency,
) (assignment, error) {
	var problems apierr.Problems
	var a assignment
	var ok bool
	if a.WalletID, ok = text.ID(req.GetWalletId()); !ok {
		if req.GetWalletId() == "" {
			problems.Invalid("walletId", "is required")
		} else {
			problems.Add(errInvalidWalletID.With("walletId", "must be a UUID"))
		}
	}
	var err error
	a.AmountMinor, err = currency.Parse(req.GetAmount())
	switch {
	case req.GetAmount() == "":
		problems.Invalid("amount", "is required")
	case err != nil:
		problems.Invalid("amount", err.Error())
	case a.AmountMinor == 0:
		problems.Invalid("amount", "must not be 0")
	}
	a.Day = parseDay(&problems, "date", req.GetDate())
	return a, problems.Err()
}
