package factors

import (
	"context"
	"errors"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/coffer-budget/coffer/internal/apierr"
	"github.com/coffer-budget/coffer/internal/pg"
)

// Methods are the values of the field methods of a response with MFA_REQUIRED.
const (
	methodTotp     = "totp"
	methodRecovery = "recovery"
	methodPasskey  = "passkey"
)

// Proof is a proof of a second factor: Code, RecoveryCode or Assertion is set.
type Proof struct {
	Code, RecoveryCode string
	// Assertion is the response of a passkey to the ceremony with this id.
	CeremonyID, Assertion string
}

// Check returns the problem of the form of a proof, or nil.
func (p Proof) Check() *apierr.Field {
	switch {
	case p.RecoveryCode != "":
		return CheckRecoveryCode("recoveryCode", p.RecoveryCode)
	case p.Assertion == "":
		return CheckCode("code", p.Code)
	case p.CeremonyID == "":
		return &apierr.Field{Name: "ceremonyId", Message: "is required"}
	}
	return nil
}

// Use uses a proof. It returns ErrInvalidCode for a code that is wrong or was used, and the errors
// of UsePasskey, also for the passkey of another user. Of simultaneous calls with one code, exactly
// one succeeds: the others wait for the row of the app or of the recovery code.
func (s *Server) Use(ctx context.Context, tx pgx.Tx, user uuid.UUID, proof Proof) error {
	now := s.Now().UTC()
	if proof.Assertion != "" {
		owner, err := s.UsePasskey(ctx, tx, proof.CeremonyID, proof.Assertion)
		if err == nil && owner != user {
			return ErrInvalidAssertion
		}
		return err
	}
	if proof.RecoveryCode != "" {
		used, err := useRecoveryCode(ctx, tx, user, proof.RecoveryCode, now)
		if err == nil && !used {
			return ErrInvalidCode
		}
		return err
	}
	found, err := selectTotp(ctx, tx, user)
	if err != nil {
		return pg.IfNoRows(err, ErrInvalidCode)
	}
	if found.SecretSealed == nil {
		return ErrInvalidCode
	}
	step, right := matchingStep(s.open(user, found.SecretSealed), proof.Code, now)
	if !right {
		return ErrInvalidCode
	}
	used, err := useStep(ctx, tx, user, found.SecretSealed, step)
	if err == nil && !used {
		return ErrInvalidCode
	}
	return err
}

// Methods returns the methods with which a user can prove a second factor.
func (s *Server) Methods(ctx context.Context, q pg.Querier, user uuid.UUID) ([]string, error) {
	var methods []string
	found, err := selectTotp(ctx, q, user)
	if err != nil && !errors.Is(err, pgx.ErrNoRows) {
		return nil, err
	}
	if found.SecretSealed != nil {
		methods = append(methods, methodTotp)
	}
	passkey, err := hasPasskey(ctx, q, user)
	if err != nil {
		return nil, err
	}
	if passkey {
		methods = append(methods, methodPasskey)
	}
	left, err := countRecoveryCodes(ctx, q, user)
	if left > 0 {
		methods = append(methods, methodRecovery)
	}
	return methods, err
}

// open returns the secret of an app. It is empty if the service key has changed: no code is right
// then, and the user signs in with a recovery code.
func (s *Server) open(user uuid.UUID, sealed []byte) string {
	secret, err := s.sealer.Open(sealed, user.String())
	if err != nil {
		return ""
	}
	return string(secret)
}
