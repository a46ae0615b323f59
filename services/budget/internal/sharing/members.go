package sharing

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
	authv1 "github.com/coffer-budget/coffer/proto/gen/coffer/auth/v1"
	budgetv1 "github.com/coffer-budget/coffer/proto/gen/coffer/budget/v1"
	restv1 "github.com/coffer-budget/coffer/proto/gen/coffer/rest/v1"
	"github.com/coffer-budget/coffer/services/budget/internal/notification"
)

// Page is a page of a list.
type Page struct {
	Limit  *int32
	Cursor string
}

// List returns a page of the members of a thing, newest first. Only the owner sees members that
// rejected the invitation, because only the owner may invite them again. Users with a pending
// invitation may not read the list.
func (s *Members) List(
	ctx context.Context, thing string, p Page,
) ([]*budgetv1.Member, *restv1.Pagination, error) {
	id, err := s.ParseID(thing)
	if err != nil {
		return nil, nil, err
	}
	members, pagination, err := page.List(s.Cursors, page.Query[Member, moment]{
		Scope: "members " + caller.ID(ctx).String() + " " + id.String(),
		Limit: p.Limit, Cursor: p.Cursor, First: newest,
		Position: func(m Member) moment { return moment{m.InvitedAt, m.UserID} },
		Select: func(before moment, limit int) ([]Member, error) {
			t, err := s.See(ctx, s.DB, id, Read)
			if err != nil {
				return nil, err
			}
			return s.selectMembers(ctx, s.DB, listFor(t, before, limit))
		},
	})
	if err != nil {
		return nil, nil, err
	}
	return s.named(ctx, members), pagination, nil
}

// Newest returns the newest members of a thing that its reader may see.
func (s *Members) Newest(ctx context.Context, q pg.Querier, t Thing, limit int) ([]Member, error) {
	return s.selectMembers(ctx, q, listFor(t, newest, limit))
}

// Get returns a member that List returns to the acting user, with its ETag. A rejected invitation
// is only found by the owner.
func (s *Members) Get(
	ctx context.Context, thing, member string,
) (*budgetv1.Member, string, error) {
	id, memberID, err := s.parsePath(thing, member)
	if err != nil {
		return nil, "", err
	}
	t, err := s.See(ctx, s.DB, id, Read)
	if err != nil {
		return nil, "", err
	}
	found, err := s.selectMember(ctx, s.DB, id, memberID)
	if errors.Is(err, pgx.ErrNoRows) || err == nil && !t.Role().sees(found) {
		return nil, "", s.memberNotFound
	}
	if err != nil {
		return nil, "", err
	}
	return s.named(ctx, []Member{found})[0], found.etag(), nil
}

// Remove deletes a membership, in any status, and returns its id. The owner and the member may do
// it. Both are notified, unless they did it themselves, or the member had left before. The error is
// that of an unknown member for the owner, and INSUFFICIENT_PERMISSIONS for all other users.
func (s *Members) Remove(ctx context.Context, thing, member, ifMatch string) (string, error) {
	id, memberID, err := s.parsePath(thing, member)
	if err != nil {
		return "", err
	}
	return memberID.String(), pg.InTx(ctx, s.DB, func(tx pgx.Tx) error {
		t, m, err := s.lockedMember(ctx, tx, id, memberID, ifMatch)
		if err != nil {
			return err
		}
		if err := s.deleteMember(ctx, tx, id, memberID); err != nil {
			return err
		}
		if err := s.leaves(ctx, tx, m); err != nil {
			return err
		}
		events := []notification.Addressed{{User: t.OwnerID, Data: s.removed(t, m, t.Name)}}
		// A user who rejected or left is not notified again when the owner removes the row.
		if m.Status != rejected || t.UserID == memberID {
			events = append(events,
				notification.Addressed{User: memberID, Data: s.removed(t, m, m.nameOf(t))})
		}
		return s.Notifications.PublishEach(ctx, tx, events...)
	})
}

func (s *Members) removed(t Thing, m Member, name string) *budgetv1.MemberRemoved {
	l := s.label(t.ID.String(), name)
	return &budgetv1.MemberRemoved{
		BudgetId: l.BudgetID, BudgetName: l.BudgetName, GoalId: l.GoalID, GoalName: l.GoalName,
		OwnerId: t.OwnerID.String(), MemberId: m.UserID.String(), RemovedBy: t.UserID.String(),
	}
}

// nameOf returns the name of the thing as the member may know it: the current one for accepted
// members, otherwise the one of the invitation or of the time when they left. Events for the member
// use it, so that they contain nothing newer (ADR 45).
func (m Member) nameOf(t Thing) string {
	if m.Status == Accepted || m.KnownName == nil {
		return t.Name
	}
	return *m.KnownName
}

// lockedMember locks a thing, and returns it with one of its members, if the acting user is the
// owner or that member. Any other user gets the same error whether the member exists or not. The
// lock is taken before the role is read, so that the role is still valid when the transaction
// commits. It returns VERSION_MISMATCH if the membership does not match If-Match.
func (s *Members) lockedMember(
	ctx context.Context, tx pgx.Tx, id, memberID uuid.UUID, ifMatch string,
) (Thing, Member, error) {
	if err := s.Lock(ctx, tx, id); err != nil {
		return Thing{}, Member{}, err
	}
	t, err := s.selectThing(ctx, tx, id, caller.ID(ctx))
	if err != nil {
		return Thing{}, Member{}, pg.IfNoRows(err, s.notFound)
	}
	isOwner := t.Role().May(removeMembers)
	if t.UserID != memberID && !isOwner {
		return Thing{}, Member{}, s.forbidden(t)
	}
	found, err := s.selectMember(ctx, tx, id, memberID)
	switch {
	// The owner must not learn whether an invitation by mail has a user.
	case isOwner && (errors.Is(err, pgx.ErrNoRows) || err == nil && found.byMail()):
		return Thing{}, Member{}, s.memberNotFound
	case errors.Is(err, pgx.ErrNoRows):
		return Thing{}, Member{}, s.forbidden(t)
	case err == nil && !etag.Matches(ifMatch, found.version()):
		return Thing{}, Member{}, apierr.VersionMismatch
	}
	return t, found, err
}

// forbidden returns the error for a user who may not do something to a member. A stranger must not
// learn from it whether a goal exists.
func (s *Members) forbidden(t Thing) error {
	if t.Role() == stranger {
		return s.hidden
	}
	return errInsufficientPermissions
}

// proto converts the member. user is nil if it is unknown. The id of a goal is in the field of the
// budget.
func (m Member) proto(user *authv1.User) *budgetv1.Member {
	if m.byMail() {
		return m.mailedProto()
	}
	member := &budgetv1.Member{
		Id:           m.UserID.String(),
		MemberId:     m.UserID.String(),
		BudgetId:     m.ThingID.String(),
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
func (m Member) version() int64 {
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

func (m Member) etag() string { return etag.Format(m.version()) }

func (m Member) sharePercent() *string {
	if m.ShareBP == nil {
		return nil
	}
	return new(money.Decimal(int64(*m.ShareBP), 2))
}
