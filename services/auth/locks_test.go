package auth

import (
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/coffer-budget/coffer/internal/pg/pgtest"
	authv1 "github.com/coffer-budget/coffer/proto/gen/coffer/auth/v1"
	"github.com/coffer-budget/coffer/services/auth/internal/links"
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

func TestRevertEmailConcurrently(t *testing.T) {
	t.Parallel()
	t.Run("ends the link of a change that is in progress", func(t *testing.T) {
		t.Parallel()
		p := setupMail(t)
		const thief, other = "thief@example.com", "other@example.com"
		ctx, _ := p.member(t, adaMail)
		p.moves(t, ctx, thief)
		require.NoError(t, p.confirm(t, p.token(t, thief)))
		owners := p.token(t, adaMail)
		p.clock.advance(time.Minute)
		p.moves(t, ctx, other)
		pending := p.token(t, other)
		change := func(tx pgx.Tx) error {
			now := p.now().UTC()
			link, err := links.Use(t.Context(), tx, pending, now, links.EmailChange)
			if err != nil {
				return err
			}
			return p.changeEmail(t.Context(), tx, link, now, client{})
		}
		require.NoError(t, pgtest.Behind(t, p.db, change, func() error {
			return p.revert(t, owners)
		}))
		p.requireExpired(t, func() error { return p.revert(t, p.token(t, thief)) })
		require.True(t, p.canLogin(t, adaMail, goodPassword))
	})
}
