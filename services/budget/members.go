package budget

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/coffer-budget/coffer/internal/apierr"
	"github.com/coffer-budget/coffer/internal/calendar"
	"github.com/coffer-budget/coffer/internal/caller"
	"github.com/coffer-budget/coffer/internal/etag"
	"github.com/coffer-budget/coffer/internal/money"
	"github.com/coffer-budget/coffer/internal/page"
	"github.com/coffer-budget/coffer/internal/pg"
	"github.com/coffer-budget/coffer/internal/text"
	authv1 "github.com/coffer-budget/coffer/proto/gen/coffer/auth/v1"
	budgetv1 "github.com/coffer-budget/coffer/proto/gen/coffer/budget/v1"
	"github.com/coffer-budget/coffer/services/budget/internal/notification"
)

const (
	// maxMembersInBudget limits the members in the response of one budget; the list has all.
	maxMembersInBudget = 200
	maxMembersInList   = 20
	// maxNames is the number of users that auth returns in one call. Only a page of budgets can
	// have more members; the others are then without a name.
	maxNames = 1000
)

// ListMembers returns the members of a budget, newest first. Only the owner sees members that
// rejected the invitation, because only the owner may invite them again. Users with a pending
// invitation may not read the list.
func (s *server) ListMembers(
	ctx context.Context, req *budgetv1.ListMembersRequest,
) (*budgetv1.ListMembersResponse, error) {
	id, err := parseBudgetID(req.GetBudgetId())
	if err != nil {
		return nil, err
	}
	members, pagination, err := page.List(s.cursors, page.Query[member, moment]{
		Scope: "members " + caller.ID(ctx).String() + " " + id.String(),
		Limit: req.Limit, Cursor: req.GetCursor(), First: newest,
		Position: func(m member) moment { return moment{m.InvitedAt, m.UserID} },
		Select: func(before moment, limit int) ([]member, error) {
			b, err := s.budgetFor(ctx, s.db, id, readBudget)
			if err != nil {
				return nil, err
			}
			return selectMembers(ctx, s.db, memberList{
				budget: id, statuses: b.role().visible(), byMail: b.role().may(readAllMembers),
				before: before, limit: limit,
			})
		},
	})
	if err != nil {
		return nil, err
	}
	return &budgetv1.ListMembersResponse{
		Members: s.named(ctx, members), Pagination: pagination,
	}, nil
}

// GetMember returns a member that ListMembers returns to the caller. Errors:
// BUDGET_MEMBER_NOT_FOUND, also for a rejected invitation if the caller is not the owner.
func (s *server) GetMember(
	ctx context.Context, req *budgetv1.GetMemberRequest,
) (*budgetv1.GetMemberResponse, error) {
	budgetID, memberID, err := parseMemberPath(req.GetBudgetId(), req.GetMemberId())
	if err != nil {
		return nil, err
	}
	seen, err := s.budgetFor(ctx, s.db, budgetID, readBudget)
	if err != nil {
		return nil, err
	}
	found, err := selectMember(ctx, s.db, budgetID, memberID)
	if errors.Is(err, pgx.ErrNoRows) || err == nil && !seen.role().sees(found) {
		return nil, errMemberNotFound
	}
	if err != nil {
		return nil, err
	}
	return &budgetv1.GetMemberResponse{
		Member: s.named(ctx, []member{found})[0], Etag: etag.Format(found.version()),
	}, nil
}

// RemoveMember deletes a membership, in any status. The owner and the member may do it. Both are
// notified, unless they did it themselves, or the member had left before. Errors:
// BUDGET_MEMBER_NOT_FOUND for the owner, and INSUFFICIENT_PERMISSIONS for all other users.
func (s *server) RemoveMember(
	ctx context.Context, req *budgetv1.RemoveMemberRequest,
) (*budgetv1.RemoveMemberResponse, error) {
	budgetID, memberID, err := parseMemberPath(req.GetBudgetId(), req.GetMemberId())
	if err != nil {
		return nil, err
	}
	err = pg.InTx(ctx, s.db, func(tx pgx.Tx) error {
		seen, member, err := s.lockedMember(ctx, tx, budgetID, memberID, req.GetIfMatch())
		if err != nil {
			return err
		}
		if err := deleteMember(ctx, tx, budgetID, memberID); err != nil {
			return err
		}
		forOwner := seen.removed(member)
		forOwner.BudgetName = seen.Name
		events := []notification.Addressed{{User: seen.OwnerID, Data: forOwner}}
		// A user who rejected or left is not notified again when the owner removes the row.
		if member.Status != rejected || seen.UserID == memberID {
			events = append(events,
				notification.Addressed{User: memberID, Data: seen.removed(member)})
		}
		return s.notifications.PublishEach(ctx, tx, events...)
	})
	if err != nil {
		return nil, err
	}
	return &budgetv1.RemoveMemberResponse{Id: memberID.String()}, nil
}

func (b seenBudget) removed(m member) *budgetv1.MemberRemoved {
	return &budgetv1.MemberRemoved{
		BudgetId: b.ID.String(), BudgetName: m.nameOf(b.budget), OwnerId: b.OwnerID.String(),
		MemberId: m.UserID.String(), RemovedBy: b.UserID.String(),
	}
}

// nameOf returns the budget's name as the member may know it: the current one for accepted members,
// otherwise the one of the invitation or of the time when they left. Events for the member use it,
// so that they contain nothing newer (ADR 45).
func (m member) nameOf(b budget) string {
	if m.Status == accepted || m.KnownName == nil {
		return b.Name
	}
	return *m.KnownName
}

// lockedMember locks a budget, and returns it with one of its members, if the acting user is the
// owner or that member. Any other user gets the same error whether the member exists or not. The
// lock is taken before the role is read, so that the role is still valid when the transaction
// commits. It returns VERSION_MISMATCH if the membership does not match If-Match.
func (s *server) lockedMember(
	ctx context.Context, tx pgx.Tx, budgetID, memberID uuid.UUID, ifMatch string,
) (seenBudget, member, error) {
	if err := lockBudget(ctx, tx, budgetID); err != nil {
		return seenBudget{}, member{}, err
	}
	seen, err := selectBudget(ctx, tx, budgetID, caller.ID(ctx))
	if err != nil {
		return seenBudget{}, member{}, pg.IfNoRows(err, errBudgetNotFound)
	}
	isOwner := seen.role().may(removeMembers)
	if seen.UserID != memberID && !isOwner {
		return seenBudget{}, member{}, errInsufficientPermissions
	}
	found, err := selectMember(ctx, tx, budgetID, memberID)
	switch {
	// The owner must not learn whether an invitation by mail has a user.
	case isOwner && (errors.Is(err, pgx.ErrNoRows) || err == nil && found.byMail()):
		return seenBudget{}, member{}, errMemberNotFound
	case errors.Is(err, pgx.ErrNoRows):
		return seenBudget{}, member{}, errInsufficientPermissions
	case err == nil && !etag.Matches(ifMatch, found.version()):
		return seenBudget{}, member{}, apierr.VersionMismatch
	}
	return seen, found, err
}

// named converts members, with names and e-mails from one call to auth, or without if it fails.
func (s *server) named(ctx context.Context, members []member) []*budgetv1.Member {
	return protos(members, s.usersOf(ctx, members, nil))
}

// usersOf returns the members, and the owners of the budgets that their reader does not own, with
// one call to auth. The owner of a budget knows the own name, so that reading a budget without
// members costs no call.
func (s *server) usersOf(
	ctx context.Context, members []member, budgets []seenBudget,
) map[string]*authv1.User {
	var ids []uuid.UUID
	seen := map[uuid.UUID]bool{}
	add := func(id uuid.UUID) {
		if !seen[id] && len(ids) < maxNames {
			seen[id], ids = true, append(ids, id)
		}
	}
	for _, b := range budgets {
		if b.role() != owner {
			add(b.OwnerID)
		}
	}
	for _, m := range members {
		if !m.byMail() {
			add(m.UserID)
		}
	}
	return s.users(ctx, ids)
}

// ownerName returns the name of the owner for other readers of the budget, or nil if auth is
// unavailable.
func (b seenBudget) ownerName(users map[string]*authv1.User) *string {
	if u := users[b.OwnerID.String()]; u != nil && b.role() != owner {
		return new(u.GetName())
	}
	return nil
}

func protos(members []member, users map[string]*authv1.User) []*budgetv1.Member {
	named := make([]*budgetv1.Member, len(members))
	for i, m := range members {
		named[i] = m.proto(users[m.UserID.String()])
	}
	return named
}

// users returns the users that auth knows, by id. It returns none if auth is unavailable. A call
// costs at most optionalTimeout.
func (s *server) users(ctx context.Context, ids []uuid.UUID) map[string]*authv1.User {
	users := map[string]*authv1.User{}
	if len(ids) == 0 {
		return users
	}
	ctx, cancel := context.WithTimeout(ctx, optionalTimeout)
	defer cancel()
	resp, err := s.auth.GetUsers(ctx, &authv1.GetUsersRequest{Ids: idStrings(ids)})
	if err != nil {
		s.log.WarnContext(ctx, "failed to read names, so they are omitted",
			"users", len(ids), "error", err)
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

// proto converts the member. user is nil if it is unknown.
func (m member) proto(user *authv1.User) *budgetv1.Member {
	if m.byMail() {
		return m.mailedProto()
	}
	member := &budgetv1.Member{
		Id:           m.UserID.String(),
		MemberId:     m.UserID.String(),
		BudgetId:     m.BudgetID.String(),
		Name:         user.GetName(),
		Email:        user.GetEmail(),
		Role:         m.Role,
		SharePercent: m.sharePercent(),
		Status:       string(m.Status),
		InvitedAt:    calendar.FormatTime(m.InvitedAt),
	}
	if m.RespondedAt != nil {
		member.RespondedAt = new(calendar.FormatTime(*m.RespondedAt))
	}
	return member
}

// version identifies the contents of the membership for its ETag. The row counts no versions, so it
// is a hash of the fields that can change. The name and the e-mail belong to the user and are not
// part of it.
func (m member) version() int64 {
	share := int32(-1)
	if m.ShareBP != nil {
		share = *m.ShareBP
	}
	var responded int64
	if m.RespondedAt != nil {
		responded = m.RespondedAt.UnixMicro()
	}
	h := fnv.New64a()
	invited := m.InvitedAt.UnixMicro()
	_, _ = fmt.Fprint(h, m.Role, " ", share, " ", m.Status, " ", invited, " ", responded)
	return int64(h.Sum64() >> 1)
}

func (m member) sharePercent() *string {
	if m.ShareBP == nil {
		return nil
	}
	return new(money.Decimal(int64(*m.ShareBP), 2))
}
