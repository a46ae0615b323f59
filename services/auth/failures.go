package auth

import (
	"context"
	"crypto/sha256"
	"errors"
	"net/netip"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/coffer-budget/coffer/internal/apierr"
	"github.com/coffer-budget/coffer/internal/caller"
	"github.com/coffer-budget/coffer/internal/pg"
	authv1 "github.com/coffer-budget/coffer/proto/gen/coffer/auth/v1"
	"github.com/coffer-budget/coffer/services/auth/internal/factors"
	"github.com/coffer-budget/coffer/services/auth/internal/password"
)

// Limits of failed attempts within a failureWindow. They are separate so that a stranger cannot
// lock a user out: an address that is known to the account, and a session, are subject only to the
// limit of the pair (ADR 48).
const (
	// failuresPerPair limits one account from one address, or in one session.
	failuresPerPair = 10
	// failuresPerAccount limits one account from all addresses that are not known.
	failuresPerAccount = 50
	// failuresPerAddress limits one address for all accounts that do not know it. Many users may
	// share an address.
	failuresPerAddress = 100
	// codesPerChallenge limits the wrong codes for one second step of a sign-in, and codesPerUser
	// the wrong codes for a user. Attempts need the password or a session.
	codesPerChallenge = 5
	codesPerUser      = 10
	// failureWindow starts with the first failure of a subject. When it ends, the count starts
	// again.
	failureWindow = 15 * time.Minute

	// knownAddressKept is the time for which an address is known after a sign-in.
	knownAddressKept = 90 * 24 * time.Hour
)

// attempt is an attempt to prove an identity with a password. A failure counts against its three
// subjects: the account, the address, and the pair of both (in a session, the session).
type attempt struct {
	// Hashes of the subjects. The table must not contain e-mails and addresses in clear text.
	account, address, pair []byte
	// user is uuid.Nil for an e-mail without an account.
	user uuid.UUID
	// network is the network of the client; invalid if its address is unknown.
	network netip.Prefix
	session bool
	// failed is the audit entry of a failure.
	failed auditEntry
}

// loginAttempt returns an attempt to sign in. It counts by user, so that a change of the e-mail
// does not reset the count. An e-mail without an account has its own count with the same limits.
// Otherwise the limits would reveal which e-mails have an account.
func loginAttempt(email string, user user, address netip.Addr, failed auditEntry) attempt {
	account := "email\x00" + email
	if user.ID != uuid.Nil {
		account = "user\x00" + user.ID.String()
	}
	failed.UserID, failed.Outcome = user.ID, failure
	network := caller.Network(address)
	return attempt{
		account: subject("account", account), address: subject("address", network),
		pair: subject("pair", account+"\x00"+network),
		user: user.ID, network: prefixOf(address), failed: failed,
	}
}

func sessionAttempt(u user, session uuid.UUID, address netip.Addr, failed auditEntry) attempt {
	a := loginAttempt(u.Email, u, address, failed)
	a.pair, a.session = subject("session", session.String()), true
	return a
}

// subject returns the key of a count. The kind keeps an account from colliding with an address of
// the same name.
func subject(kind, name string) []byte {
	h := sha256.Sum256([]byte(kind + "\x00" + name))
	return h[:]
}

// prefixOf returns the network that caller.Network names, as a prefix. It is invalid for an unknown
// address.
func prefixOf(address netip.Addr) netip.Prefix {
	bits := 64
	if address.Is4() {
		bits = 32
	}
	prefix, err := address.Prefix(bits)
	if err != nil {
		return netip.Prefix{}
	}
	return prefix
}

// admit returns errTooManyFailures while one of the attempt's limits is reached, even if the
// password would be right. Otherwise a guesser could continue and learn it. Login and proveAgain
// call it before they queue for the hasher, so that a blocked guesser uses no slot. prove calls it
// again in the slot.
func (s *server) admit(ctx context.Context, a attempt) error {
	now := s.now()
	end, err := selectLimitEnd(ctx, s.db, a, now, now.Add(-knownAddressKept))
	if err != nil {
		return err
	}
	if end != nil {
		return errTooManyFailures.After(end.Sub(now))
	}
	return nil
}

// fail counts a failed attempt against its three subjects and in the audit trail of the user. Both
// counts commit together. They have a separate transaction, because the request itself ends with an
// error.
func (s *server) fail(ctx context.Context, a attempt) error {
	now := s.now()
	return pg.InTx(ctx, s.db, func(tx pgx.Tx) error {
		subjects := [][]byte{a.account, a.address, a.pair}
		if err := countFailures(ctx, tx, subjects, now, now.Add(failureWindow)); err != nil {
			return err
		}
		return countAudit(ctx, tx, a.failed, a.failed.At.Truncate(auditHour), auditAddresses)
	})
}

// prove compares a password with a hash. It returns errInvalidCredentials for a wrong password, or
// errTooManyFailures. A success resets only the count of the pair, because a success of the user
// must not give a guesser at another address more attempts. The hash is empty for a user without a
// password: the dummy makes the comparison take as long, and fail.
func (s *server) prove(ctx context.Context, attempt attempt, hash, given string) error {
	if hash == "" {
		hash = s.hasher.Dummy
	}
	return s.hasher.Run(ctx, func() error {
		// The limits are checked in the slot, so that simultaneous guesses exceed them at most by
		// the number of slots.
		if err := s.admit(ctx, attempt); err != nil {
			return err
		}
		right, err := password.Verify(hash, given)
		if err != nil {
			return err
		}
		if !right {
			if err := s.fail(ctx, attempt); err != nil {
				return err
			}
			return errInvalidCredentials
		}
		return deleteFailuresOf(ctx, s.db, attempt.pair)
	})
}

// proveAgain requires the password of a signed-in user, because a stolen access token must not be
// sufficient. It returns errWrongPassword or errTooManyFailures. A failure is recorded as an audit
// entry of this kind.
func (s *server) proveAgain(ctx context.Context, user user, given, kind string, from client) error {
	id, _ := caller.From(ctx)
	failed := s.entry(kind, user.ID, id.SessionID, from)
	try := sessionAttempt(user, id.SessionID, s.config.ClientAddress(ctx), failed)
	if err := s.admit(ctx, try); err != nil {
		return err
	}
	err := s.prove(ctx, try, user.PasswordHash, given)
	if errors.Is(err, errInvalidCredentials) {
		return errWrongPassword
	}
	return err
}

// codeSubjects returns the subjects of an attempt with a code of the second factor: the user and,
// in a sign-in, the challenge.
func codeSubjects(user uuid.UUID, challenge []byte) []limited {
	subjects := []limited{{subject("second factor", user.String()), codesPerUser}}
	if challenge != nil {
		subjects = append(subjects,
			limited{subject("challenge", string(challenge)), codesPerChallenge})
	}
	return subjects
}

// admitCode counts an attempt with a code before the code is compared, so that simultaneous guesses
// never exceed the limits. It returns errTooManyFailures beyond one. uncount takes back the count
// of a right code.
func (s *server) admitCode(ctx context.Context, subjects []limited) error {
	now := s.now()
	end, err := countLimited(ctx, s.db, subjects, now, now.Add(failureWindow))
	if err != nil {
		return err
	}
	if end != nil {
		return errTooManyFailures.After(end.Sub(now))
	}
	return nil
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
	proof := factors.Proof{
		Code: req.GetCode(), RecoveryCode: req.GetRecoveryCode(),
		CeremonyID: req.GetCeremonyId(), Assertion: req.GetAssertion(),
	}
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
		if req.GetPassword() == "" {
			// The user is locked before the session and the factor, as by changes of factors.
			if _, err := lockPassword(ctx, tx, current.ID, current.PasswordHash); err != nil {
				return pg.IfNoRows(err, apierr.Unauthorized)
			}
		}
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
	err = s.failFactor(ctx, err,
		s.entry(auditReauthenticateFailed, current.ID, id.SessionID, from))
	if err != nil {
		return nil, err
	}
	s.mails.Wake()
	return resp, nil
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
