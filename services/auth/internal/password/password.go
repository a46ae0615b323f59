// Package password hashes passwords with argon2id and decides which new passwords are permitted.
//
// A password is stored only as the PHC string that Hasher.Hash returns. Hashes run for few callers
// at a time, because each takes memory and a processor. Text of the same characters has the same
// hash, however a keyboard encodes it.
package password

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	_ "embed"
	"encoding/base64"
	"errors"
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"golang.org/x/crypto/argon2"
	"golang.org/x/text/unicode/norm"

	"github.com/coffer-budget/coffer/internal/apierr"
)

const (
	// Length of a password, in characters.
	minLength = 8
	maxLength = 128

	// Parameters of argon2id: the second recommendation of OWASP, m=19 MiB, t=2, p=1. A stored hash
	// contains its own, so they can change without a migration. argonMemory is in KiB; argonSalt
	// and argonKey are in bytes.
	argonMemory  = 19 << 10
	argonTime    = 2
	argonThreads = 1
	argonSalt    = 16
	argonKey     = 32

	// waitingPerSlot limits the queue of the hasher. A hash takes some 30 ms, so the last request
	// waits for about 4 seconds.
	waitingPerSlot = 128

	// restTime is the time without a hash after which the hasher returns memory to the operating
	// system.
	restTime = 2 * time.Second
)

//go:embed well_known.txt
var wellKnownText string

// wellKnown holds frequently used passwords in lower case. CheckNew rejects them (NIST SP 800-63B,
// 5.1.1.2).
var wellKnown = sync.OnceValue(func() map[string]bool {
	known := map[string]bool{}
	for p := range strings.FieldsSeq(wellKnownText) {
		known[strings.ToLower(p)] = true
	}
	return known
})

// CheckNew returns the problem of a new password for the user with this e-mail, or nil. The
// password must be UTF-8 text of 8 to 128 characters. It must not be a well-known password, the
// e-mail, or the local part of the e-mail. An empty e-mail skips the last check.
func CheckNew(field, password, email string) *apierr.Field {
	bad := func(message string) *apierr.Field {
		return &apierr.Field{Name: field, Message: message}
	}
	switch n := utf8.RuneCountInString(password); {
	case password == "":
		return bad("is required")
	case !utf8.ValidString(password) || strings.ContainsRune(password, 0):
		return bad("must be UTF-8 text without NUL")
	case n < minLength || n > maxLength:
		return bad(fmt.Sprintf("must have %d to %d characters", minLength, maxLength))
	}
	plain := strings.ToLower(string(normalized(password)))
	local, _, _ := strings.Cut(email, "@")
	switch {
	case wellKnown()[plain]:
		return bad("is a well-known password")
	case email != "" && (plain == email || plain == local):
		return bad("must not be the e-mail")
	}
	return nil
}

// CheckGiven rejects a password that no account can have, without the cost of a hash; nil means
// that it must be compared.
func CheckGiven(field, password string) *apierr.Field {
	switch {
	case password == "":
		return &apierr.Field{Name: field, Message: "is required"}
	case utf8.RuneCountInString(password) > maxLength:
		return &apierr.Field{
			Name: field, Message: fmt.Sprintf("must have at most %d characters", maxLength),
		}
	}
	return nil
}

// Hasher runs argon2id for few callers at a time. Each hash takes 19 MiB and a processor; the limit
// keeps both available to other requests during a burst of sign-ins.
type Hasher struct {
	// slots has an element for each running hash, and leaves one processor unused.
	slots chan struct{}
	// waiting has an element for each running or queued request. Its capacity is the limit of the
	// queue.
	waiting chan struct{}
	// rested returns memory to the operating system restTime after the last hash. The process would
	// otherwise keep 19 MiB of garbage per hash.
	rested *time.Timer
	// Dummy is the hash of a random password. A sign-in without an account is compared with it, so
	// that it takes as long.
	Dummy string
}

// NewHasher returns a Hasher with one slot less than there are processors, and at least one.
func NewHasher() (*Hasher, error) {
	nobody := make([]byte, argonKey)
	if _, err := rand.Read(nobody); err != nil {
		return nil, err
	}
	dummy, err := hash(string(nobody))
	if err != nil {
		return nil, err
	}
	rested := time.AfterFunc(restTime, debug.FreeOSMemory)
	slots := max(1, runtime.GOMAXPROCS(0)-1)
	return &Hasher{
		slots:   make(chan struct{}, slots),
		waiting: make(chan struct{}, slots*waitingPerSlot),
		rested:  rested,
		Dummy:   dummy,
	}, nil
}

// Run calls fn in a free slot. It returns apierr.Unavailable without waiting if the queue is full,
// and the error of ctx if that ends in the queue.
func (h *Hasher) Run(ctx context.Context, fn func() error) error {
	select {
	case h.waiting <- struct{}{}:
		defer func() { <-h.waiting }()
	default:
		return apierr.Unavailable
	}
	select {
	case h.slots <- struct{}{}:
		defer func() {
			h.rested.Reset(restTime)
			<-h.slots
		}()
		return fn()
	case <-ctx.Done():
		return fmt.Errorf("waiting for the password hasher: %w", ctx.Err())
	}
}

// Hash returns a PHC string with a random salt: $argon2id$v=19$m=19456,t=2,p=1$salt$key. It waits
// for a slot, see Run.
func (h *Hasher) Hash(ctx context.Context, password string) (phc string, err error) {
	err = h.Run(ctx, func() error {
		phc, err = hash(password)
		return err
	})
	return phc, err
}

// hash returns a PHC string without waiting for a slot.
func hash(password string) (string, error) {
	salt := make([]byte, argonSalt)
	if _, err := rand.Read(salt); err != nil {
		return "", err
	}
	key := argon2.IDKey(normalized(password), salt, argonTime, argonMemory, argonThreads, argonKey)
	encode := base64.RawStdEncoding.EncodeToString
	return fmt.Sprintf("$argon2id$v=%d$m=%d,t=%d,p=%d$%s$%s", argon2.Version, argonMemory,
		argonTime, argonThreads, encode(salt), encode(key)), nil
}

// Verify reports whether hash is the hash of password. Callers are in a slot of Run. It uses the
// parameters in the hash, so that hashes made with earlier parameters remain valid. An error means
// that the hash is malformed: a defect, not a wrong password.
func Verify(hash, password string) (bool, error) {
	parts := strings.Split(hash, "$")
	if len(parts) != 6 || parts[1] != "argon2id" ||
		parts[2] != fmt.Sprintf("v=%d", argon2.Version) {
		return false, errors.New("a password hash is not argon2id")
	}
	var memory, passes uint32
	var threads uint8
	_, err := fmt.Sscanf(parts[3], "m=%d,t=%d,p=%d", &memory, &passes, &threads)
	// argon2.IDKey panics if passes or threads are 0.
	if err != nil || passes == 0 || threads == 0 {
		return false, errors.New("a password hash has malformed parameters")
	}
	salt, saltErr := base64.RawStdEncoding.DecodeString(parts[4])
	key, keyErr := base64.RawStdEncoding.DecodeString(parts[5])
	if saltErr != nil || keyErr != nil || len(key) == 0 {
		return false, errors.New("a password hash has a malformed salt or key")
	}
	got := argon2.IDKey(normalized(password), salt, passes, memory, threads, uint32(len(key)))
	return subtle.ConstantTimeCompare(got, key) == 1, nil
}

// normalized returns the bytes of a password to hash. NFKC maps the different encodings that
// keyboards send for the same characters to one (NIST SP 800-63B, 5.1.1.2).
func normalized(password string) []byte { return norm.NFKC.Bytes([]byte(password)) }
