// Package seal encrypts and authenticates values that clients or the database hold but must not
// read or change: cursors, webhook secrets, stored responses.
//
// NewKey derives a key per purpose from a secret of the service. Seal and Open use AES-256-GCM with
// a random nonce. The use, such as a row's id, is authenticated with the text, so that a sealed
// value cannot be moved to another place.
package seal

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/sha256"
	"errors"
)

// ErrBroken is returned by Open for a value that was changed, or sealed with another key or for
// another use.
var ErrBroken = errors.New("sealed with another key, for another use, or changed")

// Key is the AES-256-GCM key of one purpose.
type Key [sha256.Size]byte

// NewKey derives the key of a purpose from a secret that all replicas of a service share.
func NewKey(secret, purpose string) Key { return sha256.Sum256([]byte(purpose + "\x00" + secret)) }

// aead returns the cipher, which generates a random nonce for each value.
func (k Key) aead() (cipher.AEAD, error) {
	block, err := aes.NewCipher(k[:])
	if err != nil {
		return nil, err
	}
	return cipher.NewGCMWithRandomNonce(block)
}

// Seal encrypts text for a use. Open needs the same use.
func (k Key) Seal(text []byte, use string) ([]byte, error) {
	aead, err := k.aead()
	if err != nil {
		return nil, err
	}
	return aead.Seal(nil, nil, text, []byte(use)), nil
}

// Open decrypts a value that Seal made for the same use. For any other value it returns ErrBroken.
func (k Key) Open(sealed []byte, use string) ([]byte, error) {
	aead, err := k.aead()
	if err != nil {
		return nil, err
	}
	text, err := aead.Open(nil, nil, sealed, []byte(use))
	if err != nil {
		return nil, ErrBroken
	}
	return text, nil
}
