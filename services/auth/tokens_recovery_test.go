package auth

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/coffer-budget/coffer/internal/apierr"
	"github.com/coffer-budget/coffer/internal/pg/pgtest"
	authv1 "github.com/coffer-budget/coffer/proto/gen/coffer/auth/v1"
)

// TestRecoveryDeletesTokens requires that the links with which owners recover their account end the
// access of others completely. Someone may have registered the account with the e-mail of a
// stranger, and created a token, before its owner sets a new password.
func TestRecoveryDeletesTokens(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"by a new password", "by the former e-mail"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := setupMail(t)
			// Otherwise the e-mail must be verified before tokens are created.
			p.config.Mail.Verification = verificationOff
			ctx, me := p.member(t, adaMail)
			others, _ := p.member(t, "ben@example.com")
			kept := p.newToken(others, t, readOnly("kept")).GetToken()
			first := p.newToken(ctx, t, readOnly("first"))
			second := p.newToken(ctx, t, readOnly("second")).GetToken()
			p.config.Mail.Verification = verificationSoft
			if name == "by a new password" {
				p.forgot(t, adaMail)
				require.NoError(t, p.reset(t, p.token(t, adaMail)))
			} else {
				p.moves(t, ctx, newMail)
				require.NoError(t, p.confirm(t, p.token(t, newMail)))
				require.NoError(t, p.revert(t, p.token(t, adaMail)))
			}
			for _, token := range []string{first.GetToken(), second} {
				_, err := p.exchange(t.Context(), token)
				require.ErrorIs(t, err, apierr.Unauthorized)
			}
			_, err := p.exchange(t.Context(), kept)
			require.NoError(t, err)
			revoked, err := p.ListRevokedSessions(t.Context(),
				&authv1.ListRevokedSessionsRequest{})
			require.NoError(t, err)
			require.Contains(t, revoked.GetSessionIds(), first.GetPersonalToken().GetId())
			require.Equal(t, []string{"first", "second"}, pgtest.Value[[]string](t, p.db,
				`SELECT array_agg(token_name ORDER BY token_name) FROM audit
				WHERE type = 'token_deleted' AND user_id = $1`, me.GetUser().GetId()))
			require.Equal(t, 1, pgtest.Value[int](t, p.db,
				`SELECT count(*) FROM audit WHERE type = $1 AND user_id = $2`,
				auditSessionEnded, me.GetUser().GetId()))
		})
	}
}
