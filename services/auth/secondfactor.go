package auth

import (
	"context"
	"encoding/hex"
	"errors"
	"net/netip"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/coffer-budget/coffer/internal/apierr"
	"github.com/coffer-budget/coffer/internal/idem"
	"github.com/coffer-budget/coffer/internal/pg"
	authv1 "github.com/coffer-budget/coffer/proto/gen/coffer/auth/v1"
	"github.com/coffer-budget/coffer/services/auth/internal/browser"
	"github.com/coffer-budget/coffer/services/auth/internal/factors"
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
// Errors: INVALID_MFA_TOKEN for a challenge that is unknown, used, expired, bound to an old
// password, or older than the removal of an identity; INVALID_MFA_CODE, RATE_LIMITED and
// FORBIDDEN_ORIGIN.
func (s *server) LoginMfa(
	ctx context.Context, req *authv1.LoginMfaRequest,
) (*authv1.LoginMfaResponse, error) {
	proof := factors.Proof{
		Code: req.GetCode(), RecoveryCode: req.GetRecoveryCode(),
		CeremonyID: req.GetCeremonyId(), Assertion: req.GetAssertion(),
	}
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
	err = s.failFactor(ctx, err, s.entry(auditSecondFactorFailed, challenge.UserID, uuid.Nil, from))
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

// failFactor records a proof of a second factor that failed with err, and returns the error for the
// client. It disables a passkey that was cloned. It has separate transactions, because the request
// itself ends with an error. It records nothing for a failed sign-in with a passkey alone, which
// proves no user.
func (s *server) failFactor(ctx context.Context, err error, failed auditEntry) error {
	if errors.Is(err, factors.ErrInvalidCode) || errors.Is(err, factors.ErrInvalidAssertion) {
		if failed.UserID == uuid.Nil {
			return err
		}
		failed.Outcome = failure
		counted := pg.InTx(ctx, s.db, func(tx pgx.Tx) error {
			return countAudit(ctx, tx, failed, failed.At.Truncate(auditHour), auditAddresses)
		})
		if counted != nil {
			return counted
		}
		return err
	}
	cloned, ok := errors.AsType[*factors.ClonedError](err)
	if !ok {
		return err
	}
	err = pg.InTx(ctx, s.db, func(tx pgx.Tx) error {
		// The deletion of the account locks the user and then the passkey, too.
		if _, err := lockUser(ctx, tx, cloned.User); err != nil {
			return pg.IfNoRows(err, errPasskeyCloned)
		}
		name, err := factors.Disable(ctx, tx, cloned, failed.At)
		if err != nil {
			return pg.IfNoRows(err, errPasskeyCloned)
		}
		failed.Type, failed.UserID, failed.Outcome = factors.PasskeyCloned, cloned.User, failure
		failed.TokenName = &name
		if err := insertAudit(ctx, tx, failed); err != nil {
			return err
		}
		return s.report(ctx, tx, cloned.User, factors.PasskeyCloned,
			map[string]string{"Name": name})
	})
	s.mails.Wake()
	if err != nil {
		return err
	}
	return errPasskeyCloned
}

// LoginPasskey starts a session with a passkey, which counts as both steps, because it verifies its
// user.
//
// Errors: INVALID_PASSKEY_RESPONSE, PASSKEY_CLONED, PASSKEYS_UNAVAILABLE, FORBIDDEN_ORIGIN,
// EMAIL_NOT_VERIFIED if the installation requires that, and ACCOUNT_DELETION_PENDING.
func (s *server) LoginPasskey(
	ctx context.Context, req *authv1.LoginPasskeyRequest,
) (*authv1.LoginPasskeyResponse, error) {
	if err := parseLoginPasskey(req); err != nil {
		return nil, err
	}
	if req.GetSession() == browser.CookieMode && browser.IsFromOtherSite(req) {
		return nil, errForbiddenOrigin
	}
	ceremony := factors.HashChallenge(req.GetCeremonyId())
	call := idem.Call{
		Scope: "passkey:" + hex.EncodeToString(ceremony), Key: req.GetIdempotencyKey(),
		Request: req,
	}
	from := s.newClient(ctx, req.GetUserAgent())
	failed := s.entry(auditLoginFailed, uuid.Nil, uuid.Nil, from)
	resp := &authv1.LoginPasskeyResponse{TokenType: tokenType, ExpiresIn: s.expiresIn()}
	var account user
	var err error
	resp.Replayed, err = idem.InTx(ctx, s.db, call, resp, func(tx pgx.Tx) error {
		id, err := s.factors.UsePasskey(ctx, tx, req.GetCeremonyId(), req.GetAssertion())
		if err != nil {
			return err
		}
		// UsePasskey has locked the user.
		found, err := selectUsers(ctx, tx, []uuid.UUID{id})
		if err != nil {
			return err
		}
		account = found[0]
		if s.config.verification() == verificationRequired && account.VerifiedAt == nil {
			return errEmailNotVerified
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
		return nil
	})
	if errors.Is(err, errEmailNotVerified) {
		return nil, s.requireVerified(ctx, account)
	}
	if err = s.failFactor(ctx, err, failed); err != nil {
		return nil, err
	}
	return resp, nil
}

// newFactors returns the server of second factors and passkeys.
func (s *server) newFactors() *factors.Server {
	return factors.New(factors.Config{
		DB: s.db, ServiceKey: s.config.ServiceKey, PublicURL: s.config.Mail.PublicURL,
		Issuers: s.config.OIDC.Issuers(), User: s.factorUser, Changed: s.noteFactor,
		Wake: s.mails.Wake, Now: s.now, NewID: s.newID,
	})
}

func parseLoginPasskey(req *authv1.LoginPasskeyRequest) error {
	var p apierr.Problems
	if req.GetCeremonyId() == "" {
		p.Invalid("ceremonyId", "is required")
	}
	if req.GetAssertion() == "" {
		p.Invalid("assertion", "is required")
	}
	p.Field(browser.CheckMode(req.GetSession()))
	return p.Err()
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
