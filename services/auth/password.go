package auth

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
	minPassword = 8
	maxPassword = 128

	// OWASP's second choice for argon2id: m=19 MiB, t=2, p=1.
	argonMemory  = 19 << 10
	argonTime    = 2
	argonThreads = 1
	argonSalt    = 16
	argonKey     = 32

	// waitingPerSlot bounds the queue for the hasher: at some 30 ms each, who is further back would wait for over 4 seconds.
	waitingPerSlot = 128

	restTime = 2 * time.Second
)

//go:embed well_known_passwords.txt
var wellKnownText string

var wellKnown = sync.OnceValue(func() map[string]bool {
	known := map[string]bool{}
	for p := range strings.FieldsSeq(wellKnownText) {
		known[strings.ToLower(p)] = true
	}
	return known
})

// checkNewPassword says what is wrong with a password that is about to be set for the user of an e-mail; nil: nothing.
func checkNewPassword(field, password, email string) *apierr.Field {
	bad := func(message string) *apierr.Field { return &apierr.Field{Name: field, Message: message} }
	switch n := utf8.RuneCountInString(password); {
	case password == "":
		return bad("is required")
	case !utf8.ValidString(password) || strings.ContainsRune(password, 0):
		return bad("must be UTF-8 text without NUL")
	case n < minPassword || n > maxPassword:
		return bad(fmt.Sprintf("must have %d to %d characters", minPassword, maxPassword))
	}
	plain := strings.ToLower(string(typed(password)))
	local, _, _ := strings.Cut(email, "@")
	switch {
	case wellKnown()[plain]:
		return bad("is a well-known password")
	case email != "" && (plain == email || plain == local):
		return bad("must not be the e-mail")
	}
	return nil
}

// checkGivenPassword spares the hasher what cannot be anybody's password; nil: it may be one.
func checkGivenPassword(field, password string) *apierr.Field {
	switch {
	case password == "":
		return &apierr.Field{Name: field, Message: "is required"}
	case utf8.RuneCountInString(password) > maxPassword:
		return &apierr.Field{Name: field, Message: fmt.Sprintf("must have at most %d characters", maxPassword)}
	}
	return nil
}

// hasher runs argon2id for a few callers at a time, so that sign-ins leave memory and a processor to the rest.
type hasher struct {
	slots   chan struct{}
	waiting chan struct{}
	// rested gives memory back some time after the last hash: each takes 19 MiB, which the process would keep as garbage.
	rested *time.Timer
	// dummy is the hash of a password that nobody has, for e-mails without an account.
	dummy string
}

func newHasher() (*hasher, error) {
	nobody := make([]byte, argonKey)
	if _, err := rand.Read(nobody); err != nil {
		return nil, err
	}
	dummy, err := hashPassword(string(nobody))
	if err != nil {
		return nil, err
	}
	rested := time.AfterFunc(restTime, debug.FreeOSMemory)
	slots := max(1, runtime.GOMAXPROCS(0)-1)
	return &hasher{
		slots:   make(chan struct{}, slots),
		waiting: make(chan struct{}, slots*waitingPerSlot),
		rested:  rested,
		dummy:   dummy,
	}, nil
}

// run calls fn when it is its turn. It returns apierr.Unavailable when too many are waiting already.
func (h *hasher) run(ctx context.Context, fn func() error) error {
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

// hashPassword returns a PHC string: $argon2id$v=19$m=19456,t=2,p=1$salt$key.
func hashPassword(password string) (string, error) {
	salt := make([]byte, argonSalt)
	if _, err := rand.Read(salt); err != nil {
		return "", err
	}
	key := argon2.IDKey(typed(password), salt, argonTime, argonMemory, argonThreads, argonKey)
	encode := base64.RawStdEncoding.EncodeToString
	return fmt.Sprintf("$argon2id$v=%d$m=%d,t=%d,p=%d$%s$%s", argon2.Version, argonMemory, argonTime, argonThreads, encode(salt), encode(key)), nil
}

// verifyPassword reports whether hash was made of password. It works for other parameters than today's.
func verifyPassword(hash, password string) (bool, error) {
	parts := strings.Split(hash, "$")
	if len(parts) != 6 || parts[1] != "argon2id" || parts[2] != fmt.Sprintf("v=%d", argon2.Version) {
		return false, errors.New("a password hash is not argon2id")
	}
	var memory, passes uint32
	var threads uint8
	if _, err := fmt.Sscanf(parts[3], "m=%d,t=%d,p=%d", &memory, &passes, &threads); err != nil || passes == 0 || threads == 0 {
		return false, errors.New("a password hash has malformed parameters")
	}
	salt, saltErr := base64.RawStdEncoding.DecodeString(parts[4])
	key, keyErr := base64.RawStdEncoding.DecodeString(parts[5])
	if saltErr != nil || keyErr != nil || len(key) == 0 {
		return false, errors.New("a password hash has a malformed salt or key")
	}
	got := argon2.IDKey(typed(password), salt, passes, memory, threads, uint32(len(key)))
	return subtle.ConstantTimeCompare(got, key) == 1, nil
}

// typed makes one password of what different keyboards send for the same characters (NIST SP 800-63B, 5.1.1.2).
func typed(password string) []byte { return norm.NFKC.Bytes([]byte(password)) }
