package auth

import (
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/coffer-budget/coffer/internal/pg/pgtest"
	authv1 "github.com/coffer-budget/coffer/proto/gen/coffer/auth/v1"
)

// changePassword returns a change of the password of all users, by a concurrent request.
func changePassword(t *testing.T) func(tx pgx.Tx) error {
	t.Helper()
	return func(tx pgx.Tx) error {
		_, err := tx.Exec(t.Context(), `UPDATE users SET password_hash = password_hash || 'x'`)
		return err
	}
}

func TestLoginConcurrently(t *testing.T) {
	t.Parallel()
	t.Run("starts no session with a password that is changed meanwhile", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		b.register(t, "ada@example.com")
		err := pgtest.Behind(t, b.db, changePassword(t), pgtest.Call(t.Context(), b.Login,
			&authv1.LoginRequest{Email: "ada@example.com", Password: goodPassword}))
		require.ErrorIs(t, err, errInvalidCredentials)
	})
}

func TestUpdateMeConcurrently(t *testing.T) {
	t.Parallel()
	t.Run("changes no e-mail with a password that is changed meanwhile", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		ctx, _ := b.member(t, "ada@example.com")
		err := pgtest.Behind(t, b.db, changePassword(t), pgtest.Call(ctx, b.UpdateMe,
			&authv1.UpdateMeRequest{Email: new("eve@example.com"), CurrentPassword: goodPassword}))
		require.ErrorIs(t, err, errWrongPassword)
	})
}
