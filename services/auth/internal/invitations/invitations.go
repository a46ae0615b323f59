// Package invitations sends the mails with which the budget service invites e-mails to budgets
// and goals.
//
// The budget service owns the invitations. It searches for no account, so that neither its response
// nor the time of that reveals whether an e-mail has one. This package does so when it consumes the
// event: it queues the same mail for each e-mail, and if a user may receive invitations to it,
// publishes UserInvited, from which the budget service learns the user.
//
// The link in the mail registers a user with this e-mail, which is then verified (package links).
// An invitation that is withdrawn ends its links. The event of the withdrawal may arrive before
// that of the invitation; the link then still registers a user, who finds no invitation.
package invitations

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"google.golang.org/protobuf/proto"

	"github.com/coffer-budget/coffer/internal/calendar"
	"github.com/coffer-budget/coffer/internal/outbox"
	"github.com/coffer-budget/coffer/internal/pg"
	authv1 "github.com/coffer-budget/coffer/proto/gen/coffer/auth/v1"
	budgetv1 "github.com/coffer-budget/coffer/proto/gen/coffer/budget/v1"
	"github.com/coffer-budget/coffer/services/auth/internal/deletion"
	"github.com/coffer-budget/coffer/services/auth/internal/links"
	"github.com/coffer-budget/coffer/services/auth/internal/mail"
)

// linkTTL is the time for which a link is valid. The budget service ends an invitation at the same
// time after its last mail.
const linkTTL = 14 * 24 * time.Hour

// Sender sends the mails of invitations.
type Sender struct {
	Mails   *mail.Outbox
	Publish func(ctx context.Context, tx pgx.Tx, user uuid.UUID, data proto.Message) error
	Now     func() time.Time
	NewID   func() uuid.UUID
	// RequireVerified ignores users who have not verified the e-mail. Otherwise anyone could
	// register a stranger's e-mail and receive its invitations.
	RequireVerified bool
}

// Apply queues the mails of invitations, and ends the links of ended ones. It ignores other events.
// A repeated event has no effect but a repeated UserInvited, which changes nothing.
func (s *Sender) Apply(ctx context.Context, tx pgx.Tx, events []outbox.Received) error {
	var ended []uuid.UUID
	for _, event := range events {
		switch invitation := event.Data.(type) {
		case *budgetv1.InvitationMailed:
			if err := s.send(ctx, tx, event, invitation); err != nil {
				return err
			}
		case *budgetv1.InvitationEnded:
			id, err := uuid.Parse(invitation.GetInvitationId())
			if err != nil {
				return fmt.Errorf("reading the id of an ended invitation: %w", err)
			}
			ended = append(ended, id)
		}
	}
	if len(ended) == 0 {
		return nil
	}
	return links.EndInvitations(ctx, tx, ended, s.Now())
}

// send queues the mail of an invitation with a new link. Beyond the limits of the address it queues
// none, which the owner of the budget or the goal does not learn.
func (s *Sender) send(
	ctx context.Context, tx pgx.Tx, event outbox.Received, invitation *budgetv1.InvitationMailed,
) error {
	id, err := uuid.Parse(invitation.GetInvitationId())
	if err != nil {
		return fmt.Errorf("reading the id of an invitation: %w", err)
	}
	// The event is addressed to the owner.
	inviter, err := selectInviter(ctx, tx, event.UserID)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil
	}
	if err != nil {
		return err
	}
	m := mail.Mail{
		ID: s.NewID(), Template: mail.Invitation, To: invitation.GetEmail(),
		Language: inviter.Language, TTL: linkTTL, DedupeKey: event.ID.String(),
		Params: map[string]string{
			"Name": inviter.Name, "Budget": invitation.GetBudgetName(),
			"Goal": invitation.GetGoalName(),
		},
	}
	queued, err := s.Mails.Queue(ctx, tx, m)
	if err != nil {
		return err
	}
	if queued {
		err := links.Insert(ctx, tx, s.Mails.Token(m.ID), links.Link{
			Kind: links.Invitation, Email: m.To, InvitationID: &id, ExpiresAt: s.Now().Add(linkTTL),
		})
		if err != nil {
			return err
		}
	}
	invited, err := selectInvited(ctx, tx, m.To, s.RequireVerified)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil
	}
	if err != nil {
		return err
	}
	return s.Publish(ctx, tx, invited.ID, &authv1.UserInvited{User: &authv1.User{
		Id: invited.ID.String(), Name: invited.Name, Email: m.To,
		CreatedAt:     calendar.FormatTime(invited.CreatedAt),
		EmailVerified: invited.VerifiedAt != nil,
	}})
}

// Resolve reports whether the link of a mail is still valid, and chooses the language of the user
// who has the e-mail.
func (s *Sender) Resolve(ctx context.Context, tx pgx.Tx, due *mail.Due) (bool, error) {
	_, err := links.Select(ctx, tx, links.Invitation, s.Mails.Token(due.ID), s.Now())
	if errors.Is(err, pgx.ErrNoRows) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	invited, err := selectInvited(ctx, tx, due.To, false)
	if err == nil {
		due.Language = invited.Language
	} else if !errors.Is(err, pgx.ErrNoRows) {
		return false, err
	}
	return true, nil
}

type user struct {
	ID         uuid.UUID
	Name       string
	Language   string
	CreatedAt  time.Time  `db:"created_at"`
	VerifiedAt *time.Time `db:"email_verified_at"`
}

const userColumns = `u.id, u.name, u.language, u.created_at, u.email_verified_at`

// selectInviter returns pgx.ErrNoRows for a user who was deleted.
func selectInviter(ctx context.Context, q pg.Querier, id uuid.UUID) (user, error) {
	return pg.One[user](ctx, q, `SELECT `+userColumns+` FROM users u WHERE u.id = $1`, id)
}

// selectInvited returns pgx.ErrNoRows if the e-mail has no user, no verified one if that is
// required, or one whose account is being deleted.
func selectInvited(
	ctx context.Context, q pg.Querier, email string, verified bool,
) (user, error) {
	return pg.One[user](ctx, q, `
		SELECT `+userColumns+`
		FROM users u
		WHERE u.email = $1 AND (u.email_verified_at IS NOT NULL OR NOT $2::boolean)
			AND `+deletion.NotBegun,
		email, verified)
}
