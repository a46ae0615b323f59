package rules

import (
	"context"
	"log/slog"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
	"github.com/coffer-budget/coffer/services/ledger/accounts"
	"github.com/coffer-budget/coffer/services/ledger/fixture"
	"github.com/coffer-budget/coffer/services/ledger/rules/matching"
	"github.com/coffer-budget/coffer/services/ledger/transactions"
)

// server serves the RPCs that the tests of this package call.
type server struct {
	*fixture.Service
	*Rules
	*accounts.Accounts
	*transactions.Transactions
}

// setup returns a server on a fresh database. Its queue does not run: tests run jobs themselves.
func setup(t testing.TB) *server {
	t.Helper()
	base := fixture.New(t)
	srv := &server{
		Service: base, Rules: New(base.Ledger, base.Reads, slog.New(slog.DiscardHandler)),
		Accounts:     &accounts.Accounts{Ledger: base.Ledger, Cursors: base.Cursors},
		Transactions: transactions.New(base.Ledger, base.Cursors, base.Reads),
	}
	base.RPCs = struct {
		*fixture.Service
		*accounts.Accounts
		*transactions.Transactions
	}{base, srv.Accounts, srv.Transactions}
	srv.Run(t.Context())
	return srv
}

// person is a user of a server.
type person struct {
	*server
	fixture.User
}

func newPerson(ctx context.Context, t require.TestingT, s *server) person {
	return person{s, s.NewUser(ctx, t)}
}

// setsCategory returns the request for a rule that sets the category of a payee.
func setsCategory(payee string, category uuid.UUID) *ledgerv1.CreateRuleRequest {
	return &ledgerv1.CreateRuleRequest{
		Name: payee,
		Conditions: []*ledgerv1.RuleCondition{{
			Field: matching.Payee, Op: matching.Contains, Values: []string{payee},
		}},
		Actions: []*ledgerv1.RuleAction{{Kind: matching.SetCategory, Value: category.String()}},
	}
}

// rule creates a rule.
func (p person) rule(t require.TestingT, req *ledgerv1.CreateRuleRequest) *ledgerv1.Rule {
	resp, err := p.CreateRule(p.Ctx, req)
	require.NoError(t, err)
	return resp.GetRule()
}
