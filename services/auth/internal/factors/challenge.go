package factors

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/coffer-budget/coffer/internal/pg"
)

const (
	// ChallengeTTL is the time within which the second step of a sign-in must follow.
	ChallengeTTL = 5 * time.Minute
	// challengeKept is the time for which a challenge, or a used ceremony of a passkey, is kept
	// after its end. Until then, repeated requests get their first response, and attempts are
	// counted.
	challengeKept = 24 * time.Hour
	// challengePrefix shows what a token is. Searches of logs for secrets find it.
	challengePrefix = "mfa_"
)

// Challenge is a row of ceremonies: a user has given the right password.
type Challenge struct {
	UserID uuid.UUID `db:"user_id"`
	// PasswordMark is HashChallenge of the hash of the password. A change of the password ends the
	// challenge.
	PasswordMark []byte     `db:"password_mark"`
	ExpiresAt    time.Time  `db:"expires_at"`
	UsedAt       *time.Time `db:"used_at"`
}

// HashChallenge returns the hash by which a token is stored. It has 256 random bits, so a fast hash
// is sufficient.
func HashChallenge(token string) []byte {
	hash := sha256.Sum256([]byte(token))
	return hash[:]
}

// NewChallenge stores a challenge of a user whose password has this hash, and returns its token.
func (s *Server) NewChallenge(
	ctx context.Context, tx pgx.Tx, user uuid.UUID, passwordHash string,
) (string, error) {
	token := challengePrefix + newToken()
	return token, insertChallenge(ctx, tx, HashChallenge(token), Challenge{
		UserID: user, PasswordMark: HashChallenge(passwordHash),
		ExpiresAt: s.Now().Add(ChallengeTTL),
	})
}

// newToken returns 256 random bits in base64url.
func newToken() string {
	random := make([]byte, 32)
	_, _ = rand.Read(random) // never fails
	return base64.RawURLEncoding.EncodeToString(random)
}

// SelectChallenge returns the challenge of a token, also a used or expired one, or pgx.ErrNoRows.
func SelectChallenge(ctx context.Context, q pg.Querier, token string) (Challenge, error) {
	return selectChallenge(ctx, q, HashChallenge(token))
}

// UseChallenge marks a challenge as used. It reports false if it was used or has expired. A
// simultaneous call waits for the transaction of the first one.
func UseChallenge(ctx context.Context, tx pgx.Tx, token string, now time.Time) (bool, error) {
	return useChallenge(ctx, tx, HashChallenge(token), now)
}

// Expire deletes challenges and ceremonies that expired long ago, and unused ceremonies
// immediately: anybody can start one. It includes the flows of package oidc.
func (s *Server) Expire(ctx context.Context) error {
	now := s.Now()
	return deleteChallenges(ctx, s.DB, now.Add(-challengeKept), now)
}
