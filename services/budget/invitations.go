package budget

import (
	"context"
	"errors"
	"net/mail"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"google.golang.org/grpc/codes"

	"github.com/coffer-budget/coffer/internal/apierr"
	"github.com/coffer-budget/coffer/internal/calendar"
	"github.com/coffer-budget/coffer/internal/caller"
	"github.com/coffer-budget/coffer/internal/etag"
	"github.com/coffer-budget/coffer/internal/idem"
	"github.com/coffer-budget/coffer/internal/money"
	"github.com/coffer-budget/coffer/internal/page"
	authv1 "github.com/coffer-budget/coffer/proto/gen/coffer/auth/v1"
	budgetv1 "github.com/coffer-budget/coffer/proto/gen/coffer/budget/v1"
)

const (
	// maxEmail is the maximum of auth.
	maxEmail = 254
	// maxShareBP is 100 percent in hundredths of a percent.
	maxShareBP = 10_000

	// Within invitationWindow, an owner may send invitationsPerOwner invitations, including those
	// to unknown e-mails, and a user may receive invitationsPerMember. Simultaneous invitations may
	// exceed these limits by their number.
	invitationWindow     = 24 * time.Hour
	invitationsPerOwner  = 100
	invitationsPerMember = 50
	// maxPendingInvitations is the number of invitations that a user may have without an answer.
	maxPendingInvitations = 100
)

type invitee struct {
	email string
	role  string
	// share is in hundredths of a percent, or nil if the invitation has none.
	share *int32
}

// ShareBudget invites a user to a budget, or an e-mail by mail (mailed.go). auth finds the user of
// the e-mail before the transaction starts. Only the owner may invite. An e-mail without an account
// is an error, so the number of such errors per day is limited.
//
// Errors: EMAIL_NOT_VERIFIED, USER_NOT_FOUND, CANNOT_INVITE_SELF, BUDGET_MEMBER_ALREADY_EXISTS,
// BUDGET_SHARE_EXCEEDED, RATE_LIMITED and INVITATION_LIMIT_REACHED.
func (s *server) ShareBudget(
	ctx context.Context, req *budgetv1.ShareBudgetRequest,
) (*budgetv1.ShareBudgetResponse, error) {
	// The order of the checks matters: each one reveals more about other users than the one before.
	id, err := parseBudgetID(req.GetBudgetId())
	if err != nil {
		return nil, err
	}
	invited, err := parseShare(req)
	if err != nil {
		return nil, err
	}
	call := idem.Call{Scope: caller.ID(ctx).String(), Key: req.GetIdempotencyKey(), Request: req}
	resp := &budgetv1.ShareBudgetResponse{}
	if replayed, err := idem.Replay(ctx, s.db, call, resp); err != nil || replayed {
		resp.Replayed = replayed
		return resp, err
	}
	// Only the owner may learn whether an e-mail has an account.
	if _, err := s.budgetFor(ctx, s.db, id, shareBudget); err != nil {
		return nil, err
	}
	// Also unknown e-mails count, so that an owner cannot search for accounts without limit.
	if err := s.checkInvitations(ctx); err != nil {
		return nil, err
	}
	if req.GetInvite() {
		return resp, s.inviteByMail(ctx, call, id, invited, resp)
	}
	found, err := s.auth.FindUserByEmail(ctx, &authv1.FindUserByEmailRequest{
		Email: invited.email, InviterId: caller.ID(ctx).String(),
	})
	if e := apierr.From(err); e != nil && e.Code == codes.NotFound {
		if err := insertInvitationTry(ctx, s.db, caller.ID(ctx), nil, s.now()); err != nil {
			return nil, err
		}
	}
	if err != nil {
		return nil, err
	}
	user, err := uuid.Parse(found.GetUser().GetId())
	if err != nil {
		return nil, err
	}
	invited.email = found.GetUser().GetEmail()
	resp.Replayed, err = idem.InTx(ctx, s.db, call, resp, func(tx pgx.Tx) error {
		m, err := s.invite(ctx, tx, id, user, invited)
		if err != nil {
			return err
		}
		resp.Member, resp.Etag = m.proto(found.GetUser()), etag.Format(m.version())
		return nil
	})
	if err != nil {
		return nil, err
	}
	return resp, nil
}

// checkInvitations returns errTooManyInvitations for an owner who has reached the limit per day.
func (s *server) checkInvitations(ctx context.Context) error {
	sent, err := countInvitationsBy(ctx, s.db, caller.ID(ctx), s.now().Add(-invitationWindow))
	if err == nil && sent >= invitationsPerOwner {
		return errTooManyInvitations
	}
	return err
}

// invite stores an invitation and notifies the user. It holds the budget's lock, so that
// simultaneous invitations cannot exceed 100 percent in total.
func (s *server) invite(
	ctx context.Context, tx pgx.Tx, id, user uuid.UUID, terms invitee,
) (member, error) {
	seen, err := s.lockedBudgetFor(ctx, tx, id, shareBudget)
	if err != nil {
		return member{}, err
	}
	// The user of an e-mail is only known after auth was asked.
	if user == seen.OwnerID {
		return member{}, errCannotInviteSelf
	}
	// A user has at most one membership per budget, which a repeated invitation reuses after a
	// rejection.
	old, err := selectMember(ctx, tx, id, user)
	if err != nil && !errors.Is(err, pgx.ErrNoRows) {
		return member{}, err
	}
	if _, permitted := old.Status.to(pending, byOwner); !permitted {
		return member{}, errMemberAlreadyExists
	}
	// Otherwise the shares of both invitations would count.
	if err := checkNotMailed(ctx, tx, id, terms.email); err != nil {
		return member{}, err
	}
	if err := checkShares(ctx, tx, member{BudgetID: id, UserID: user}, terms.share); err != nil {
		return member{}, err
	}
	now := s.now().UTC()
	// The limits of the invited user protect against many owners. They are checked last, because
	// they concern another user.
	received, err := countInvitationsTo(ctx, tx, user, now.Add(-invitationWindow))
	if err != nil {
		return member{}, err
	}
	if received >= invitationsPerMember {
		return member{}, errTooManyInvitations
	}
	unanswered, err := countPendingInvitations(ctx, tx, user)
	if err != nil {
		return member{}, err
	}
	if unanswered >= maxPendingInvitations {
		return member{}, errInvitationLimit
	}
	if err := insertInvitationTry(ctx, tx, seen.OwnerID, &user, now); err != nil {
		return member{}, err
	}
	// KnownName keeps the name of this moment. The member learns a later one by accepting.
	invited := member{
		BudgetID: id, UserID: user, Role: terms.role, ShareBP: terms.share, Status: pending,
		InvitedAt: now, KnownName: &seen.Name,
	}
	if err := upsertMember(ctx, tx, invited); err != nil {
		return member{}, err
	}
	event := invitation{member: invited, BudgetName: seen.Name, OwnerID: seen.OwnerID}.sent()
	return invited, s.notifications.Publish(ctx, tx, event, user, seen.OwnerID)
}

// ListInvitations returns the acting user's pending invitations, newest first. The owners' names
// are omitted if auth is unavailable. They have the name that the budget had when the user was
// invited.
func (s *server) ListInvitations(
	ctx context.Context, req *budgetv1.ListInvitationsRequest,
) (*budgetv1.ListInvitationsResponse, error) {
	user := caller.ID(ctx)
	invitations, pagination, err := page.List(s.cursors, page.Query[invitation, moment]{
		Scope: "invitations " + user.String(),
		Limit: req.Limit, Cursor: req.GetCursor(), First: newest,
		Position: func(i invitation) moment { return moment{i.InvitedAt, i.BudgetID} },
		Select: func(before moment, limit int) ([]invitation, error) {
			return selectInvitations(ctx, s.db, user, before, limit)
		},
	})
	if err != nil {
		return nil, err
	}
	// A page has at most 200 invitations, so one call to auth returns all owners.
	owners := make([]uuid.UUID, len(invitations))
	for i, v := range invitations {
		owners[i] = v.OwnerID
	}
	users := s.users(ctx, owners)
	resp := &budgetv1.ListInvitationsResponse{Pagination: pagination}
	for _, v := range invitations {
		resp.Invitations = append(resp.Invitations, v.proto(users[v.OwnerID.String()]))
	}
	return resp, nil
}

// proto converts the invitation. owner is nil if it is unknown.
func (i invitation) proto(owner *authv1.User) *budgetv1.Invitation {
	invitation := &budgetv1.Invitation{
		BudgetId:     i.BudgetID.String(),
		BudgetName:   i.BudgetName,
		MemberId:     i.UserID.String(),
		OwnerId:      i.OwnerID.String(),
		Role:         i.Role,
		SharePercent: i.sharePercent(),
		InvitedAt:    calendar.FormatTime(i.InvitedAt),
	}
	if owner != nil {
		invitation.OwnerName, invitation.OwnerEmail = new(owner.GetName()), new(owner.GetEmail())
	}
	return invitation
}

// parseShare returns the e-mail and terms of an invitation. The role is viewer by default.
func parseShare(req *budgetv1.ShareBudgetRequest) (invitee, error) {
	var problems apierr.Problems
	invited := invitee{
		email: strings.ToLower(strings.TrimSpace(req.GetEmail())), role: string(viewer),
	}
	address, err := mail.ParseAddress(invited.email)
	switch {
	case invited.email == "":
		problems.Invalid("email", "is required")
	// The parsed address differs from the text if that has a display name or a comment.
	case err != nil || address.Address != invited.email || len(invited.email) > maxEmail:
		problems.Invalid("email", "must be an e-mail address")
	}
	if req.Role != nil {
		invited.role = parseRole(&problems, req.GetRole())
	}
	if req.SharePercent != nil {
		invited.share = parsePercent(&problems, req.GetSharePercent())
	}
	return invited, problems.Err()
}

func parseRole(p *apierr.Problems, role string) string {
	if role != string(viewer) && role != string(editor) {
		p.Invalid("role", "must be viewer or editor")
	}
	return role
}

// parsePercent returns a share in hundredths of a percent.
func parsePercent(p *apierr.Problems, percent string) *int32 {
	bp, err := money.ParseDecimal(percent, 2)
	if err != nil || bp <= 0 || bp > maxShareBP {
		p.Invalid("sharePercent", "must be greater than 0, at most 100, with at most two decimals")
		return nil
	}
	return new(int32(bp))
}

// checkNotMailed returns errMemberAlreadyExists if a budget has an invitation by mail to an e-mail.
func checkNotMailed(ctx context.Context, tx pgx.Tx, budgetID uuid.UUID, email string) error {
	switch _, err := selectMailed(ctx, tx, budgetID, uuid.Nil, email); {
	case err == nil:
		return errMemberAlreadyExists
	case !errors.Is(err, pgx.ErrNoRows):
		return err
	}
	return nil
}
