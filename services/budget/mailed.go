package budget

import (
	"context"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/coffer-budget/coffer/internal/apierr"
	"github.com/coffer-budget/coffer/internal/calendar"
	"github.com/coffer-budget/coffer/internal/caller"
	"github.com/coffer-budget/coffer/internal/etag"
	"github.com/coffer-budget/coffer/internal/idem"
	"github.com/coffer-budget/coffer/internal/pg"
	"github.com/coffer-budget/coffer/internal/text"
	authv1 "github.com/coffer-budget/coffer/proto/gen/coffer/auth/v1"
	budgetv1 "github.com/coffer-budget/coffer/proto/gen/coffer/budget/v1"
	"github.com/coffer-budget/coffer/services/budget/internal/notification"
)

const (
	// mailedTTL is the time for which an invitation by mail waits for an answer. auth gives the
	// links in its mails the same time.
	mailedTTL = 14 * 24 * time.Hour
	// resendsPerDay is the number of times that a mail is sent again within invitationWindow.
	resendsPerDay = 3
)

// Reasons of the event InvitationEnded.
const (
	withdrawn         = "withdrawn"
	expired           = "expired"
	deletedWithBudget = "deleted"
)

// inviteByMail stores an invitation to an e-mail that may have no account, and publishes an event,
// with which auth sends the mail. Neither service searches for an account here: both run the same
// statements for each e-mail. If it has one, auth reports its user later (followUsers).
//
// Errors: EMAIL_NOT_VERIFIED, MAIL_UNAVAILABLE, CANNOT_INVITE_SELF, BUDGET_MEMBER_ALREADY_EXISTS
// for an e-mail of the newest members, and BUDGET_SHARE_EXCEEDED. The invitation of an older member
// is never attached (selectAttachable).
func (s *server) inviteByMail(
	ctx context.Context, call idem.Call, id uuid.UUID, to invitee,
	resp *budgetv1.ShareBudgetResponse,
) error {
	visible, err := selectMembers(ctx, s.db, memberList{
		budget: id, statuses: []status{pending, accepted}, before: newest, limit: maxNames - 1,
	})
	if err != nil {
		return err
	}
	known := []uuid.UUID{caller.ID(ctx)}
	for _, m := range visible {
		known = append(known, m.UserID)
	}
	checked, err := s.auth.CheckInvitation(ctx, &authv1.CheckInvitationRequest{
		Email: to.email, InviterId: caller.ID(ctx).String(), UserIds: idStrings(known),
	})
	if err != nil {
		return err
	}
	switch checked.GetUserId() {
	case "":
	case caller.ID(ctx).String():
		return errCannotInviteSelf
	default:
		return errMemberAlreadyExists
	}
	to.email = checked.GetEmail()
	resp.Replayed, err = idem.InTx(ctx, s.db, call, resp, func(tx pgx.Tx) error {
		m, err := s.storeMailed(ctx, tx, id, to)
		if err != nil {
			return err
		}
		resp.Member, resp.Etag = m.proto(nil), etag.Format(m.version())
		return nil
	})
	return err
}

// storeMailed holds the budget's lock, so that simultaneous invitations cannot exceed 100 percent
// in total.
func (s *server) storeMailed(
	ctx context.Context, tx pgx.Tx, id uuid.UUID, to invitee,
) (member, error) {
	seen, err := s.lockedBudgetFor(ctx, tx, id, shareBudget)
	if err != nil {
		return member{}, err
	}
	if err := checkNotMailed(ctx, tx, id, to.email); err != nil {
		return member{}, err
	}
	now, invitation := s.now().UTC(), s.newID()
	invited := member{
		BudgetID: id, UserID: invitation, Role: to.role, ShareBP: to.share, Status: pending,
		InvitedAt: now, KnownName: &seen.Name, InvitationID: &invitation, Email: &to.email,
		ExpiresAt: new(now.Add(mailedTTL)),
	}
	if err := checkShares(ctx, tx, invited, to.share); err != nil {
		return member{}, err
	}
	if err := insertInvitationTry(ctx, tx, seen.OwnerID, nil, now); err != nil {
		return member{}, err
	}
	if err := upsertMember(ctx, tx, invited); err != nil {
		return member{}, err
	}
	event := seen.mailed(invited)
	return invited, s.notifications.Publish(ctx, tx, event, seen.OwnerID)
}

// ResendInvitation publishes the event of an invitation by mail again. It also attaches the user
// of an e-mail that was verified when the user had too many invitations. Errors: RATE_LIMITED, also
// beyond the invitations that the owner may send within a day.
func (s *server) ResendInvitation(
	ctx context.Context, req *budgetv1.ResendInvitationRequest,
) (*budgetv1.ResendInvitationResponse, error) {
	budgetID, invitation, err := parseInvitationPath(req.GetBudgetId(), req.GetInvitationId())
	if err != nil {
		return nil, err
	}
	call := idem.Call{Scope: caller.ID(ctx).String(), Key: req.GetIdempotencyKey(), Request: req}
	resp := &budgetv1.ResendInvitationResponse{}
	if replayed, err := idem.Replay(ctx, s.db, call, resp); err != nil || replayed {
		resp.Replayed = replayed
		return resp, err
	}
	if _, err := s.budgetFor(ctx, s.db, budgetID, shareBudget); err != nil {
		return nil, err
	}
	found, err := selectMailed(ctx, s.db, budgetID, invitation, "")
	if err != nil {
		return nil, pg.IfNoRows(err, errInvitationNotFound)
	}
	if err := s.checkInvitations(ctx); err != nil {
		return nil, err
	}
	_, err = s.auth.CheckInvitation(ctx, &authv1.CheckInvitationRequest{
		Email: *found.Email, InviterId: caller.ID(ctx).String(),
	})
	if err != nil {
		return nil, err
	}
	resp.Replayed, err = idem.InTx(ctx, s.db, call, resp, func(tx pgx.Tx) error {
		m, err := s.resend(ctx, tx, budgetID, invitation)
		if err != nil {
			return err
		}
		resp.Member = m.proto(nil)
		return nil
	})
	if err != nil {
		return nil, err
	}
	return resp, nil
}

func (s *server) resend(
	ctx context.Context, tx pgx.Tx, budgetID, invitation uuid.UUID,
) (member, error) {
	seen, m, err := s.lockedMailed(ctx, tx, budgetID, invitation)
	if err != nil {
		return member{}, err
	}
	now := s.now().UTC()
	if m.ResendsSince == nil || !m.ResendsSince.After(now.Add(-invitationWindow)) {
		m.Resends, m.ResendsSince = 0, &now
	}
	if m.Resends >= resendsPerDay {
		return member{}, errTooManyResends.After(m.ResendsSince.Add(invitationWindow).Sub(now))
	}
	m.Resends++
	// The mail has the current name, so the invitation shows it, too.
	m.KnownName = &seen.Name
	m.ExpiresAt = new(now.Add(mailedTTL))
	if err := insertInvitationTry(ctx, tx, seen.OwnerID, nil, now); err != nil {
		return member{}, err
	}
	if err := upsertMember(ctx, tx, m); err != nil {
		return member{}, err
	}
	event := seen.mailed(m)
	event.Again = true
	return m, s.notifications.Publish(ctx, tx, event, seen.OwnerID)
}

// WithdrawInvitation deletes an invitation by mail. A user who has it receives MemberRemoved, which
// the owner does not see.
func (s *server) WithdrawInvitation(
	ctx context.Context, req *budgetv1.WithdrawInvitationRequest,
) (*budgetv1.WithdrawInvitationResponse, error) {
	budgetID, invitation, err := parseInvitationPath(req.GetBudgetId(), req.GetInvitationId())
	if err != nil {
		return nil, err
	}
	err = pg.InTx(ctx, s.db, func(tx pgx.Tx) error {
		seen, m, err := s.lockedMailed(ctx, tx, budgetID, invitation)
		if err != nil {
			return err
		}
		if err := deleteMember(ctx, tx, budgetID, m.UserID); err != nil {
			return err
		}
		return s.notifications.PublishEach(ctx, tx, seen.ended(m, withdrawn)...)
	})
	if err != nil {
		return nil, err
	}
	return &budgetv1.WithdrawInvitationResponse{Id: invitation.String()}, nil
}

// lockedMailed locks a budget, and returns it with one of its invitations by mail to its owner.
func (s *server) lockedMailed(
	ctx context.Context, tx pgx.Tx, budgetID, invitation uuid.UUID,
) (seenBudget, member, error) {
	seen, err := s.lockedBudgetFor(ctx, tx, budgetID, shareBudget)
	if err != nil {
		return seenBudget{}, member{}, err
	}
	m, err := selectMailed(ctx, tx, budgetID, invitation, "")
	return seen, m, pg.IfNoRows(err, errInvitationNotFound)
}

// expireMailed deletes the expired invitations by mail. Those of users end too, because otherwise
// the owner would see which e-mails have an account.
func (s *server) expireMailed(ctx context.Context) error {
	left, err := true, error(nil)
	for left && err == nil {
		err = pg.InTx(ctx, s.db, func(tx pgx.Tx) error {
			budgets, err := lockExpired(ctx, tx, s.now())
			left = len(budgets) > 0
			if err != nil || !left {
				return err
			}
			ended, err := deleteExpired(ctx, tx, budgets, s.now())
			if err != nil {
				return err
			}
			var events []notification.Addressed
			for _, i := range ended {
				// The owner has no membership, so the owner counts as the user who removed it.
				seen := seenBudget{UserID: i.OwnerID}
				seen.ID, seen.OwnerID, seen.Name = i.BudgetID, i.OwnerID, i.BudgetName
				events = append(events, seen.ended(i.member, expired)...)
			}
			return s.notifications.PublishEach(ctx, tx, events...)
		})
	}
	return err
}

// ended returns the events of a pending invitation that ends without an answer.
func (b seenBudget) ended(m member, reason string) []notification.Addressed {
	var events []notification.Addressed
	if m.byMail() {
		events = append(events, notification.Addressed{
			User: b.OwnerID, Data: &budgetv1.InvitationEnded{
				BudgetId: b.ID.String(), BudgetName: b.Name, OwnerId: b.OwnerID.String(),
				InvitationId: m.InvitationID.String(), Email: *m.Email, Reason: reason,
			},
		})
	}
	if m.isAttached() {
		events = append(events, notification.Addressed{User: m.UserID, Data: b.removed(m)})
	}
	return events
}

func (b seenBudget) mailed(m member) *budgetv1.InvitationMailed {
	return &budgetv1.InvitationMailed{
		BudgetId: b.ID.String(), BudgetName: b.Name, OwnerId: b.OwnerID.String(),
		InvitationId: m.InvitationID.String(), Email: *m.Email, Role: m.Role,
		SharePercent: m.sharePercent(),
	}
}

// mailedProto converts an invitation by mail. It is the same whether or not the e-mail has an
// account.
func (m member) mailedProto() *budgetv1.Member {
	return &budgetv1.Member{
		BudgetId: m.BudgetID.String(), Email: *m.Email, Role: m.Role,
		SharePercent: m.sharePercent(), Status: mailed,
		InvitedAt: calendar.FormatTime(m.InvitedAt), InvitationId: new(m.InvitationID.String()),
		ExpiresAt: new(calendar.FormatTime(*m.ExpiresAt)),
	}
}

func parseInvitationPath(budgetID, invitation string) (budget, id uuid.UUID, err error) {
	budget, err = parseBudgetID(budgetID)
	if err != nil {
		return uuid.Nil, uuid.Nil, err
	}
	id, ok := text.ID(invitation)
	if !ok {
		return uuid.Nil, uuid.Nil, apierr.Invalid("invitationId", "must be a UUID")
	}
	return budget, id, nil
}
