// Package factors owns the factors of users beside their passwords: authenticator apps (TOTP, RFC
// 6238), recovery codes and passkeys (WebAuthn), and the challenges between the two steps of a
// sign-in.
//
// The secret of an app is sealed with the service key. Each of its codes is accepted once, within
// 30 seconds before and after its own step. Of a recovery code only the hash is stored; it works
// once. A challenge proves that the right password was given. It is valid for 5 minutes, works
// once, and is bound to the password. A passkey verifies its user, so it counts as both steps. Its
// ceremonies are valid for 5 minutes and work once, at any replica.
//
// factors.go and passkeys.go have the RPCs with which users manage their factors. totp.go,
// recoverycode.go and webauthn.go have the rules, verify.go uses a proof, and challenge.go has the
// challenges. Package auth limits the attempts and starts sessions.
package factors

import (
	"context"
	"errors"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/coffer-budget/coffer/internal/apierr"
	"github.com/coffer-budget/coffer/internal/calendar"
	"github.com/coffer-budget/coffer/internal/caller"
	"github.com/coffer-budget/coffer/internal/idem"
	"github.com/coffer-budget/coffer/internal/pg"
	"github.com/coffer-budget/coffer/internal/seal"
	authv1 "github.com/coffer-budget/coffer/proto/gen/coffer/auth/v1"
	restv1 "github.com/coffer-budget/coffer/proto/gen/coffer/rest/v1"
	"github.com/coffer-budget/coffer/services/auth/internal/mail"
)

// Kinds of changes. They are types of audit entries and templates of mails, stored and public:
// never rename one.
const (
	TotpEnabled          = mail.TotpEnabled
	TotpDisabled         = mail.TotpDisabled
	RecoveryCodesCreated = mail.RecoveryCodesCreated
	RecoveryCodeUsed     = mail.RecoveryCodeUsed
	PasskeyCreated       = mail.PasskeyCreated
	PasskeyDeleted       = mail.PasskeyDeleted
	PasskeyCloned        = mail.PasskeyCloned
)

var (
	// ErrInvalidCode is returned for a code or a recovery code that is wrong or was used.
	ErrInvalidCode        = apierr.New(restv1.Reason_INVALID_MFA_CODE)
	errTotpAlreadyEnabled = apierr.New(restv1.Reason_TOTP_ALREADY_ENABLED)
	errLastFactor         = apierr.New(restv1.Reason_LAST_FACTOR)
	errTotpNotEnabled     = apierr.New(restv1.Reason_TOTP_NOT_ENABLED)
)

// User is the acting user.
type User struct {
	ID    uuid.UUID
	Email string
}

// Change is a change of the factors of the acting user.
type Change struct {
	Kind string
	// Name is the name of the passkey, if the change is about one.
	Name string
	// Agent is the header User-Agent of the request.
	Agent string
	// EndsSessions is set if the other sessions of the user end, because they were started without
	// the new factor.
	EndsSessions bool
}

// Config has the parts of the service that the package uses.
type Config struct {
	DB         *pgxpool.Pool
	ServiceKey string
	// PublicURL is the address of the installation, or empty. Its host is the relying party of
	// passkeys.
	PublicURL string
	// Issuers are those of the configured identity providers.
	Issuers []string
	// User returns the user of the acting session, or apierr.Unauthorized if it has ended.
	User func(ctx context.Context) (User, error)
	// Changed writes the audit entry of a change, queues the mail that reports it, and ends
	// sessions. The transaction has locked the user.
	Changed func(ctx context.Context, tx pgx.Tx, change Change) error
	// Wake sends queued mails soon.
	Wake  func()
	Now   func() time.Time
	NewID func() uuid.UUID
}

// Server implements FactorService and PasskeyService.
type Server struct {
	authv1.UnsafeFactorServiceServer
	authv1.UnsafePasskeyServiceServer
	Config
	sealer seal.Key
}

var (
	_ authv1.FactorServiceServer  = (*Server)(nil)
	_ authv1.PasskeyServiceServer = (*Server)(nil)
)

// New returns a server.
func New(config Config) *Server {
	return &Server{Config: config, sealer: seal.NewKey(config.ServiceKey, "totp secret")}
}

// GetFactors returns the second factors of the acting user without their secrets.
func (s *Server) GetFactors(
	ctx context.Context, _ *authv1.GetFactorsRequest,
) (*authv1.GetFactorsResponse, error) {
	user, err := s.User(ctx)
	if err != nil {
		return nil, err
	}
	found, err := s.Of(ctx, user.ID)
	return &authv1.GetFactorsResponse{Factors: found}, err
}

// Of returns the second factors of a user without their secrets.
func (s *Server) Of(ctx context.Context, user uuid.UUID) (*authv1.Factors, error) {
	enabled, err := selectTotp(ctx, s.DB, user)
	if err != nil && !errors.Is(err, pgx.ErrNoRows) {
		return nil, err
	}
	found := &authv1.Factors{}
	if enabled.EnabledAt != nil {
		found.TotpEnabledAt = new(calendar.FormatTime(*enabled.EnabledAt))
	}
	if found.RecoveryCodesLeft, err = countRecoveryCodes(ctx, s.DB, user); err != nil {
		return nil, err
	}
	found.Passkeys, err = countPasskeys(ctx, s.DB, user)
	return found, err
}

// CreateTotp stores a new secret that has no effect before ConfirmTotp. It replaces the secret of
// an earlier call that was not confirmed.
//
// Errors: TOTP_ALREADY_ENABLED unless the request replaces the app, and UNAUTHORIZED if the session
// has ended.
func (s *Server) CreateTotp(
	ctx context.Context, req *authv1.CreateTotpRequest,
) (*authv1.CreateTotpResponse, error) {
	user, err := s.User(ctx)
	if err != nil {
		return nil, err
	}
	made, err := newSecret(user.Email)
	if err != nil {
		return nil, err
	}
	resp := &authv1.CreateTotpResponse{OtpauthUri: made.uri, Secret: made.secret, QrSvg: made.svg}
	sealed, err := s.sealer.Seal([]byte(made.secret), user.ID.String())
	if err != nil {
		return nil, err
	}
	call := idem.Call{Scope: user.ID.String(), Key: req.GetIdempotencyKey(), Request: req}
	resp.Replayed, err = idem.InTx(ctx, s.DB, call, resp, func(tx pgx.Tx) error {
		if err := s.lock(ctx, tx); err != nil {
			return err
		}
		stored, err := upsertPending(ctx, tx, user.ID, sealed, req.GetReplace())
		if err == nil && !stored {
			return errTotpAlreadyEnabled
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return resp, nil
}

// ConfirmTotp puts a secret into effect whose app has generated the code, replaces all recovery
// codes, and ends the other sessions. The code counts as used.
//
// Errors: INVALID_MFA_CODE, and TOTP_NOT_ENABLED if no secret awaits its confirmation.
func (s *Server) ConfirmTotp(
	ctx context.Context, req *authv1.ConfirmTotpRequest,
) (*authv1.ConfirmTotpResponse, error) {
	if problem := CheckCode("code", req.GetCode()); problem != nil {
		return nil, apierr.Validation([]apierr.Field{*problem})
	}
	user := caller.ID(ctx)
	resp := &authv1.ConfirmTotpResponse{RecoveryCodes: newRecoveryCodes()}
	call := idem.Call{Scope: user.String(), Key: req.GetIdempotencyKey(), Request: req}
	var err error
	resp.Replayed, err = idem.InTx(ctx, s.DB, call, resp, func(tx pgx.Tx) error {
		if err := s.lock(ctx, tx); err != nil {
			return err
		}
		found, err := selectTotp(ctx, tx, user)
		if err != nil {
			return pg.IfNoRows(err, errTotpNotEnabled)
		}
		if found.PendingSealed == nil {
			return errTotpNotEnabled
		}
		now := s.Now().UTC()
		step, right := matchingStep(s.open(user, found.PendingSealed), req.GetCode(), now)
		if !right {
			return ErrInvalidCode
		}
		if err := confirmPending(ctx, tx, user, step, now); err != nil {
			return err
		}
		if err := replaceRecoveryCodes(ctx, tx, user, resp.GetRecoveryCodes()); err != nil {
			return err
		}
		if err := updateSecondFactor(ctx, tx, user); err != nil {
			return err
		}
		return s.Changed(ctx, tx,
			Change{Kind: TotpEnabled, Agent: req.GetUserAgent(), EndsSessions: true})
	})
	if err != nil {
		return nil, err
	}
	s.Wake()
	return resp, nil
}

// DeleteTotp disables the app of the acting user. If no second factor is left, the recovery codes
// are deleted too. Errors: TOTP_NOT_ENABLED.
func (s *Server) DeleteTotp(
	ctx context.Context, req *authv1.DeleteTotpRequest,
) (*authv1.DeleteTotpResponse, error) {
	user := caller.ID(ctx)
	err := pg.InTx(ctx, s.DB, func(tx pgx.Tx) error {
		if err := s.lock(ctx, tx); err != nil {
			return err
		}
		deleted, err := deleteTotp(ctx, tx, user)
		if err != nil {
			return err
		}
		if !deleted {
			return errTotpNotEnabled
		}
		if err := updateSecondFactor(ctx, tx, user); err != nil {
			return err
		}
		return s.Changed(ctx, tx, Change{Kind: TotpDisabled, Agent: req.GetUserAgent()})
	})
	if err != nil {
		return nil, err
	}
	s.Wake()
	return &authv1.DeleteTotpResponse{}, nil
}

// CreateRecoveryCodes replaces all recovery codes of the acting user. Errors: TOTP_NOT_ENABLED for
// a user without a second factor, who needs none.
func (s *Server) CreateRecoveryCodes(
	ctx context.Context, req *authv1.CreateRecoveryCodesRequest,
) (*authv1.CreateRecoveryCodesResponse, error) {
	user := caller.ID(ctx)
	resp := &authv1.CreateRecoveryCodesResponse{RecoveryCodes: newRecoveryCodes()}
	call := idem.Call{Scope: user.String(), Key: req.GetIdempotencyKey(), Request: req}
	var err error
	resp.Replayed, err = idem.InTx(ctx, s.DB, call, resp, func(tx pgx.Tx) error {
		if err := s.lock(ctx, tx); err != nil {
			return err
		}
		has, err := hasSecondFactor(ctx, tx, user)
		if err != nil {
			return err
		}
		if !has {
			return errTotpNotEnabled
		}
		if err := replaceRecoveryCodes(ctx, tx, user, resp.GetRecoveryCodes()); err != nil {
			return err
		}
		return s.Changed(ctx, tx, Change{Kind: RecoveryCodesCreated, Agent: req.GetUserAgent()})
	})
	if err != nil {
		return nil, err
	}
	s.Wake()
	return resp, nil
}

// lock locks the acting user against other changes of factors, and the session against its end.
func (s *Server) lock(ctx context.Context, tx pgx.Tx) error {
	id, _ := caller.From(ctx)
	err := lockUserInSession(ctx, tx, id.UserID, id.SessionID, s.Now())
	return pg.IfNoRows(err, apierr.Unauthorized)
}
