package budget

import (
	"context"
	"errors"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/coffer-budget/coffer/internal/caller"
	"github.com/coffer-budget/coffer/internal/money"
	"github.com/coffer-budget/coffer/internal/page"
	"github.com/coffer-budget/coffer/internal/pg"
	"github.com/coffer-budget/coffer/internal/text"
	authv1 "github.com/coffer-budget/coffer/proto/gen/coffer/auth/v1"
	budgetv1 "github.com/coffer-budget/coffer/proto/gen/coffer/budget/v1"
)

// maxMembersInBudget is how many a budget's own answer holds; the list of members has them all.
const maxMembersInBudget = 200

const (
	// maxMembersInList is the number of members of each budget in a list of budgets.
	maxMembersInList = 20
	// maxNames is the number of users that auth returns in one call. Only a page of budgets can have more members; the others
	// are then without a name.
	maxNames = 1000
)

// ListMembers shows rejected ones to the owner only, who may want to invite them anew.
func (s *server) ListMembers(ctx context.Context, req *budgetv1.ListMembersRequest) (*budgetv1.ListMembersResponse, error) {
	id, err := parseBudgetID(req.GetBudgetId())
	if err != nil {
		return nil, err
	}
	before, scope := newest, "members "+caller.ID(ctx).String()+" "+id.String()
	limit, err := s.cursors.Page(scope, req.Limit, req.GetCursor(), &before)
	if err != nil {
		return nil, err
	}
	b, err := s.budgetFor(ctx, s.db, id, readBudget)
	if err != nil {
		return nil, err
	}
	list := memberList{budget: id, statuses: b.standing().visible(), before: before, limit: limit + 1}
	members, err := selectMembers(ctx, s.db, list)
	if err != nil {
		return nil, err
	}
	members, pagination, err := page.Cut(s.cursors, scope, members, limit, func(m member) any { return moment{m.InvitedAt, m.UserID} })
	if err != nil {
		return nil, err
	}
	return &budgetv1.ListMembersResponse{Members: s.named(ctx, members), Pagination: pagination}, nil
}

// RemoveMember is for the owner and for the member, in any status.
func (s *server) RemoveMember(ctx context.Context, req *budgetv1.RemoveMemberRequest) (*budgetv1.RemoveMemberResponse, error) {
	budgetID, memberID, err := parseMemberPath(req.GetBudgetId(), req.GetMemberId())
	if err != nil {
		return nil, err
	}
	err = pg.InTx(ctx, s.db, func(tx pgx.Tx) error {
		b, m, err := s.lockedMember(ctx, tx, budgetID, memberID)
		if err != nil {
			return err
		}
		if err := deleteMember(ctx, tx, budgetID, memberID); err != nil {
			return err
		}
		forOwner := b.removed(m)
		forOwner.BudgetName = b.Name
		events := []addressed{{b.OwnerID, forOwner}}
		if m.Status != rejected || b.UserID == memberID {
			events = append(events, addressed{memberID, b.removed(m)})
		}
		return s.publishEach(ctx, tx, events...)
	})
	if err != nil {
		return nil, err
	}
	return &budgetv1.RemoveMemberResponse{Id: memberID.String()}, nil
}

// removed returns the event that the member receives when the acting user ends the membership.
func (b seenBudget) removed(m member) *budgetv1.MemberRemoved {
	return &budgetv1.MemberRemoved{
		BudgetId: b.ID.String(), BudgetName: m.nameOf(b.budget), OwnerId: b.OwnerID.String(), MemberId: m.UserID.String(),
		RemovedBy: b.UserID.String(),
	}
}

// nameOf returns the budget's name as the member may know it: the current one for accepted members, otherwise the one of the
// invitation or of the time when they left.
func (m member) nameOf(b budget) string {
	if m.Status == accepted || m.KnownName == nil {
		return b.Name
	}
	return *m.KnownName
}

// lockedMember returns a budget and one of its members to the owner and to that member; somebody else learns nothing
// about who is a member.
func (s *server) lockedMember(ctx context.Context, tx pgx.Tx, budgetID, memberID uuid.UUID) (seenBudget, member, error) {
	if err := lockBudget(ctx, tx, budgetID); err != nil {
		return seenBudget{}, member{}, err
	}
	b, err := selectBudget(ctx, tx, budgetID, caller.ID(ctx))
	if errors.Is(err, pgx.ErrNoRows) {
		return seenBudget{}, member{}, errBudgetNotFound
	}
	if err != nil {
		return seenBudget{}, member{}, err
	}
	over := b.standing().may(removeMembers)
	if b.UserID != memberID && !over {
		return seenBudget{}, member{}, errInsufficientPermissions
	}
	m, err := selectMember(ctx, tx, budgetID, memberID)
	switch {
	case errors.Is(err, pgx.ErrNoRows) && over:
		return seenBudget{}, member{}, errMemberNotFound
	case errors.Is(err, pgx.ErrNoRows):
		return seenBudget{}, member{}, errInsufficientPermissions
	}
	return b, m, err
}

// named asks auth once for the members' names and e-mails; without auth they are empty.
func (s *server) named(ctx context.Context, members []member) []*budgetv1.Member {
	var ids []uuid.UUID
	known := map[uuid.UUID]bool{}
	for _, m := range members {
		if !known[m.UserID] && len(ids) < maxNames {
			known[m.UserID], ids = true, append(ids, m.UserID)
		}
	}
	users := s.users(ctx, ids)
	named := make([]*budgetv1.Member, len(members))
	for i, m := range members {
		named[i] = m.proto(users[m.UserID.String()])
	}
	return named
}

func (s *server) users(ctx context.Context, ids []uuid.UUID) map[string]*authv1.User {
	users := map[string]*authv1.User{}
	if len(ids) == 0 {
		return users
	}
	ctx, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	resp, err := s.auth.GetUsers(ctx, &authv1.GetUsersRequest{Ids: idStrings(ids)})
	if err != nil {
		s.log.WarnContext(ctx, "answering without names", "users", len(ids), "error", err)
		return users
	}
	for _, u := range resp.GetUsers() {
		users[u.GetId()] = u
	}
	return users
}

func parseMemberPath(budgetID, memberID string) (budget, member uuid.UUID, err error) {
	budget, err = parseBudgetID(budgetID)
	if err != nil {
		return uuid.Nil, uuid.Nil, err
	}
	member, ok := text.ID(memberID)
	if !ok {
		return uuid.Nil, uuid.Nil, errInvalidMemberID
	}
	return budget, member, nil
}

// proto takes the member's user from auth; nil: not known.
func (m member) proto(user *authv1.User) *budgetv1.Member {
	p := &budgetv1.Member{
		Id:           m.UserID.String(),
		MemberId:     m.UserID.String(),
		BudgetId:     m.BudgetID.String(),
		Name:         user.GetName(),
		Email:        user.GetEmail(),
		Role:         m.Role,
		SharePercent: m.sharePercent(),
		Status:       string(m.Status),
		InvitedAt:    m.InvitedAt.UTC().Format(timestamp),
	}
	if m.RespondedAt != nil {
		p.RespondedAt = new(m.RespondedAt.UTC().Format(timestamp))
	}
	return p
}

func (m member) sharePercent() *string {
	if m.ShareBP == nil {
		return nil
	}
	return new(money.Decimal(int64(*m.ShareBP), 2))
}
