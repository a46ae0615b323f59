package caller

import (
	"slices"
	"strings"
)

// Scopes are the scopes of personal access tokens, in the order in which they are shown. The option
// scopes of an RPC names those that open it.
var Scopes = []string{
	"read", "transactions:write", "wallets:write", "budgets:write", "receipts:write",
	"imports:write", "webhooks:write",
}

// Scope is the claim scope of an access token: names of Scopes, separated by spaces (RFC 8693). It
// is empty in the access token of a session, which opens all operations. It is a string so that an
// Identity can be compared.
type Scope string

// ScopeOf returns the claim with these names.
func ScopeOf(names []string) Scope { return Scope(strings.Join(names, " ")) }

// Opens reports whether the scope opens an RPC that accepts any of these scopes. A token with a
// scope opens no RPC that accepts none.
func (s Scope) Opens(accepted []string) bool {
	if s == "" {
		return true
	}
	return slices.ContainsFunc(strings.Fields(string(s)),
		func(name string) bool { return slices.Contains(accepted, name) })
}
