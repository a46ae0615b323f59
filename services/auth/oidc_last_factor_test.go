package auth

import (
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"

	"github.com/coffer-budget/coffer/internal/pg/pgtest"
	authv1 "github.com/coffer-budget/coffer/proto/gen/coffer/auth/v1"
)

// TestLastFactorOfFormerProvider requires that an identity of a provider that is no longer
// configured does not count as a way to sign in.
func TestLastFactorOfFormerProvider(t *testing.T) {
	t.Parallel()
	p := setupProvided(t, true)
	first, err := p.signIn(t)
	require.NoError(t, err)
	ctx, key := p.as(t, first.GetAccessToken()), p.newID()
	id := p.identities(ctx, t)[0].GetId()
	pgtest.Exec(t, p.db, `
		INSERT INTO oidc_identities (id, user_id, issuer, subject, email, created_at)
		VALUES ($1, $2, 'https://former.example.com', '1', '', now())`,
		p.newID(), first.GetUser().GetId())
	p.refuses(t, codes.FailedPrecondition, "LAST_FACTOR", func() error { return p.unlink(ctx, id) })
	pgtest.Exec(t, p.db, `
		INSERT INTO passkeys (id, user_id, name, credential_id, credential, created_at)
		VALUES ($1, $2, 'Phone', '\x01', '\x01', now())`, key, first.GetUser().GetId())
	require.NoError(t, p.unlink(ctx, id))
	p.refuses(t, codes.FailedPrecondition, "LAST_FACTOR", func() error {
		_, err := p.factors.DeletePasskey(ctx, &authv1.DeletePasskeyRequest{Id: key.String()})
		return err
	})
}

// TestLastFactorConcurrently requires that one way to sign in remains if a passkey and an identity
// are removed simultaneously.
func TestLastFactorConcurrently(t *testing.T) {
	t.Parallel()
	const lock = `UPDATE users SET second_factor = false`
	for other, remove := range map[string]string{
		"passkey": `DELETE FROM oidc_identities`, "identity": `DELETE FROM passkeys`,
	} {
		t.Run("the last "+other, func(t *testing.T) {
			t.Parallel()
			p := setupProvided(t, true)
			first, err := p.signIn(t)
			require.NoError(t, err)
			ctx, key := p.as(t, first.GetAccessToken()), p.newID()
			pgtest.Exec(t, p.db, `
				INSERT INTO passkeys (id, user_id, name, credential_id, credential, created_at)
				VALUES ($1, $2, 'Phone', '\x01', '\x01', now())`, key, first.GetUser().GetId())
			identity := p.identities(ctx, t)[0].GetId()
			calls := map[string]func() error{
				"passkey": pgtest.Call(ctx, p.factors.DeletePasskey,
					&authv1.DeletePasskeyRequest{Id: key.String()}),
				"identity": func() error { return p.unlink(ctx, identity) },
			}
			err = pgtest.Behind(t, p.db, func(tx pgx.Tx) error {
				if _, err := tx.Exec(t.Context(), lock); err != nil {
					return err
				}
				_, err := tx.Exec(t.Context(), remove)
				return err
			}, calls[other])
			requireReason(t, codes.FailedPrecondition, "LAST_FACTOR", err)
		})
	}
}
