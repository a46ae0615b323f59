package factors

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"

	"github.com/go-webauthn/webauthn/protocol"
	"github.com/go-webauthn/webauthn/webauthn"
	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/coffer-budget/coffer/internal/apierr"
	"github.com/coffer-budget/coffer/internal/pg"
	restv1 "github.com/coffer-budget/coffer/proto/gen/coffer/rest/v1"
)

var (
	// ErrInvalidAssertion is returned for a response of a passkey that is invalid, or to another or
	// an expired ceremony.
	ErrInvalidAssertion = apierr.New(restv1.Reason_INVALID_PASSKEY_RESPONSE)
	// errInvalidCredential is the same at the registration of a passkey.
	errInvalidCredential   = apierr.NewInvalid(restv1.Reason_INVALID_PASSKEY_RESPONSE)
	errPasskeysUnavailable = apierr.New(restv1.Reason_PASSKEYS_UNAVAILABLE)
)

// ClonedError is returned by Use and UsePasskey for a passkey whose signature counter has not
// increased, because a copy of it may exist. Disable disables it.
type ClonedError struct{ Passkey, User uuid.UUID }

// Error implements error.
func (e *ClonedError) Error() string { return "the passkey " + e.Passkey.String() + " was cloned" }

// relyingParty returns the relying party of the installation, or errPasskeysUnavailable without a
// public URL whose host is a domain. A user must be verified, so that a passkey counts as two
// factors.
func relyingParty(publicURL string) (*webauthn.WebAuthn, error) {
	base, err := url.Parse(publicURL)
	if err != nil || protocol.ValidateRPID(base.Hostname()) != nil {
		return nil, errPasskeysUnavailable
	}
	required := true
	return webauthn.New(&webauthn.Config{
		RPID: base.Hostname(), RPDisplayName: issuer,
		RPOrigins:             []string{base.Scheme + "://" + base.Host},
		AttestationPreference: protocol.PreferNoAttestation,
		AuthenticatorSelection: protocol.AuthenticatorSelection{
			ResidentKey: protocol.ResidentKeyRequirementRequired, RequireResidentKey: &required,
			UserVerification: protocol.VerificationRequired,
		},
	})
}

// holder is a user with passkeys. It implements webauthn.User.
type holder struct {
	User
	credentials []webauthn.Credential
}

func (h holder) WebAuthnID() []byte                         { return h.ID[:] }
func (h holder) WebAuthnName() string                       { return h.Email }
func (h holder) WebAuthnDisplayName() string                { return h.Email }
func (h holder) WebAuthnCredentials() []webauthn.Credential { return h.credentials }

// beginRegistration returns the options of a new passkey as JSON, and the state of the ceremony.
func (s *Server) beginRegistration(user holder) (options string, state []byte, err error) {
	party, err := relyingParty(s.PublicURL)
	if err != nil {
		return "", nil, err
	}
	creation, session, err := party.BeginRegistration(user, webauthn.WithExclusions(
		webauthn.Credentials(user.credentials).CredentialDescriptors()))
	if err != nil {
		return "", nil, fmt.Errorf("starting the registration of a passkey: %w", err)
	}
	return encoded(creation.Response, session)
}

// beginAssertion returns options that any passkey of any user accepts, and the state of the
// ceremony.
func (s *Server) beginAssertion() (options string, state []byte, err error) {
	party, err := relyingParty(s.PublicURL)
	if err != nil {
		return "", nil, err
	}
	assertion, session, err := party.BeginDiscoverableLogin()
	if err != nil {
		return "", nil, fmt.Errorf("starting the use of a passkey: %w", err)
	}
	return encoded(assertion.Response, session)
}

func encoded(options any, session *webauthn.SessionData) (string, []byte, error) {
	text, err := json.Marshal(options)
	if err != nil {
		return "", nil, fmt.Errorf("encoding the options of a passkey: %w", err)
	}
	state, err := json.Marshal(session)
	return string(text), state, err
}

// register returns the credential of a new passkey. It returns errInvalidCredential for a response
// that is invalid.
func (s *Server) register(user User, state []byte, response string) (webauthn.Credential, error) {
	var session webauthn.SessionData
	if err := json.Unmarshal(state, &session); err != nil {
		return webauthn.Credential{}, fmt.Errorf("decoding the state of a ceremony: %w", err)
	}
	party, err := relyingParty(s.PublicURL)
	if err != nil {
		return webauthn.Credential{}, err
	}
	parsed, err := protocol.ParseCredentialCreationResponseBytes([]byte(response))
	if err != nil {
		return webauthn.Credential{}, errInvalidCredential
	}
	made, err := party.CreateCredential(holder{User: user}, session, parsed)
	if err != nil {
		return webauthn.Credential{}, errInvalidCredential
	}
	return *made, nil
}

// UsePasskey uses the response of a passkey to a ceremony, and returns its user. It returns
// ErrInvalidAssertion, or a *ClonedError. Of simultaneous calls for one ceremony, exactly one
// succeeds: the others wait for its row.
func (s *Server) UsePasskey(
	ctx context.Context, tx pgx.Tx, ceremony, response string,
) (uuid.UUID, error) {
	party, err := relyingParty(s.PublicURL)
	if err != nil {
		return uuid.Nil, err
	}
	parsed, err := protocol.ParseCredentialRequestResponseBytes([]byte(response))
	if err != nil {
		return uuid.Nil, ErrInvalidAssertion
	}
	found, err := lockCredential(ctx, tx, parsed.RawID)
	if err != nil {
		return uuid.Nil, pg.IfNoRows(err, ErrInvalidAssertion)
	}
	now := s.Now().UTC()
	state, err := useCeremony(ctx, tx, HashChallenge(ceremony), passkeyUse, found.UserID, now)
	if err != nil {
		return uuid.Nil, pg.IfNoRows(err, ErrInvalidAssertion)
	}
	var session webauthn.SessionData
	if err := json.Unmarshal(state, &session); err != nil {
		return uuid.Nil, fmt.Errorf("decoding the state of a ceremony: %w", err)
	}
	credential, err := found.check(party, session, parsed)
	if err != nil {
		return uuid.Nil, err
	}
	return found.UserID, updateUsed(ctx, tx, found.ID, credential, now)
}

// check verifies the response of a passkey, and returns its credential with the new counter.
func (p passkey) check(
	party *webauthn.WebAuthn, session webauthn.SessionData,
	parsed *protocol.ParsedCredentialAssertionData,
) ([]byte, error) {
	var credential webauthn.Credential
	if err := json.Unmarshal(p.Credential, &credential); err != nil {
		return nil, fmt.Errorf("decoding a passkey: %w", err)
	}
	owner := holder{User: User{ID: p.UserID}, credentials: []webauthn.Credential{credential}}
	used, err := party.ValidateDiscoverableLogin(func(_, handle []byte) (webauthn.User, error) {
		if !bytes.Equal(handle, p.UserID[:]) {
			return nil, errors.New("the passkey belongs to another user")
		}
		return owner, nil
	}, session, parsed)
	if err != nil {
		return nil, ErrInvalidAssertion
	}
	if used.Authenticator.CloneWarning {
		return nil, &ClonedError{Passkey: p.ID, User: p.UserID}
	}
	return json.Marshal(used)
}
