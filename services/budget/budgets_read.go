package budget

import (
	"context"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/coffer-budget/coffer/internal/apierr"
	"github.com/coffer-budget/coffer/internal/calendar"
	"github.com/coffer-budget/coffer/internal/caller"
	"github.com/coffer-budget/coffer/internal/etag"
	"github.com/coffer-budget/coffer/internal/money"
	"github.com/coffer-budget/coffer/internal/page"
	budgetv1 "github.com/coffer-budget/coffer/proto/gen/coffer/budget/v1"
	"github.com/coffer-budget/coffer/services/budget/internal/sharing"
	"github.com/coffer-budget/coffer/services/budget/internal/spending"
)

const (
	// maxMembersInBudget limits the members in the response of one budget; the list has all.
	maxMembersInBudget = 200
	maxMembersInList   = 20
)

// ListBudgets returns the acting user's own budgets and the accepted ones, newest first, with
// progress and members. With include=invited it also returns the contents of pending invitations.
// Former members get neither. If the ledger or auth is unavailable, progress or names are omitted.
func (s *server) ListBudgets(
	ctx context.Context, req *budgetv1.ListBudgetsRequest,
) (*budgetv1.ListBudgetsResponse, error) {
	var problems apierr.Problems
	limit, problem := page.Limit(req.Limit)
	problems.Field(problem)
	list := budgetList{
		user: caller.ID(ctx), statuses: []sharing.Status{sharing.Accepted}, before: uuid.Max,
		limit: limit + 1,
	}
	switch req.GetInclude() {
	case "":
	case "invited":
		list.statuses = append(list.statuses, sharing.Pending)
	default:
		problems.Invalid("include", "must be invited")
	}
	at := parseAt(&problems, req.At)
	if err := problems.Err(); err != nil {
		return nil, err
	}
	// The cursor is sealed for this list. It is rejected in the list of another user, and in one
	// with another include.
	scope := "budgets " + list.user.String() + " " + req.GetInclude()
	if req.GetCursor() != "" {
		if err := s.cursors.Open(scope, req.GetCursor(), &list.before); err != nil {
			return nil, err
		}
	}
	budgets, err := selectBudgets(ctx, s.db, list)
	if err != nil {
		return nil, err
	}
	budgets, pagination, err := page.Cut(s.cursors, scope, budgets, limit,
		func(b seenBudget) any { return b.ID })
	if err != nil {
		return nil, err
	}
	answers, err := s.page(ctx, at, budgets)
	if err != nil {
		return nil, err
	}
	return &budgetv1.ListBudgetsResponse{Budgets: answers, Pagination: pagination}, nil
}

// GetBudget returns a budget with progress and members. Owner and accepted members may read it.
// Progress is of the window that contains the requested day. Errors: BUDGET_NOT_FOUND, and
// INSUFFICIENT_PERMISSIONS for all other users.
func (s *server) GetBudget(
	ctx context.Context, req *budgetv1.GetBudgetRequest,
) (*budgetv1.GetBudgetResponse, error) {
	id, err := s.members.ParseID(req.GetId())
	if err != nil {
		return nil, err
	}
	var p apierr.Problems
	at := parseAt(&p, req.At)
	if err := p.Err(); err != nil {
		return nil, err
	}
	seen, err := s.budgetFor(ctx, s.db, id, sharing.Read)
	if err != nil {
		return nil, err
	}
	members, err := s.members.Newest(ctx, s.db, seen.thing(), maxMembersInBudget)
	if err != nil {
		return nil, err
	}
	return &budgetv1.GetBudgetResponse{
		Budget: s.budgetDetail(ctx, at, seen, members), Etag: etag.Format(seen.Version),
	}, nil
}

// budgetDetail adds progress and the names of members and owner, fetched concurrently. A part whose
// service is unavailable is omitted. Neither call delays the other, and together they take at most
// optionalTimeout. at is the day of the progress, nil for today.
func (s *server) budgetDetail(
	ctx context.Context, at *time.Time, seen seenBudget, members []sharing.Member,
) *budgetv1.Budget {
	var ledgerCall sync.WaitGroup
	var found standing
	ledgerCall.Go(func() { found = s.standings(ctx, at, []budget{seen.budget})[0] })
	users := s.members.UsersOf(ctx, members, []sharing.Thing{seen.thing()})
	ledgerCall.Wait()
	answer := seen.proto(found.today)
	answer.Progress = found.progress
	answer.Members = users.Members(members)
	answer.OwnerName = users.OwnerName(seen.thing())
	return answer
}

// page returns a page of budgets with progress and members, with one call to the ledger and one to
// auth, made concurrently. A pending member gets the contents of the invitation only, and the
// ledger and auth are not asked about that budget.
func (s *server) page(
	ctx context.Context, at *time.Time, budgets []seenBudget,
) ([]*budgetv1.ListedBudget, error) {
	answers := make([]*budgetv1.ListedBudget, len(budgets))
	byID := map[uuid.UUID]*budgetv1.ListedBudget{}
	var open []budget
	var readable []seenBudget
	var things []sharing.Thing
	for i, b := range budgets {
		if !b.role().May(sharing.Read) {
			answers[i] = b.invitationProto()
			continue
		}
		open, readable = append(open, b.budget), append(readable, b)
		things = append(things, b.thing())
	}
	// One statement reads the newest members of all readable budgets, and one RPC each the names
	// and the spending.
	members, err := s.members.NewestOf(ctx, s.db, things, maxMembersInList)
	if err != nil {
		return nil, err
	}
	var ledgerCall sync.WaitGroup
	var found []standing
	ledgerCall.Go(func() { found = s.standings(ctx, at, open) })
	users := s.members.UsersOf(ctx, members, things)
	ledgerCall.Wait()
	named := users.Members(members)
	for i, b := range readable {
		answer := b.listedProto(found[i].today)
		answer.Progress, answer.OwnerName = found[i].progress, users.OwnerName(b.thing())
		byID[b.ID] = answer
	}
	for i, m := range members {
		byID[m.ThingID].Members = append(byID[m.ThingID].Members, named[i])
	}
	for i, b := range budgets {
		if answer, ok := byID[b.ID]; ok {
			answers[i] = answer
		}
	}
	return answers, nil
}

func (b budget) timeframe() spending.Timeframe {
	return spending.Timeframe{Period: b.Period, Start: b.StartDate, End: b.EndDate}
}

// currency returns the zero value for a budget without a valid currency, which only an invalid
// request has.
func (b budget) currency() money.Currency {
	c, _ := money.ParseCurrency(b.Currency)
	return c
}

// seenByOwner returns the budget with the owner as its reader. A created budget has no other reader
// yet.
func (b budget) seenByOwner() seenBudget {
	return seenBudget{budget: b, Reader: sharing.Reader{UserID: b.OwnerID}}
}

// snapshot returns the budget as events carry it, without fields that depend on the reader. The
// type has no field that depends on the reader, so a member with a pending invitation cannot
// receive one by mistake (ADR 45).
func (b budget) snapshot() *budgetv1.BudgetSnapshot {
	message := &budgetv1.BudgetSnapshot{
		Id:              b.ID.String(),
		Name:            b.Name,
		Currency:        b.Currency,
		Limit:           b.currency().Format(b.LimitMinor),
		Period:          b.Period,
		StartDate:       b.StartDate.Format(calendar.DateLayout),
		WalletId:        b.WalletID.String(),
		CategoryIds:     idStrings(b.CategoryIDs),
		OwnerId:         b.OwnerID.String(),
		AlertThresholds: b.AlertThresholds,
		CreatedAt:       calendar.FormatTime(b.CreatedAt),
		UpdatedAt:       calendar.FormatTime(b.UpdatedAt),
	}
	if b.EndDate != nil {
		message.EndDate = new(b.EndDate.Format(calendar.DateLayout))
	}
	return message
}

func (b seenBudget) proto(today time.Time) *budgetv1.Budget {
	snapshot := b.snapshot()
	message := &budgetv1.Budget{
		Id:              snapshot.GetId(),
		Name:            snapshot.GetName(),
		Currency:        snapshot.GetCurrency(),
		Limit:           snapshot.GetLimit(),
		Period:          snapshot.GetPeriod(),
		StartDate:       snapshot.GetStartDate(),
		EndDate:         snapshot.EndDate,
		WalletId:        snapshot.GetWalletId(),
		CategoryIds:     snapshot.GetCategoryIds(),
		OwnerId:         snapshot.GetOwnerId(),
		Role:            string(sharing.Owner),
		CreatedAt:       snapshot.GetCreatedAt(),
		UpdatedAt:       snapshot.GetUpdatedAt(),
		AlertThresholds: snapshot.GetAlertThresholds(),
		Status:          b.timeframe().Status(today),
	}
	// The owner has no membership, and therefore no status of one.
	if b.MemberRole != nil {
		message.Role = *b.MemberRole
		message.MembershipStatus = new(string(*b.Status))
	}
	return message
}

// listedProto returns the budget as an item of a list, without progress and members. All fields are
// set, so that only pending invitations lack some.
func (b seenBudget) listedProto(today time.Time) *budgetv1.ListedBudget {
	message := b.proto(today)
	return &budgetv1.ListedBudget{
		Id:               message.GetId(),
		Name:             message.GetName(),
		Currency:         &message.Currency,
		Limit:            &message.Limit,
		Period:           &message.Period,
		StartDate:        &message.StartDate,
		EndDate:          message.EndDate,
		WalletId:         &message.WalletId,
		CategoryIds:      message.GetCategoryIds(),
		OwnerId:          message.GetOwnerId(),
		Role:             message.GetRole(),
		CreatedAt:        &message.CreatedAt,
		UpdatedAt:        &message.UpdatedAt,
		MembershipStatus: message.MembershipStatus,
		AlertThresholds:  message.GetAlertThresholds(),
		Status:           &message.Status,
	}
}

// invitationProto returns the item of a list for a pending member: the contents of the invitation
// and nothing newer. It has the name in the invitation, or the present name if the row is from a
// release that stored none (ADR 62).
func (b seenBudget) invitationProto() *budgetv1.ListedBudget {
	name := b.Name
	if b.KnownName != nil {
		name = *b.KnownName
	}
	return &budgetv1.ListedBudget{
		Id: b.ID.String(), Name: name, OwnerId: b.OwnerID.String(), Role: *b.MemberRole,
		MembershipStatus: new(string(*b.Status)),
	}
}

func idStrings(ids []uuid.UUID) []string {
	s := make([]string, len(ids))
	for i, id := range ids {
		s[i] = id.String()
	}
	return s
}
