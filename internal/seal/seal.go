// Package seal encrypts what clients or the database may hold and must not read or change.
package seal

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/sha256"
	"errors"
)

// ErrBroken is the error for what was not sealed with this key, or for another use.
var ErrBroken = errors.New("sealed with another key, for another use, or changed")

// Key is one purpose's key, for AES-256-GCM.
type Key [sha256.Size]byte

// NewKey derives a key from a secret that all replicas of a service share.
func NewKey(secret, purpose string) Key { return sha256.Sum256([]byte(purpose + "\x00" + secret)) }

func (k Key) aead() (cipher.AEAD, error) {
	block, err := aes.NewCipher(k[:])
	if err != nil {
		return nil, err
	}
	return cipher.NewGCMWithRandomNonce(block)
}

// Seal encrypts a text for one use, which must be named again to open it.
func (k Key) Seal(text []byte, use string) ([]byte, error) {
	aead, err := k.aead()
	if err != nil {
		return nil, err
	}
	return aead.Seal(nil, nil, text, []byte(use)), nil
}

// Open returns ErrBroken for anything but what Seal made for the same use.
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
