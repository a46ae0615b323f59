package factors

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/go-webauthn/webauthn/webauthn"
	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/coffer-budget/coffer/internal/apierr"
	"github.com/coffer-budget/coffer/internal/calendar"
	"github.com/coffer-budget/coffer/internal/caller"
	"github.com/coffer-budget/coffer/internal/idem"
	"github.com/coffer-budget/coffer/internal/pg"
	"github.com/coffer-budget/coffer/internal/text"
	authv1 "github.com/coffer-budget/coffer/proto/gen/coffer/auth/v1"
	restv1 "github.com/coffer-budget/coffer/proto/gen/coffer/rest/v1"
)

// maxPasskeys is the maximum number of passkeys of a user.
const maxPasskeys = 10

var (
	errLimitReached = apierr.New(restv1.Reason_LIMIT_REACHED).
			WithMessage("A user may have at most 10 passkeys")
	errPasskeyNotFound = apierr.New(restv1.Reason_PASSKEY_NOT_FOUND)
)

// CreatePasskeyOptions starts the registration of a passkey of the acting user. Authenticators that
// have one reject the options. Errors: PASSKEYS_UNAVAILABLE.
func (s *Server) CreatePasskeyOptions(
	ctx context.Context, req *authv1.CreatePasskeyOptionsRequest,
) (*authv1.CreatePasskeyOptionsResponse, error) {
	user, err := s.User(ctx)
	if err != nil {
		return nil, err
	}
	stored, err := selectPasskeys(ctx, s.DB, user.ID)
	if err != nil {
		return nil, err
	}
	owner := holder{User: user}
	for _, p := range stored {
		var credential webauthn.Credential
		if err := json.Unmarshal(p.Credential, &credential); err != nil {
			return nil, fmt.Errorf("decoding a passkey: %w", err)
		}
		owner.credentials = append(owner.credentials, credential)
	}
	options, state, err := s.beginRegistration(owner)
	if err != nil {
		return nil, err
	}
	ceremony := newToken()
	resp := &authv1.CreatePasskeyOptionsResponse{CeremonyId: ceremony, Options: options}
	call := idem.Call{Scope: user.ID.String(), Key: req.GetIdempotencyKey(), Request: req}
	resp.Replayed, err = idem.InTx(ctx, s.DB, call, resp, func(tx pgx.Tx) error {
		return insertCeremony(ctx, tx, HashChallenge(ceremony), passkeyCreation, &user.ID, state,
			s.Now().Add(ChallengeTTL))
	})
	if err != nil {
		return nil, err
	}
	return resp, nil
}

// CreatePasskey stores a passkey, and ends the other sessions. A user without recovery codes gets
// some, because the passkey may be lost.
//
// Errors: INVALID_PASSKEY_RESPONSE, also for a used or expired ceremony, LIMIT_REACHED and
// PASSKEYS_UNAVAILABLE.
func (s *Server) CreatePasskey(
	ctx context.Context, req *authv1.CreatePasskeyRequest,
) (*authv1.CreatePasskeyResponse, error) {
	name, err := parseCreatePasskey(req)
	if err != nil {
		return nil, err
	}
	user := caller.ID(ctx)
	resp := &authv1.CreatePasskeyResponse{}
	call := idem.Call{Scope: user.String(), Key: req.GetIdempotencyKey(), Request: req}
	resp.Replayed, err = idem.InTx(ctx, s.DB, call, resp, func(tx pgx.Tx) error {
		if err := s.lock(ctx, tx); err != nil {
			return err
		}
		now := s.Now().UTC()
		state, err := useCeremony(ctx, tx, HashChallenge(req.GetCeremonyId()), passkeyCreation,
			user, now)
		if err != nil {
			return pg.IfNoRows(err, errInvalidCredential)
		}
		credential, err := s.register(User{ID: user}, state, req.GetCredential())
		if err != nil {
			return err
		}
		stored, err := selectPasskeys(ctx, tx, user)
		if err != nil {
			return err
		}
		if len(stored) >= maxPasskeys {
			return errLimitReached
		}
		created := passkey{
			ID: s.NewID(), UserID: user, Name: name, CredentialID: credential.ID, CreatedAt: now,
		}
		if created.Credential, err = json.Marshal(credential); err != nil {
			return fmt.Errorf("encoding a passkey: %w", err)
		}
		if err := insertPasskey(ctx, tx, created); err != nil {
			if pg.IsViolation(err, passkeysCredentialKey) {
				return errInvalidCredential
			}
			return err
		}
		resp.Passkey = created.proto()
		left, err := countRecoveryCodes(ctx, tx, user)
		if err == nil && left == 0 {
			resp.RecoveryCodes = newRecoveryCodes()
			err = replaceRecoveryCodes(ctx, tx, user, resp.GetRecoveryCodes())
		}
		if err != nil {
			return err
		}
		if err := updateSecondFactor(ctx, tx, user); err != nil {
			return err
		}
		return s.Changed(ctx, tx, Change{
			Kind: PasskeyCreated, Name: name, Agent: req.GetUserAgent(), EndsSessions: true,
		})
	})
	if err != nil {
		return nil, err
	}
	s.Wake()
	return resp, nil
}

// ListPasskeys returns the passkeys of the acting user, newest first, also disabled ones.
func (s *Server) ListPasskeys(
	ctx context.Context, _ *authv1.ListPasskeysRequest,
) (*authv1.ListPasskeysResponse, error) {
	user, err := s.User(ctx)
	if err != nil {
		return nil, err
	}
	shown, err := s.Passkeys(ctx, user.ID)
	return &authv1.ListPasskeysResponse{Passkeys: shown}, err
}

// Passkeys returns the passkeys of a user, newest first.
func (s *Server) Passkeys(ctx context.Context, user uuid.UUID) ([]*authv1.Passkey, error) {
	stored, err := selectPasskeys(ctx, s.DB, user)
	var shown []*authv1.Passkey
	for _, p := range stored {
		shown = append(shown, p.proto())
	}
	return shown, err
}

// UpdatePasskey renames a passkey of the acting user. Errors: PASSKEY_NOT_FOUND and EMPTY_UPDATE.
func (s *Server) UpdatePasskey(
	ctx context.Context, req *authv1.UpdatePasskeyRequest,
) (*authv1.UpdatePasskeyResponse, error) {
	if err := apierr.CheckChange(req); err != nil {
		return nil, err
	}
	name, problem := text.Name("name", req.GetName())
	if problem != nil {
		return nil, apierr.Validation([]apierr.Field{*problem})
	}
	user, err := s.User(ctx)
	if err != nil {
		return nil, err
	}
	id, ok := text.ID(req.GetId())
	if !ok {
		return nil, errPasskeyNotFound
	}
	changed, err := renamePasskey(ctx, s.DB, user.ID, id, name)
	if err != nil {
		return nil, pg.IfNoRows(err, errPasskeyNotFound)
	}
	return &authv1.UpdatePasskeyResponse{Passkey: changed.proto()}, nil
}

// DeletePasskey deletes a passkey of the acting user. If no second factor is left, the recovery
// codes are deleted too. Errors: PASSKEY_NOT_FOUND.
func (s *Server) DeletePasskey(
	ctx context.Context, req *authv1.DeletePasskeyRequest,
) (*authv1.DeletePasskeyResponse, error) {
	id, ok := text.ID(req.GetId())
	if !ok {
		return nil, errPasskeyNotFound
	}
	user := caller.ID(ctx)
	err := pg.InTx(ctx, s.DB, func(tx pgx.Tx) error {
		if err := s.lock(ctx, tx); err != nil {
			return err
		}
		name, err := deletePasskey(ctx, tx, user, id)
		if err != nil {
			return pg.IfNoRows(err, errPasskeyNotFound)
		}
		can, err := CanSignIn(ctx, tx, user, s.Issuers)
		if err != nil {
			return err
		}
		if !can {
			return errLastFactor
		}
		if err := updateSecondFactor(ctx, tx, user); err != nil {
			return err
		}
		return s.Changed(ctx, tx,
			Change{Kind: PasskeyDeleted, Name: name, Agent: req.GetUserAgent()})
	})
	if err != nil {
		return nil, err
	}
	s.Wake()
	return &authv1.DeletePasskeyResponse{Id: id.String()}, nil
}

// LoginPasskeyOptions starts the use of a passkey: in a sign-in, in its second step, or to confirm
// the identity. It names no user, because authenticators find their passkeys by the relying party.
// Errors: PASSKEYS_UNAVAILABLE.
func (s *Server) LoginPasskeyOptions(
	ctx context.Context, _ *authv1.LoginPasskeyOptionsRequest,
) (*authv1.LoginPasskeyOptionsResponse, error) {
	options, state, err := s.beginAssertion()
	if err != nil {
		return nil, err
	}
	ceremony := newToken()
	err = insertCeremony(ctx, s.DB, HashChallenge(ceremony), passkeyUse, nil, state,
		s.Now().Add(ChallengeTTL))
	if err != nil {
		return nil, err
	}
	return &authv1.LoginPasskeyOptionsResponse{CeremonyId: ceremony, Options: options}, nil
}

func parseCreatePasskey(req *authv1.CreatePasskeyRequest) (string, error) {
	var p apierr.Problems
	name, problem := text.Name("name", req.GetName())
	p.Field(problem)
	if req.GetCeremonyId() == "" {
		p.Invalid("ceremonyId", "is required")
	}
	if req.GetCredential() == "" {
		p.Invalid("credential", "is required")
	}
	return name, p.Err()
}

// proto converts the passkey. The message does not contain the credential.
func (p passkey) proto() *authv1.Passkey {
	m := &authv1.Passkey{
		Id: p.ID.String(), Name: p.Name, CreatedAt: calendar.FormatTime(p.CreatedAt),
		Disabled: p.DisabledAt != nil,
	}
	if p.LastUsedAt != nil {
		m.LastUsedAt = new(calendar.FormatTime(*p.LastUsedAt))
	}
	return m
}
