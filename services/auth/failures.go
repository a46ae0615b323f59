package auth

import (
	"context"
	"crypto/sha256"
	"net"
	"net/netip"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/peer"

	"github.com/coffer-budget/coffer/internal/caller"
	"github.com/coffer-budget/coffer/internal/pg"
)

const (
	// A person who mistypes gets by; a guesser gets a thousand tries a day for one account.
	failuresPerAccount = 10
	// Many people may share one address.
	failuresPerAddress = 100
	failureWindow      = 15 * time.Minute
)

// attempt is one try to prove who somebody is, and whose limits it counts against.
type attempt struct {
	account []byte
	address []byte
	// email and failed are what the audit trail says when it fails.
	email  string
	failed auditEntry
}

// newAttempt is the same for e-mails with and without an account.
func newAttempt(email string, address netip.Addr, failed auditEntry) attempt {
	failed.Outcome = failure
	account := sha256.Sum256([]byte("account\x00" + email))
	from := sha256.Sum256([]byte("address\x00" + caller.Network(address)))
	return attempt{account: account[:], address: from[:], email: email, failed: failed}
}

// admit returns errTooManyFailures while one of the attempt's limits is reached, even if the password would be right:
// else a guesser would go on and learn it.
func (s *server) admit(ctx context.Context, a attempt) error {
	now := s.now()
	end, err := selectLimitEnd(ctx, s.db, [][]byte{a.account, a.address}, []int32{failuresPerAccount, failuresPerAddress}, now)
	if err != nil {
		return err
	}
	if end != nil {
		return errTooManyFailures.After(end.Sub(now))
	}
	return nil
}

// fail counts the attempt.
func (s *server) fail(ctx context.Context, a attempt) error {
	now := s.now()
	return pg.InTx(ctx, s.db, func(tx pgx.Tx) error {
		if err := countFailures(ctx, tx, [][]byte{a.account, a.address}, now, now.Add(failureWindow)); err != nil {
			return err
		}
		return countAudit(ctx, tx, a.email, a.failed, a.failed.At.Truncate(auditHour), auditAddresses)
	})
}

// prove compares a password with a hash. It returns errInvalidCredentials, or errTooManyFailures.
func (s *server) prove(ctx context.Context, a attempt, hash, password string) error {
	return s.hasher.run(ctx, func() error {
		// Asked when its turn has come, so that guesses sent all at once exceed the limit by no more than run at once.
		if err := s.admit(ctx, a); err != nil {
			return err
		}
		right, err := verifyPassword(hash, password)
		if err != nil {
			return err
		}
		if !right {
			if err := s.fail(ctx, a); err != nil {
				return err
			}
			return errInvalidCredentials
		}
		return deleteFailuresOf(ctx, s.db, a.account)
	})
}

// clientAddress is the one that the gateway saw, or the peer's for calls that came another way; invalid when unknown.
func clientAddress(ctx context.Context) netip.Addr {
	if values := metadata.ValueFromIncomingContext(ctx, "x-forwarded-for"); len(values) > 0 {
		// What stands before the last one was said by others.
		last := values[len(values)-1]
		if a, err := netip.ParseAddr(strings.TrimSpace(last[strings.LastIndexByte(last, ',')+1:])); err == nil {
			return a.Unmap().WithZone("")
		}
	}
	p, ok := peer.FromContext(ctx)
	if !ok {
		return netip.Addr{}
	}
	if tcp, ok := p.Addr.(*net.TCPAddr); ok {
		return tcp.AddrPort().Addr().Unmap().WithZone("")
	}
	return netip.Addr{}
}
