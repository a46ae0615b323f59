package auth

import (
	"context"
	"errors"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/coffer-budget/coffer/internal/caller"
	"github.com/coffer-budget/coffer/internal/idem"
	"github.com/coffer-budget/coffer/internal/pg"
	"github.com/coffer-budget/coffer/internal/text"
	authv1 "github.com/coffer-budget/coffer/proto/gen/coffer/auth/v1"
	"github.com/coffer-budget/coffer/services/auth/internal/links"
	"github.com/coffer-budget/coffer/services/auth/internal/mail"
)

// Values of EMAIL_VERIFICATION.
const (
	verificationOff      = mail.VerificationOff
	verificationSoft     = mail.VerificationSoft
	verificationRequired = mail.VerificationRequired
)

const (
	// verifyTTL is the time for which a link that confirms an e-mail is valid.
	verifyTTL = 24 * time.Hour
	// revertTTL is the time for which the former e-mail can be restored.
	revertTTL = 7 * 24 * time.Hour
)

// verification returns what an e-mail that is not verified prevents.
func (c Config) verification() string {
	switch {
	case c.Mail.Verification != "":
		return c.Mail.Verification
	case c.Mail.Configured():
		return verificationSoft
	}
	return verificationOff
}

// requireVerified returns errEmailNotVerified for a user who may not sign in before the e-mail is
// verified. It then sends the link again, because the user cannot sign in to request it.
func (s *server) requireVerified(ctx context.Context, verified user) error {
	if s.config.verification() != verificationRequired || verified.VerifiedAt != nil {
		return nil
	}
	err := pg.InTx(ctx, s.db, func(tx pgx.Tx) error {
		_, err := s.queueVerification(ctx, tx, verified)
		return err
	})
	if err != nil {
		return err
	}
	s.mails.Wake()
	return errEmailNotVerified
}

// checkVerified returns errEmailNotVerified for a user who may not invite others, create personal
// access tokens or export the account.
func (s *server) checkVerified(ctx context.Context, id uuid.UUID) error {
	if s.config.verification() == verificationOff {
		return nil
	}
	found, err := selectUsers(ctx, s.db, []uuid.UUID{id})
	if err != nil {
		return err
	}
	for _, user := range found {
		if user.VerifiedAt == nil {
			return errEmailNotVerified
		}
	}
	return nil
}

// checkInviter returns errEmailNotVerified if a user may not invite others. Earlier releases of the
// budget service send no inviter.
func (s *server) checkInviter(ctx context.Context, given string) error {
	id, ok := text.ID(given)
	if !ok {
		return nil
	}
	return s.checkVerified(ctx, id)
}

// queueVerification queues the mail that confirms the e-mail of a user, and reports false beyond
// the limits of the address.
func (s *server) queueVerification(ctx context.Context, tx pgx.Tx, of user) (bool, error) {
	link := links.Link{Kind: links.EmailVerification, UserID: &of.ID, Email: of.Email}
	return s.queueLink(ctx, tx, of, link, mail.Mail{
		Template: mail.EmailVerification, TTL: verifyTTL,
		Params: map[string]string{"Name": of.Name},
	})
}

// queueLink queues a mail to the address of a link, and stores the link if the mail is sent. The
// link is valid for the TTL of the mail.
func (s *server) queueLink(
	ctx context.Context, tx pgx.Tx, of user, link links.Link, m mail.Mail,
) (bool, error) {
	m.ID, m.UserID, m.To, m.Language = s.newID(), of.ID, link.Email, of.Language
	queued, err := s.mails.Queue(ctx, tx, m)
	if err != nil || !queued {
		return false, err
	}
	link.ExpiresAt = s.now().Add(m.TTL)
	return true, links.Insert(ctx, tx, s.mails.Token(m.ID), link)
}

// SendVerification sends the link again that confirms the user's e-mail, and nothing if it is
// verified. Errors: MAIL_UNAVAILABLE, and RATE_LIMITED beyond the limits of the address.
func (s *server) SendVerification(
	ctx context.Context, req *authv1.SendVerificationRequest,
) (*authv1.SendVerificationResponse, error) {
	current, err := s.currentUser(ctx)
	if err != nil {
		return nil, err
	}
	if !s.mails.Configured() {
		return nil, errMailUnavailable
	}
	call := idem.Call{Scope: current.ID.String(), Key: req.GetIdempotencyKey(), Request: req}
	resp := &authv1.SendVerificationResponse{}
	resp.Replayed, err = idem.InTx(ctx, s.db, call, resp, func(tx pgx.Tx) error {
		if current.VerifiedAt != nil {
			return nil
		}
		queued, err := s.queueVerification(ctx, tx, current)
		if err == nil && !queued {
			return errTooManyRequests.After(mail.LimitWindow)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	s.mails.Wake()
	return resp, nil
}

// requestEmail sends a link that confirms a new e-mail to that e-mail. The link is bound to the
// password, so that a change of the password ends a change that someone else has requested.
func (s *server) requestEmail(
	ctx context.Context, tx pgx.Tx, of user, address string, from client,
) error {
	_, err := selectUserByEmail(ctx, tx, address)
	if err == nil {
		return errEmailAlreadyExists
	}
	if !errors.Is(err, pgx.ErrNoRows) {
		return err
	}
	link := links.Link{
		Kind: links.EmailChange, UserID: &of.ID, Email: address,
		PasswordMark: links.Mark(of.PasswordHash),
	}
	queued, err := s.queueLink(ctx, tx, of, link, mail.Mail{
		Template: mail.EmailChange, TTL: verifyTTL, Params: map[string]string{"Name": of.Name},
	})
	if err != nil {
		return err
	}
	if !queued {
		return errTooManyRequests.After(mail.LimitWindow)
	}
	id, _ := caller.From(ctx)
	return insertAudit(ctx, tx, s.entry(auditEmailChangeRequested, of.ID, id.SessionID, from))
}

// reportEmail notifies the former e-mail of a change, with a link that restores it.
func (s *server) reportEmail(ctx context.Context, tx pgx.Tx, before user, changed string) error {
	link := links.Link{Kind: links.EmailRevert, UserID: &before.ID, Email: before.Email}
	_, err := s.queueLink(ctx, tx, before, link, mail.Mail{
		Template: mail.EmailChanged, TTL: revertTTL,
		Params: map[string]string{"NewEmail": changed},
	})
	return err
}

// VerifyEmail confirms the present e-mail of a user, or a new one, which takes effect. Errors:
// LINK_EXPIRED, and EMAIL_ALREADY_EXISTS if another user has the new e-mail meanwhile.
func (s *server) VerifyEmail(
	ctx context.Context, req *authv1.VerifyEmailRequest,
) (*authv1.VerifyEmailResponse, error) {
	call, err := linkCall("verify", req.GetToken(), req.GetIdempotencyKey())
	if err != nil {
		return nil, err
	}
	call.Request = req
	resp := &authv1.VerifyEmailResponse{}
	from := s.newClient(ctx, req.GetUserAgent())
	resp.Replayed, err = idem.InTx(ctx, s.db, call, resp, func(tx pgx.Tx) error {
		now := s.now().UTC()
		link, err := links.Use(ctx, tx, req.GetToken(), now, links.EmailVerification,
			links.EmailChange)
		if err != nil {
			return pg.IfNoRows(err, errLinkExpired)
		}
		if link.Kind == links.EmailChange {
			return s.changeEmail(ctx, tx, link, now, from)
		}
		verified, err := verifyEmail(ctx, tx, link, now)
		if err != nil {
			return pg.IfNoRows(err, errLinkExpired)
		}
		err = insertAudit(ctx, tx, s.entry(auditEmailConfirmed, verified.ID, uuid.Nil, from))
		if err != nil {
			return err
		}
		return s.publish(ctx, tx, verified.ID, &authv1.UserEmailVerified{User: verified.proto()})
	})
	if err != nil {
		return nil, err
	}
	s.mails.Wake()
	return resp, nil
}

// changeEmail applies the change of a link, and notifies the former e-mail.
func (s *server) changeEmail(
	ctx context.Context, tx pgx.Tx, link links.Link, now time.Time, from client,
) error {
	before, err := lockUser(ctx, tx, *link.UserID)
	if err != nil {
		return pg.IfNoRows(err, errLinkExpired)
	}
	changed, err := replaceEmail(ctx, tx, link, now)
	if err != nil {
		return emailTaken(pg.IfNoRows(err, errLinkExpired))
	}
	err = insertAudit(ctx, tx, s.entry(auditEmailChanged, changed.ID, uuid.Nil, from))
	if err != nil {
		return err
	}
	if err := s.reportEmail(ctx, tx, before, changed.Email); err != nil {
		return err
	}
	return s.publishVerified(ctx, tx, changed)
}

// publishVerified publishes the events of an e-mail that the link of a mail has replaced.
func (s *server) publishVerified(ctx context.Context, tx pgx.Tx, changed user) error {
	err := s.publish(ctx, tx, changed.ID, &authv1.UserUpdated{User: changed.proto()})
	if err != nil {
		return err
	}
	return s.publish(ctx, tx, changed.ID, &authv1.UserEmailVerified{User: changed.proto()})
}

// RevertEmail restores the e-mail that received the link, and ends all sessions and personal access
// tokens of the user, because someone else has changed it. Pending and later changes end, too.
//
// Errors: LINK_EXPIRED, and EMAIL_ALREADY_EXISTS if another user has the e-mail meanwhile.
func (s *server) RevertEmail(
	ctx context.Context, req *authv1.RevertEmailRequest,
) (*authv1.RevertEmailResponse, error) {
	call, err := linkCall("revert", req.GetToken(), req.GetIdempotencyKey())
	if err != nil {
		return nil, err
	}
	call.Request = req
	resp := &authv1.RevertEmailResponse{}
	from := s.newClient(ctx, req.GetUserAgent())
	resp.Replayed, err = idem.InTx(ctx, s.db, call, resp, func(tx pgx.Tx) error {
		now := s.now().UTC()
		link, err := links.Use(ctx, tx, req.GetToken(), now, links.EmailRevert)
		if err != nil {
			return pg.IfNoRows(err, errLinkExpired)
		}
		restored, err := replaceEmail(ctx, tx, link, now)
		if err != nil {
			return emailTaken(pg.IfNoRows(err, errLinkExpired))
		}
		// replaceEmail has locked the user. So each simultaneous change of the e-mail has already
		// created its link, or does not take place.
		if err := links.EndLater(ctx, tx, link, now); err != nil {
			return err
		}
		if err := s.endAccess(ctx, tx, auditEmailReverted, restored.ID, from); err != nil {
			return err
		}
		if err := s.unlinkAll(ctx, tx, restored.ID, from); err != nil {
			return err
		}
		return s.publishVerified(ctx, tx, restored)
	})
	if err != nil {
		return nil, err
	}
	return resp, nil
}
