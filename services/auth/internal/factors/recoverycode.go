package factors

import (
	"crypto/rand"
	"crypto/sha256"
	"strings"

	"github.com/google/uuid"

	"github.com/coffer-budget/coffer/internal/apierr"
)

const (
	// recoveryCodes is the number of recovery codes of a user.
	recoveryCodes = 10
	// codeLength is the number of characters of a recovery code. Each has 5 bits.
	codeLength = 10
	// alphabet is that of Crockford's Base32, without characters that are easily confused.
	alphabet = "0123456789abcdefghjkmnpqrstvwxyz"
)

// newRecoveryCodes returns new codes such as 3f9k7-0zq2m.
func newRecoveryCodes() []string {
	codes := make([]string, recoveryCodes)
	for i := range codes {
		random := make([]byte, codeLength)
		_, _ = rand.Read(random) // never fails
		for j, b := range random {
			random[j] = alphabet[b%byte(len(alphabet))]
		}
		codes[i] = string(random[:codeLength/2]) + "-" + string(random[codeLength/2:])
	}
	return codes
}

// written replaces characters that users may write instead of others.
var written = strings.NewReplacer("-", "", " ", "", "o", "0", "i", "1", "l", "1")

// normalized returns the characters of a recovery code without separators.
func normalized(code string) string { return written.Replace(strings.ToLower(code)) }

// CheckRecoveryCode returns the problem of a recovery code, or nil.
func CheckRecoveryCode(field, code string) *apierr.Field {
	if len(normalized(code)) != codeLength {
		return &apierr.Field{Name: field, Message: "must have 10 letters and digits"}
	}
	return nil
}

// hashRecoveryCode returns the hash by which a code of a user is stored. A code has 50 random bits
// and attempts are limited, so a fast hash is sufficient. It does not depend on the service key, so
// that the codes help after that has changed.
func hashRecoveryCode(user uuid.UUID, code string) []byte {
	hash := sha256.Sum256([]byte(user.String() + "\x00" + normalized(code)))
	return hash[:]
}
