package caller

import (
	"testing"

	"github.com/golang-jwt/jwt/v5"
	"github.com/stretchr/testify/require"

	"github.com/coffer-budget/coffer/internal/apierr"
)

func TestScopeOpens(t *testing.T) {
	t.Parallel()
	both := ScopeOf([]string{"read", "budgets:write"})
	for name, tt := range map[string]struct {
		scope    Scope
		accepted []string
		opens    bool
	}{
		"a token of a session":        {"", nil, true},
		"an RPC without scopes":       {both, nil, false},
		"the first scope":             {both, []string{"read"}, true},
		"the second scope":            {both, []string{"imports:write", "budgets:write"}, true},
		"another scope":               {both, []string{"wallets:write"}, false},
		"a part of a name":            {both, []string{"budgets", "write", "rea"}, false},
		"the whole claim as one name": {both, []string{string(both)}, false},
		"spaces only":                 {" ", []string{""}, false},
	} {
		require.Equal(t, tt.opens, tt.scope.Opens(tt.accepted), name)
	}
}

// TestVerifyScope requires that a token has the audience of scopes if and only if it has a scope. A
// release without scopes accepts the other audience only, so it cannot take a scoped token for one
// of a session.
func TestVerifyScope(t *testing.T) {
	t.Parallel()
	signer, verifier := newSigner(t)
	for name, tt := range map[string]struct {
		audience jwt.ClaimStrings
		scope    Scope
		valid    bool
	}{
		"a session":                    {jwt.ClaimStrings{Audience}, "", true},
		"a scope":                      {jwt.ClaimStrings{ScopedAudience}, "read", true},
		"both audiences and a scope":   {jwt.ClaimStrings{Audience, ScopedAudience}, "read", true},
		"both audiences":               {jwt.ClaimStrings{Audience, ScopedAudience}, "", false},
		"the audience without a scope": {jwt.ClaimStrings{ScopedAudience}, "", false},
		"a scope without the audience": {jwt.ClaimStrings{Audience}, "read", false},
	} {
		c := claims()
		c.Audience, c.Scope = tt.audience, tt.scope
		token := signer.sign(t, c)
		for range 2 { // The second call finds the token in the cache, if it is valid.
			id, err := verifier.Verify(t.Context(), token)
			if !tt.valid {
				require.ErrorIs(t, err, apierr.Unauthorized, name)
				continue
			}
			require.NoError(t, err, name)
			require.Equal(t, tt.scope, id.Scope, name)
		}
	}
}
