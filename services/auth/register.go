package auth

import (
	"cmp"
	"context"
	"errors"
	"log/slog"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/coffer-budget/coffer/internal/apierr"
	"github.com/coffer-budget/coffer/internal/calendar"
	"github.com/coffer-budget/coffer/internal/etag"
	"github.com/coffer-budget/coffer/internal/idem"
	"github.com/coffer-budget/coffer/internal/pg"
	"github.com/coffer-budget/coffer/internal/text"
	authv1 "github.com/coffer-budget/coffer/proto/gen/coffer/auth/v1"
	"github.com/coffer-budget/coffer/services/auth/internal/browser"
	"github.com/coffer-budget/coffer/services/auth/internal/email"
	"github.com/coffer-budget/coffer/services/auth/internal/links"
	"github.com/coffer-budget/coffer/services/auth/internal/mail"
	"github.com/coffer-budget/coffer/services/auth/internal/oidc"
	"github.com/coffer-budget/coffer/services/auth/internal/password"
)

// Register creates a user. It hashes the password before the transaction, so that no connection
// waits for the hasher. It does not hash for a repeated Idempotency-Key.
//
// The unique index on e-mails decides between simultaneous requests. The link of an invitation
// proves that the user reads mails to the e-mail. Errors: EMAIL_ALREADY_EXISTS, INVITATION_EXPIRED,
// and SERVICE_UNAVAILABLE if the queue of the hasher is full.
func (s *server) Register(
	ctx context.Context, req *authv1.RegisterRequest,
) (*authv1.RegisterResponse, error) {
	created, err := parseRegister(req)
	if err != nil {
		return nil, err
	}
	// The user has no id yet, so the idempotency key is scoped by e-mail.
	call := idem.Call{
		Scope: "register:" + created.Email, Key: req.GetIdempotencyKey(), Request: req,
	}
	resp := &authv1.RegisterResponse{}
	if replayed, err := idem.Replay(ctx, s.db, call, resp); err != nil || replayed {
		resp.Replayed = replayed
		return resp, err
	}
	if err := s.checkInvitation(ctx, req.GetInvitationToken(), created.Email); err != nil {
		return nil, err
	}
	created.PasswordHash, err = s.hasher.Hash(ctx, req.GetPassword())
	if err != nil {
		return nil, err
	}
	created.ID, created.CreatedAt, created.Version = s.newID(), s.now().UTC(), 1
	created.UpdatedAt = created.CreatedAt
	if req.GetInvitationToken() != "" {
		created.VerifiedAt = &created.CreatedAt
	}
	resp.Replayed, err = idem.InTx(ctx, s.db, call, resp, func(tx pgx.Tx) error {
		if err := insertUser(ctx, tx, created); err != nil {
			return emailTaken(err)
		}
		if created.VerifiedAt != nil {
			_, err := links.Use(ctx, tx, req.GetInvitationToken(), created.CreatedAt,
				links.Invitation)
			if err != nil {
				return pg.IfNoRows(err, errInvitationExpired)
			}
		}
		err := insertAudit(ctx, tx,
			s.entry(auditRegistered, created.ID, uuid.Nil, s.newClient(ctx, req.GetUserAgent())))
		if err != nil {
			return err
		}
		// The response is complete before the commit, because InTx stores it for repetitions of the
		// request.
		resp.User, resp.Etag = created.proto(), etag.Format(created.Version)
		if s.config.verification() != verificationOff && created.VerifiedAt == nil {
			if _, err := s.queueVerification(ctx, tx, created); err != nil {
				return err
			}
		}
		err = s.publish(ctx, tx, created.ID, &authv1.UserRegistered{User: created.proto()})
		if err != nil {
			return err
		}
		return s.reportUnverified(ctx, tx, created)
	})
	if err != nil {
		return nil, err
	}
	s.mails.Wake()
	return resp, nil
}

// checkInvitation returns errInvitationExpired for a link that cannot be used, before the password
// is hashed. A link is valid for the invited e-mail only: otherwise everyone to whom the mail is
// forwarded could verify it.
func (s *server) checkInvitation(ctx context.Context, token, address string) error {
	if token == "" {
		return nil
	}
	link, err := links.Select(ctx, s.db, links.Invitation, token, s.now())
	if err != nil {
		return pg.IfNoRows(err, errInvitationExpired)
	}
	if link.Email != address {
		return apierr.Invalid("email", "must be the invited e-mail")
	}
	return nil
}

// reportUnverified publishes that a user may receive invitations by mail to a new e-mail, if the
// installation does not require that e-mails are verified. Otherwise UserEmailVerified reports it.
// The e-mail may have been invited before, so the budget service would not learn the user from the
// event of the invitation.
func (s *server) reportUnverified(ctx context.Context, tx pgx.Tx, u user) error {
	if s.config.verification() != verificationOff || !s.mails.Configured() || u.VerifiedAt != nil {
		return nil
	}
	return s.publish(ctx, tx, u.ID, &authv1.UserInvited{User: u.proto()})
}

// OpenInvitation returns the e-mail of a link. The link was sent to this e-mail, so its reader may
// learn whether the e-mail has an account. Errors: INVITATION_EXPIRED.
func (s *server) OpenInvitation(
	ctx context.Context, req *authv1.OpenInvitationRequest,
) (*authv1.OpenInvitationResponse, error) {
	if req.GetToken() == "" {
		return nil, apierr.Invalid("token", "is required")
	}
	link, err := links.Select(ctx, s.db, links.Invitation, req.GetToken(), s.now())
	if err != nil {
		return nil, pg.IfNoRows(err, errInvitationExpired)
	}
	_, err = selectUserByEmail(ctx, s.db, link.Email)
	if err != nil && !errors.Is(err, pgx.ErrNoRows) {
		return nil, err
	}
	return &authv1.OpenInvitationResponse{Email: link.Email, Registered: err == nil}, nil
}

// newOidc returns the server that signs users in with identity providers.
func (s *server) newOidc(log *slog.Logger) *oidc.Server {
	return oidc.New(oidc.Options{
		Config: s.config.OIDC, DB: s.db, ServiceKey: s.config.ServiceKey,
		PublicURL: s.config.Mail.PublicURL, User: s.currentUserID, SignIn: s.signInOidc,
		Failed: s.failOidc, Register: s.registerOidc, Changed: s.noteIdentity, Wake: s.mails.Wake,
		Now: s.now, NewID: s.newID, Log: log,
	})
}

// registerOidc creates a user without a password, whose e-mail an identity provider has verified.
func (s *server) registerOidc(
	ctx context.Context, tx pgx.Tx, given oidc.User,
) (uuid.UUID, error) {
	now := s.now().UTC()
	created := user{
		ID: s.newID(), Name: given.Name, Email: given.Email, CreatedAt: now, UpdatedAt: now,
		Version: 1, Language: given.Language, VerifiedAt: &now,
	}
	err := insertUser(ctx, tx, created)
	if pg.IsViolation(err, usersEmailKey) {
		return uuid.Nil, oidc.ErrAccountExists
	}
	if err != nil {
		return uuid.Nil, err
	}
	err = insertAudit(ctx, tx,
		s.entry(auditRegistered, created.ID, uuid.Nil, s.newClient(ctx, given.Agent)))
	if err != nil {
		return uuid.Nil, err
	}
	return created.ID, s.publish(ctx, tx, created.ID,
		&authv1.UserRegistered{User: created.proto()})
}

// signInOidc starts a session of a user whom tx has locked, or the second step of the sign-in.
func (s *server) signInOidc(
	ctx context.Context, tx pgx.Tx, id uuid.UUID, req *authv1.ExchangeOidcRequest,
	resp *authv1.ExchangeOidcResponse,
) error {
	found, err := selectUsers(ctx, tx, []uuid.UUID{id})
	if err != nil {
		return err
	}
	if s.config.verification() == verificationRequired && found[0].VerifiedAt == nil {
		return errEmailNotVerified
	}
	account, issued, err := s.startSession(ctx, tx, proven{
		user: found[0], from: s.newClient(ctx, req.GetUserAgent()),
		network: prefixOf(s.config.ClientAddress(ctx)),
	})
	if errors.Is(err, errSecondFactor) {
		first := &authv1.LoginResponse{}
		err := s.requireSecondFactor(ctx, tx, account, first)
		resp.Code, resp.ExpiresIn = first.GetCode(), first.GetExpiresIn()
		resp.MfaToken, resp.Methods = first.GetMfaToken(), first.GetMethods()
		return err
	}
	if err != nil {
		return err
	}
	resp.AccessToken, resp.Token, resp.TokenType = issued.access, issued.access, tokenType
	resp.ExpiresIn, resp.User = s.expiresIn(), account.proto()
	resp.DeviceKey = s.deviceKey(account.ID)
	if req.GetSession() == browser.CookieMode {
		resp.Cookie = s.newCookie(issued.refresh)
	} else {
		resp.RefreshToken = issued.refresh
	}
	return nil
}

// failOidc returns the error for the client of a sign-in that failed with err. A user whose e-mail
// is not verified gets another link. It has a separate transaction, because that of the sign-in
// ended with an error.
func (s *server) failOidc(ctx context.Context, id uuid.UUID, err error) error {
	if !errors.Is(err, errEmailNotVerified) {
		return err
	}
	found, failed := selectUsers(ctx, s.db, []uuid.UUID{id})
	if failed != nil || len(found) == 0 {
		return cmp.Or(failed, err)
	}
	return s.requireVerified(ctx, found[0])
}

// noteIdentity writes the audit entry of a change of a user's identities, reports it by mail, and
// ends the other sessions if they may have been started with the identity.
func (s *server) noteIdentity(ctx context.Context, tx pgx.Tx, change oidc.Change) error {
	from := s.newClient(ctx, change.Agent)
	e := s.entry(change.Kind, change.UserID, change.SessionID, from)
	e.TokenName = &change.Label
	entries := []auditEntry{e}
	if change.EndsSessions {
		ended, err := revokeOtherSessions(ctx, tx, change.UserID, change.SessionID, s.now().UTC())
		if err != nil {
			return err
		}
		// One entry counts all ended sessions.
		if ended > 0 {
			e := s.entry(auditSessionEnded, change.UserID, uuid.Nil, from)
			e.Times = ended
			entries = append(entries, e)
		}
	}
	if err := insertAudit(ctx, tx, entries...); err != nil {
		return err
	}
	return s.report(ctx, tx, change.UserID, change.Kind, map[string]string{"Name": change.Label})
}

// unlinkAll removes the identities of an account that its owner has recovered, because others may
// have linked them.
func (s *server) unlinkAll(ctx context.Context, tx pgx.Tx, user uuid.UUID, from client) error {
	labels, err := s.oidc.DeleteAll(ctx, tx, user)
	if err != nil {
		return err
	}
	entries := make([]auditEntry, 0, len(labels))
	for _, label := range labels {
		e := s.entry(oidc.Unlinked, user, uuid.Nil, from)
		e.TokenName = &label
		entries = append(entries, e)
	}
	return insertAudit(ctx, tx, entries...)
}

func parseRegister(req *authv1.RegisterRequest) (user, error) {
	var p apierr.Problems
	var u user
	var problem *apierr.Field
	u.Name, problem = text.Name("name", req.GetName())
	p.Field(problem)
	u.Email, problem = email.Parse(req.GetEmail())
	p.Field(problem)
	u.Language = mail.Language(req.GetAcceptLanguage())
	p.Field(password.CheckNew("password", req.GetPassword(), u.Email))
	return u, p.Err()
}

func emailTaken(err error) error {
	if pg.IsViolation(err, usersEmailKey) {
		return errEmailAlreadyExists
	}
	return err
}

// proto converts the user. The hash of the password is not part of the message.
func (u user) proto() *authv1.User {
	return &authv1.User{
		Id: u.ID.String(), Name: u.Name, Email: u.Email,
		CreatedAt: calendar.FormatTime(u.CreatedAt), EmailVerified: u.VerifiedAt != nil,
	}
}
