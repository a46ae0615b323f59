package auth

import (
	"context"
	"fmt"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/coffer-budget/coffer/internal/apierr"
	"github.com/coffer-budget/coffer/internal/caller"
	"github.com/coffer-budget/coffer/internal/etag"
	"github.com/coffer-budget/coffer/internal/pg"
	"github.com/coffer-budget/coffer/internal/text"
	authv1 "github.com/coffer-budget/coffer/proto/gen/coffer/auth/v1"
	"github.com/coffer-budget/coffer/services/auth/internal/email"
	"github.com/coffer-budget/coffer/services/auth/internal/factors"
	"github.com/coffer-budget/coffer/services/auth/internal/mail"
	"github.com/coffer-budget/coffer/services/auth/internal/password"
)

// currentUser returns the user of the session that the request was made in, or apierr.Unauthorized.
// The token was verified against the ended sessions that this replica has loaded. This service ends
// sessions itself, so it also checks the table: an ended session stops working here immediately.
func (s *server) currentUser(ctx context.Context) (user, error) {
	id, _ := caller.From(ctx)
	u, err := selectUserInSession(ctx, s.db, id.UserID, id.SessionID, s.now())
	return u, pg.IfNoRows(err, apierr.Unauthorized)
}

func (s *server) currentUserID(ctx context.Context) (uuid.UUID, error) {
	u, err := s.currentUser(ctx)
	return u.ID, err
}

func (s *server) factorUser(ctx context.Context) (factors.User, error) {
	u, err := s.currentUser(ctx)
	return factors.User{ID: u.ID, Email: u.Email}, err
}

// noteFactor writes the audit entry of a change of the acting user's factors, reports it by mail,
// and ends the other sessions if they were started without a new factor.
func (s *server) noteFactor(ctx context.Context, tx pgx.Tx, change factors.Change) error {
	id, _ := caller.From(ctx)
	from := s.newClient(ctx, change.Agent)
	entries := []auditEntry{s.entry(change.Kind, id.UserID, id.SessionID, from)}
	var params map[string]string
	if change.Name != "" {
		entries[0].TokenName, params = &change.Name, map[string]string{"Name": change.Name}
	}
	if change.EndsSessions {
		ended, err := revokeOtherSessions(ctx, tx, id.UserID, id.SessionID, s.now().UTC())
		if err != nil {
			return err
		}
		// One entry counts all ended sessions.
		if ended > 0 {
			e := s.entry(auditSessionEnded, id.UserID, uuid.Nil, from)
			e.Times = ended
			entries = append(entries, e)
		}
	}
	if err := insertAudit(ctx, tx, entries...); err != nil {
		return err
	}
	return s.report(ctx, tx, id.UserID, change.Kind, params)
}

// GetMe returns the acting user, and as the ETag the version of the profile.
func (s *server) GetMe(ctx context.Context, _ *authv1.GetMeRequest) (*authv1.GetMeResponse, error) {
	u, err := s.currentUser(ctx)
	if err != nil {
		return nil, err
	}
	return &authv1.GetMeResponse{
		User: u.proto(), Etag: etag.Format(u.Version), EmailVerification: s.config.verification(),
		WithoutPassword: u.PasswordHash == "",
	}, nil
}

// UpdateMe changes the name, the e-mail or both. A new e-mail requires the current password, or of
// a user without one a recent sign-in, because it is sufficient to take over an account. The unique
// index decides whether the e-mail is used by another account.
//
// Errors: EMAIL_ALREADY_EXISTS, INVALID_CREDENTIALS for a wrong password, RATE_LIMITED after too
// many of them, REAUTHENTICATION_REQUIRED, VERSION_MISMATCH and EMPTY_UPDATE.
func (s *server) UpdateMe(
	ctx context.Context, req *authv1.UpdateMeRequest,
) (*authv1.UpdateMeResponse, error) {
	name, address, err := parseUpdateMe(req)
	if err != nil {
		return nil, err
	}
	current, err := s.currentUser(ctx)
	if err != nil {
		return nil, err
	}
	// verified is the user whose password was compared.
	verified, changesEmail := current, address != nil && *address != current.Email
	from := s.newClient(ctx, req.GetUserAgent())
	if changesEmail {
		if err := s.proveForEmail(ctx, current, req.GetCurrentPassword(), from); err != nil {
			return nil, err
		}
	}
	id, _ := caller.From(ctx)
	resp := &authv1.UpdateMeResponse{}
	err = pg.InTx(ctx, s.db, func(tx pgx.Tx) error {
		before, err := lockUser(ctx, tx, current.ID)
		if err != nil {
			return err
		}
		// The e-mail or the password may have changed since the password was compared.
		if address != nil && *address != before.Email &&
			(!changesEmail || before.PasswordHash != verified.PasswordHash) {
			return errWrongPassword
		}
		if !etag.Matches(req.GetIfMatch(), before.Version) {
			return apierr.VersionMismatch
		}
		// A new e-mail takes effect when it is confirmed.
		if changesEmail && s.config.verification() != verificationOff {
			if err := s.requestEmail(ctx, tx, before, *address, from); err != nil {
				return err
			}
			resp.PendingEmail, address = *address, nil
			if name == nil {
				current = before
				return nil
			}
		}
		current, err = updateUser(ctx, tx, current.ID, name, address, s.now().UTC())
		if err != nil {
			return emailTaken(err)
		}
		kind := auditProfileChanged
		if current.Email != before.Email {
			kind = auditEmailChanged
			if err := s.reportEmail(ctx, tx, before, current.Email); err != nil {
				return err
			}
			if err := s.reportUnverified(ctx, tx, current); err != nil {
				return err
			}
		}
		if err := insertAudit(ctx, tx, s.entry(kind, current.ID, id.SessionID, from)); err != nil {
			return err
		}
		return s.publish(ctx, tx, current.ID, &authv1.UserUpdated{User: current.proto()})
	})
	if err != nil {
		return nil, err
	}
	s.mails.Wake()
	resp.User, resp.Etag = current.proto(), etag.Format(current.Version)
	return resp, nil
}

// proveForEmail requires the current password for a change of the e-mail, or of a user without one
// a recent sign-in. A failure counts like one of ChangePassword.
func (s *server) proveForEmail(ctx context.Context, u user, given string, from client) error {
	if u.PasswordHash == "" {
		return s.requireRecent(ctx)
	}
	problem := password.CheckGiven("currentPassword", given)
	if given == "" {
		problem.Message = "is required to change the e-mail"
	}
	if problem != nil {
		return apierr.Validation([]apierr.Field{*problem})
	}
	return s.proveAgain(ctx, u, given, auditEmailChangeFailed, from)
}

// requireRecent returns errReauthenticate unless the user has signed in recently. Users without a
// password prove their identity that way (ADR 140).
func (s *server) requireRecent(ctx context.Context) error {
	id, _ := caller.From(ctx)
	if !id.IsRecent(s.now()) {
		return errReauthenticate
	}
	return nil
}

// ChangePassword requires the current password, or of a user without one a recent sign-in. It ends
// every session but the one it is called in, because a password is often changed after someone else
// has learned it. It hashes before the transaction starts, so that no lock is held meanwhile. Of
// simultaneous changes one succeeds.
//
// Errors: INVALID_CREDENTIALS, REAUTHENTICATION_REQUIRED, RATE_LIMITED, and SERVICE_UNAVAILABLE if
// the queue of the hasher is full.
func (s *server) ChangePassword(
	ctx context.Context, req *authv1.ChangePasswordRequest,
) (*authv1.ChangePasswordResponse, error) {
	current, err := s.currentUser(ctx)
	if err != nil {
		return nil, err
	}
	if err := parseChangePassword(req, current); err != nil {
		return nil, err
	}
	id, _ := caller.From(ctx)
	from := s.newClient(ctx, req.GetUserAgent())
	if current.PasswordHash == "" {
		err = s.requireRecent(ctx)
	} else {
		err = s.proveAgain(ctx, current, req.GetCurrentPassword(), auditPasswordChangeFailed, from)
	}
	if err != nil {
		return nil, err
	}
	hash, err := s.hasher.Hash(ctx, req.GetNewPassword())
	if err != nil {
		return nil, err
	}
	err = pg.InTx(ctx, s.db, func(tx pgx.Tx) error {
		now := s.now().UTC()
		changed, err := updatePassword(ctx, tx, current, hash, now)
		if err != nil {
			return err
		}
		// Another request changed the password after it was compared.
		if !changed {
			return errWrongPassword
		}
		entries := []auditEntry{s.entry(auditPasswordChanged, current.ID, id.SessionID, from)}
		ended, err := revokeOtherSessions(ctx, tx, current.ID, id.SessionID, now)
		if err != nil {
			return err
		}
		// One entry counts all ended sessions.
		if ended > 0 {
			e := s.entry(auditSessionEnded, current.ID, uuid.Nil, from)
			e.Times = ended
			entries = append(entries, e)
		}
		if err := insertAudit(ctx, tx, entries...); err != nil {
			return err
		}
		return s.report(ctx, tx, current.ID, mail.PasswordChanged, nil)
	})
	if err != nil {
		return nil, err
	}
	s.mails.Wake()
	return &authv1.ChangePasswordResponse{}, nil
}

// parseUpdateMe returns nil for a field that does not change, and apierr.EmptyUpdate if both are
// absent.
func parseUpdateMe(req *authv1.UpdateMeRequest) (name, address *string, err error) {
	if err := apierr.CheckChange(req); err != nil {
		return nil, nil, err
	}
	var problems apierr.Problems
	if req.Name != nil {
		parsed, problem := text.Name("name", req.GetName())
		problems.Field(problem)
		name = &parsed
	}
	if req.Email != nil {
		parsed, problem := email.Parse(req.GetEmail())
		problems.Field(problem)
		address = &parsed
	}
	return name, address, problems.Err()
}

// parseChangePassword returns the problems of both passwords at once. The new password must not be
// the e-mail of the user.
func parseChangePassword(req *authv1.ChangePasswordRequest, current user) error {
	var p apierr.Problems
	if current.PasswordHash != "" {
		p.Field(password.CheckGiven("currentPassword", req.GetCurrentPassword()))
	}
	p.Field(password.CheckNew("newPassword", req.GetNewPassword(), current.Email))
	return p.Err()
}

// maxUsers is the maximum number of ids in a call of GetUsers. The budget service asks for at most
// as many names per page.
const maxUsers = 1000

// parseUserIDs returns a validation error for more than maxUsers ids, or for one that is no UUID.
func parseUserIDs(given []string) ([]uuid.UUID, error) {
	if len(given) > maxUsers {
		return nil, apierr.Invalid("ids", fmt.Sprintf("must be at most %d", maxUsers))
	}
	ids := make([]uuid.UUID, len(given))
	for i, s := range given {
		id, ok := text.ID(s)
		if !ok {
			return nil, apierr.Invalid("ids", "must be UUIDs")
		}
		ids[i] = id
	}
	return ids, nil
}
