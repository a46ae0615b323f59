package auth

import (
	"context"
	"encoding/hex"
	"errors"
	"net/netip"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/coffer-budget/coffer/internal/apierr"
	"github.com/coffer-budget/coffer/internal/caller"
	"github.com/coffer-budget/coffer/internal/idem"
	"github.com/coffer-budget/coffer/internal/pg"
	authv1 "github.com/coffer-budget/coffer/proto/gen/coffer/auth/v1"
	"github.com/coffer-budget/coffer/services/auth/internal/browser"
	"github.com/coffer-budget/coffer/services/auth/internal/factors"
	"github.com/coffer-budget/coffer/services/auth/internal/mail"
	"github.com/coffer-budget/coffer/services/auth/internal/password"
)

const codeMFARequired = "MFA_REQUIRED"

// proven is a user with a proved identity.
type proven struct {
	user
	// secondFactor is set if the user proved a second factor too.
	secondFactor bool
	from         client
	network      netip.Prefix
}

// errSecondFactor is returned by startSession if the proof lacks a second factor. No client sees
// it.
var errSecondFactor = errors.New("the user has a second factor")

// requireSecondFactor fills the response of a sign-in whose second step follows.
func (s *server) requireSecondFactor(
	ctx context.Context, tx pgx.Tx, account user, resp *authv1.LoginResponse,
) (err error) {
	resp.Code, resp.ExpiresIn = codeMFARequired, int32(factors.ChallengeTTL.Seconds())
	resp.MfaToken, err = s.factors.NewChallenge(ctx, tx, account.ID, account.PasswordHash)
	if err != nil {
		return err
	}
	resp.Methods, err = s.factors.Methods(ctx, tx, account.ID)
	return err
}

// LoginMfa starts a session with a challenge of Login and a code of the second factor. A wrong code
// leaves the challenge valid, within the limits of failures.go.
//
// Errors: INVALID_MFA_TOKEN for a challenge that is unknown, used, expired, or bound to an old
// password; INVALID_MFA_CODE, RATE_LIMITED and FORBIDDEN_ORIGIN.
func (s *server) LoginMfa(
	ctx context.Context, req *authv1.LoginMfaRequest,
) (*authv1.LoginMfaResponse, error) {
	proof := factors.Proof{Code: req.GetCode(), RecoveryCode: req.GetRecoveryCode()}
	if err := parseLoginMfa(req, proof); err != nil {
		return nil, err
	}
	if err := idem.CheckKey(req.GetIdempotencyKey()); err != nil {
		return nil, err
	}
	if req.GetSession() == browser.CookieMode && browser.IsFromOtherSite(req) {
		return nil, errForbiddenOrigin
	}
	challenge, err := factors.SelectChallenge(ctx, s.db, req.GetMfaToken())
	if err != nil {
		return nil, pg.IfNoRows(err, errInvalidMFAToken)
	}
	hash := factors.HashChallenge(req.GetMfaToken())
	subjects := codeSubjects(challenge.UserID, hash)
	if err := s.admitCode(ctx, subjects); err != nil {
		return nil, err
	}
	call := idem.Call{
		Scope: "mfa:" + hex.EncodeToString(hash), Key: req.GetIdempotencyKey(), Request: req,
	}
	from := s.newClient(ctx, req.GetUserAgent())
	resp := &authv1.LoginMfaResponse{TokenType: tokenType, ExpiresIn: s.expiresIn()}
	resp.Replayed, err = idem.InTx(ctx, s.db, call, resp, func(tx pgx.Tx) error {
		account, err := s.useChallenge(ctx, tx, req.GetMfaToken(), challenge)
		if err != nil {
			return err
		}
		if err := s.useCode(ctx, tx, account, proof, from); err != nil {
			return err
		}
		account, issued, err := s.startSession(ctx, tx, proven{
			user: account, secondFactor: true, from: from,
			network: prefixOf(s.config.ClientAddress(ctx)),
		})
		if err != nil {
			return err
		}
		resp.AccessToken, resp.Token = issued.access, issued.access
		resp.User, resp.DeviceKey = account.proto(), s.deviceKey(account.ID)
		if req.GetSession() == browser.CookieMode {
			resp.Cookie = s.newCookie(issued.refresh)
		} else {
			resp.RefreshToken = issued.refresh
		}
		return uncount(ctx, tx, subjects)
	})
	if errors.Is(err, factors.ErrInvalidCode) {
		failed := s.entry(auditSecondFactorFailed, challenge.UserID, uuid.Nil, from)
		if err := s.failCode(ctx, failed); err != nil {
			return nil, err
		}
	}
	if err == nil && resp.GetReplayed() {
		err = uncount(ctx, s.db, subjects)
	}
	if err != nil {
		return nil, err
	}
	s.mails.Wake()
	return resp, nil
}

// useChallenge marks a challenge as used and returns its user. It locks the user like lockPassword,
// and before any factor, so that changes of factors and sign-ins cannot deadlock.
func (s *server) useChallenge(
	ctx context.Context, tx pgx.Tx, token string, challenge factors.Challenge,
) (user, error) {
	account, err := lockMarked(ctx, tx, challenge.UserID, challenge.PasswordMark)
	if err != nil {
		return user{}, pg.IfNoRows(err, errInvalidMFAToken)
	}
	used, err := factors.UseChallenge(ctx, tx, token, s.now())
	if err == nil && !used {
		err = errInvalidMFAToken
	}
	return account, err
}

// useCode uses a code of the second factor. The use of a recovery code is reported by mail, because
// few are left after some.
func (s *server) useCode(
	ctx context.Context, tx pgx.Tx, of user, proof factors.Proof, from client,
) error {
	if err := s.factors.Use(ctx, tx, of.ID, proof); err != nil {
		return err
	}
	if proof.RecoveryCode == "" {
		return nil
	}
	e := s.entry(factors.RecoveryCodeUsed, of.ID, uuid.Nil, from)
	if err := insertAudit(ctx, tx, e); err != nil {
		return err
	}
	return s.report(ctx, tx, of.ID, factors.RecoveryCodeUsed, nil)
}

// Reauthenticate confirms the identity of the acting user with the password or a second factor, and
// returns an access token with the present time as its auth_time. The session keeps the time for
// its next tokens.
//
// Errors: INVALID_CREDENTIALS, INVALID_MFA_CODE, RATE_LIMITED, UNAUTHORIZED if the session has
// ended, and SERVICE_UNAVAILABLE if the queue of the hasher is full.
func (s *server) Reauthenticate(
	ctx context.Context, req *authv1.ReauthenticateRequest,
) (*authv1.ReauthenticateResponse, error) {
	proof := factors.Proof{Code: req.GetCode(), RecoveryCode: req.GetRecoveryCode()}
	if err := parseReauthenticate(req, proof); err != nil {
		return nil, err
	}
	current, err := s.currentUser(ctx)
	if err != nil {
		return nil, err
	}
	from := s.newClient(ctx, req.GetUserAgent())
	subjects := codeSubjects(current.ID, nil)
	if req.GetPassword() != "" {
		subjects = nil
		err = s.proveAgain(ctx, current, req.GetPassword(), auditReauthenticateFailed, from)
	} else {
		err = s.admitCode(ctx, subjects)
	}
	if err != nil {
		return nil, err
	}
	id, _ := caller.From(ctx)
	resp := &authv1.ReauthenticateResponse{TokenType: tokenType, ExpiresIn: s.expiresIn()}
	err = pg.InTx(ctx, s.db, func(tx pgx.Tx) error {
		now := s.now().UTC()
		// The session is locked before the factor, as by changes of factors.
		session, err := authenticateSession(ctx, tx, current, id.SessionID, now)
		if err != nil {
			return pg.IfNoRows(err, apierr.Unauthorized)
		}
		if req.GetPassword() == "" {
			if err := s.useCode(ctx, tx, current, proof, from); err != nil {
				return err
			}
			if err := uncount(ctx, tx, subjects); err != nil {
				return err
			}
		}
		e := s.entry(auditReauthenticated, current.ID, id.SessionID, from)
		if err := insertAudit(ctx, tx, e); err != nil {
			return err
		}
		resp.AccessToken, err = s.keys.Sign(session.in(id.SessionID), now)
		return err
	})
	if errors.Is(err, factors.ErrInvalidCode) {
		failed := s.entry(auditReauthenticateFailed, current.ID, id.SessionID, from)
		if err := s.failCode(ctx, failed); err != nil {
			return nil, err
		}
	}
	if err != nil {
		return nil, err
	}
	s.mails.Wake()
	return resp, nil
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
	return s.report(ctx, tx, id.UserID, change.Kind, nil)
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

func parseLoginMfa(req *authv1.LoginMfaRequest, proof factors.Proof) error {
	var p apierr.Problems
	if req.GetMfaToken() == "" {
		p.Invalid("mfaToken", "is required")
	}
	p.Field(proof.Check())
	p.Field(browser.CheckMode(req.GetSession()))
	return p.Err()
}

func parseReauthenticate(req *authv1.ReauthenticateRequest, proof factors.Proof) error {
	var p apierr.Problems
	if proof == (factors.Proof{}) {
		p.Field(password.CheckGiven("password", req.GetPassword()))
	} else {
		p.Field(proof.Check())
		if req.GetPassword() != "" {
			p.Invalid("password", "must not be sent with a code")
		}
	}
	return p.Err()
}
