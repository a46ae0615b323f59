package auth

import (
	"context"
	"encoding/hex"
	"errors"
	"log/slog"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/coffer-budget/coffer/internal/apierr"
	"github.com/coffer-budget/coffer/internal/app"
	"github.com/coffer-budget/coffer/internal/caller"
	"github.com/coffer-budget/coffer/internal/idem"
	"github.com/coffer-budget/coffer/internal/pg"
	authv1 "github.com/coffer-budget/coffer/proto/gen/coffer/auth/v1"
	"github.com/coffer-budget/coffer/services/auth/internal/deletion"
	"github.com/coffer-budget/coffer/services/auth/internal/email"
	"github.com/coffer-budget/coffer/services/auth/internal/links"
	"github.com/coffer-budget/coffer/services/auth/internal/mail"
	"github.com/coffer-budget/coffer/services/auth/internal/password"
	"github.com/coffer-budget/coffer/services/auth/internal/tokens"
)

const (
	// resetTTL is the time for which a link that sets a new password is valid.
	resetTTL = 30 * time.Minute
	// forgotPerAddress limits the requests of ForgotPassword from one address within a
	// failureWindow.
	forgotPerAddress = 20
	// reportTTL is the time for which a mail that reports a change is of use.
	reportTTL = 24 * time.Hour
)

// ForgotPassword queues a mail with a link that sets a new password. It runs the same statements
// for each e-mail and does not read the users, so neither the response nor its time reveals whether
// the e-mail has an account. The worker that sends the mail finds the user (resolveMail).
//
// Errors: MAIL_UNAVAILABLE, and RATE_LIMITED for an address with too many requests.
func (s *server) ForgotPassword(
	ctx context.Context, req *authv1.ForgotPasswordRequest,
) (*authv1.ForgotPasswordResponse, error) {
	to, problem := email.Parse(req.GetEmail())
	if problem != nil {
		return nil, apierr.Validation([]apierr.Field{*problem})
	}
	if !s.mails.Configured() {
		return nil, errMailUnavailable
	}
	network := caller.Network(s.config.ClientAddress(ctx))
	now := s.now()
	count, err := countRequest(ctx, s.db, subject("forgot", network), now, now.Add(failureWindow))
	if err != nil {
		return nil, err
	}
	if count.Failures > forgotPerAddress {
		return nil, errTooManyRequests.After(count.EndsAt.Sub(now))
	}
	// The e-mail may be that of a stranger, so it is not stored in clear text.
	call := idem.Call{
		Scope: "forgot:" + hex.EncodeToString(subject("forgot e-mail", to)),
		Key:   req.GetIdempotencyKey(), Request: req,
	}
	resp := &authv1.ForgotPasswordResponse{}
	resp.Replayed, err = idem.InTx(ctx, s.db, call, resp, func(tx pgx.Tx) error {
		// Beyond the limits of the address no mail is queued, which the response does not reveal.
		_, err := s.mails.Queue(ctx, tx, mail.Mail{
			ID: s.newID(), Template: mail.PasswordReset, To: to,
			Language: mail.Language(req.GetAcceptLanguage()), TTL: resetTTL,
		})
		return err
	})
	if err != nil {
		return nil, err
	}
	s.mails.Wake()
	return resp, nil
}

// resolveMail finds the recipient of a mail that was queued without one. It creates the link of a
// forgotten password, and reports false if the e-mail has no account.
func (s *server) resolveMail(ctx context.Context, tx pgx.Tx, due *mail.Due) (bool, error) {
	if due.Template == mail.Invitation {
		return s.invitations.Resolve(ctx, tx, due)
	}
	found, err := selectUserByEmail(ctx, tx, due.To)
	if errors.Is(err, pgx.ErrNoRows) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	// A user without a password has proved that they read mails to the e-mail only if it is
	// verified.
	if found.PasswordHash == "" && found.VerifiedAt == nil {
		return false, nil
	}
	return true, links.Insert(ctx, tx, s.mails.Token(due.ID), links.Link{
		Kind: links.PasswordReset, UserID: &found.ID, Email: due.To,
		PasswordMark: links.Mark(found.PasswordHash), ExpiresAt: due.CreatedAt.Add(resetTTL),
	})
}

// ResetPassword sets a new password with the token of a link, and ends all sessions and personal
// access tokens of the user. It hashes before the transaction starts, and only for a valid link. Of
// simultaneous calls one succeeds: the link is used once, and is bound to the present password.
//
// Errors: LINK_EXPIRED, and SERVICE_UNAVAILABLE if the queue of the hasher is full.
func (s *server) ResetPassword(
	ctx context.Context, req *authv1.ResetPasswordRequest,
) (*authv1.ResetPasswordResponse, error) {
	if err := parseReset(req, ""); err != nil {
		return nil, err
	}
	call := idem.Call{
		Scope: "reset:" + hex.EncodeToString(links.Hash(req.GetToken())),
		Key:   req.GetIdempotencyKey(), Request: req,
	}
	resp := &authv1.ResetPasswordResponse{}
	if replayed, err := idem.Replay(ctx, s.db, call, resp); err != nil || replayed {
		resp.Replayed = replayed
		return resp, err
	}
	link, err := links.Select(ctx, s.db, links.PasswordReset, req.GetToken(), s.now())
	if err != nil {
		return nil, pg.IfNoRows(err, errLinkExpired)
	}
	if err := parseReset(req, link.Email); err != nil {
		return nil, err
	}
	hash, err := s.hasher.Hash(ctx, req.GetPassword())
	if err != nil {
		return nil, err
	}
	from := s.newClient(ctx, req.GetUserAgent())
	resp.Replayed, err = idem.InTx(ctx, s.db, call, resp, func(tx pgx.Tx) error {
		return s.resetPassword(ctx, tx, req.GetToken(), hash, from)
	})
	if err != nil {
		return nil, err
	}
	s.mails.Wake()
	return resp, nil
}

// resetPassword uses a link, sets the hash of the password, ends all access and reports the change
// by mail. It resets the failed attempts at the account, because its owner proved the
// identity.
func (s *server) resetPassword(
	ctx context.Context, tx pgx.Tx, token, hash string, from client,
) error {
	now := s.now().UTC().Truncate(time.Microsecond)
	link, err := links.Use(ctx, tx, token, now, links.PasswordReset)
	if err != nil {
		return pg.IfNoRows(err, errLinkExpired)
	}
	changed, err := replacePassword(ctx, tx, link, hash, now)
	if err != nil {
		return pg.IfNoRows(err, errLinkExpired)
	}
	if err := s.endAccess(ctx, tx, auditPasswordReset, changed.ID, from); err != nil {
		return err
	}
	if err := s.unlinkAll(ctx, tx, changed.ID, from); err != nil {
		return err
	}
	own := loginAttempt(changed.Email, changed, s.config.ClientAddress(ctx), auditEntry{})
	for _, subject := range [][]byte{own.account, own.pair} {
		if err := deleteFailuresOf(ctx, tx, subject); err != nil {
			return err
		}
	}
	// The link proves that the user reads mails to the e-mail.
	if changed.VerifiedAt != nil && changed.VerifiedAt.Equal(now) {
		err := s.publish(ctx, tx, changed.ID, &authv1.UserEmailVerified{User: changed.proto()})
		if err != nil {
			return err
		}
	}
	return s.report(ctx, tx, changed.ID, mail.PasswordChanged, nil)
}

// endAccess ends all sessions and deletes all personal access tokens of a user. It is called for an
// account that its owner has recovered, because others may have started and created them, and for
// an account that will be deleted. It writes their audit entries and one of this kind, the cause.
// The transaction must have locked the user.
func (s *server) endAccess(
	ctx context.Context, tx pgx.Tx, kind string, user uuid.UUID, from client,
) error {
	entries := []auditEntry{s.entry(kind, user, uuid.Nil, from)}
	ended, err := revokeOtherSessions(ctx, tx, user, uuid.Nil, s.now().UTC())
	if err != nil {
		return err
	}
	// One entry counts all ended sessions.
	if ended > 0 {
		e := s.entry(auditSessionEnded, user, uuid.Nil, from)
		e.Times = ended
		entries = append(entries, e)
	}
	deleted, err := s.tokens.DeleteAll(ctx, tx, user)
	if err != nil {
		return err
	}
	for _, name := range deleted {
		e := s.entry(tokens.AuditDeleted, user, uuid.Nil, from)
		e.TokenName = &name
		entries = append(entries, e)
	}
	return insertAudit(ctx, tx, entries...)
}

// ReplayDeletions returns the command that deletes accounts again after the restore of a backup.
func ReplayDeletions() app.Command { return deletion.Command(Migrations) }

// newDeletions returns the server that deletes accounts.
func (s *server) newDeletions(log *slog.Logger) *deletion.Server {
	grace := s.config.DeletionGrace
	if grace > 0 {
		grace = max(grace, s.config.AccessTTL)
	}
	return deletion.New(deletion.Config{
		DB: s.db, ServiceKey: s.config.ServiceKey, Grace: grace, Mails: s.mails,
		EndAccess: s.endAccessForDeletion, Canceled: s.noteCanceled, Publish: s.publish,
		Now: s.now, NewID: s.newID, Log: log,
	})
}

// endAccessForDeletion ends all sessions and personal access tokens of a user whose account will be
// deleted, and writes the audit entry of the request.
func (s *server) endAccessForDeletion(
	ctx context.Context, tx pgx.Tx, user uuid.UUID, agent string,
) error {
	return s.endAccess(ctx, tx, deletion.AuditRequested, user, s.newClient(ctx, agent))
}

// noteCanceled writes the audit entry of a canceled deletion of an account.
func (s *server) noteCanceled(
	ctx context.Context, tx pgx.Tx, user uuid.UUID, agent string,
) error {
	e := s.entry(deletion.AuditCanceled, user, uuid.Nil, s.newClient(ctx, agent))
	return insertAudit(ctx, tx, e)
}

// report queues the mail that reports a change of the account. The template has the name of the
// change.
func (s *server) report(
	ctx context.Context, tx pgx.Tx, changed uuid.UUID, template string, params map[string]string,
) error {
	found, err := selectUsers(ctx, tx, []uuid.UUID{changed})
	if err != nil || len(found) == 0 {
		return err
	}
	_, err = s.mails.Queue(ctx, tx, mail.Mail{
		ID: s.newID(), UserID: changed, Template: template, To: found[0].Email,
		Language: found[0].Language, Params: params, TTL: reportTTL,
	})
	return err
}

// parseReset returns the problems of a request. The new password must not be the e-mail of the
// user, which is empty while it is not known.
func parseReset(req *authv1.ResetPasswordRequest, address string) error {
	var p apierr.Problems
	if req.GetToken() == "" {
		p.Invalid("token", "is required")
	}
	p.Field(password.CheckNew("password", req.GetPassword(), address))
	return p.Err()
}

// linkCall returns the idempotent call of a request with the token of a link.
func linkCall(operation, token, key string) (idem.Call, error) {
	if token == "" {
		return idem.Call{}, apierr.Invalid("token", "is required")
	}
	return idem.Call{Scope: operation + ":" + hex.EncodeToString(links.Hash(token)), Key: key}, nil
}
