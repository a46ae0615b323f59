// Package personaltoken makes and recognizes the texts of personal access tokens.
//
// A token is the prefix cof_, 43 characters of base62, which hold 256 random bits, and 6 characters
// with the CRC-32 of those. Secret scanners find it by prefix, length and checksum. The checksum is
// no secret: it only saves a lookup of a mistyped token. The auth service stores the Hash.
package personaltoken

import (
	"crypto/rand"
	"crypto/sha256"
	"hash/crc32"
	"math/big"
	"strings"
)

const (
	// Prefix distinguishes a personal access token from the access token of a session.
	Prefix = "cof_"

	digits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
	// secretLength and checkLength are the lengths of 256 and 32 bits in base62.
	secretLength = 43
	checkLength  = 6
)

// New returns a random token.
func New() string {
	random := make([]byte, 32)
	_, _ = rand.Read(random) // It never returns an error.
	secret := encode(new(big.Int).SetBytes(random), secretLength)
	return Prefix + secret + checksum(secret)
}

// Is reports whether a bearer token is meant as a personal access token. It may be malformed.
func Is(token string) bool { return strings.HasPrefix(token, Prefix) }

// Valid reports whether the token has the form and the checksum of a token that New returns.
func Valid(token string) bool {
	text, ok := strings.CutPrefix(token, Prefix)
	if !ok || len(text) != secretLength+checkLength {
		return false
	}
	for _, c := range []byte(text) {
		if strings.IndexByte(digits, c) < 0 {
			return false
		}
	}
	secret := text[:secretLength]
	return text[secretLength:] == checksum(secret)
}

// Hash returns the SHA-256 of a token. The token has 256 random bits, so a slow hash would add
// nothing.
func Hash(token string) [sha256.Size]byte { return sha256.Sum256([]byte(token)) }

func checksum(secret string) string {
	sum := crc32.ChecksumIEEE([]byte(secret))
	return encode(new(big.Int).SetUint64(uint64(sum)), checkLength)
}

// encode returns n in base62, with zeros in front up to a length.
func encode(n *big.Int, length int) string {
	text := make([]byte, length)
	base, digit := big.NewInt(int64(len(digits))), new(big.Int)
	for i := length - 1; i >= 0; i-- {
		n.DivMod(n, base, digit)
		text[i] = digits[digit.Int64()]
	}
	return string(text)
}
