package accounts

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
	"github.com/coffer-budget/coffer/services/ledger/fixture"
	"github.com/coffer-budget/coffer/services/ledger/transactions"
)

// These requests are frequent in the tests.
type (
	walletUpdate   = ledgerv1.UpdateWalletRequest
	walletCreate   = ledgerv1.CreateWalletRequest
	categoryUpdate = ledgerv1.UpdateCategoryRequest
	categoryCreate = ledgerv1.CreateCategoryRequest
	categoryDelete = ledgerv1.DeleteCategoryRequest
	walletList     = ledgerv1.ListWalletsRequest
	categoryList   = ledgerv1.ListCategoriesRequest
)

// server serves the RPCs that the tests of this package call.
type server struct {
	*fixture.Service
	*Accounts
	*transactions.Transactions
}

// setup returns a server on a fresh database.
func setup(t testing.TB) *server {
	t.Helper()
	f := fixture.New(t)
	s := &server{
		Service:      f,
		Accounts:     &Accounts{Ledger: f.Ledger, Cursors: f.Cursors},
		Transactions: transactions.New(f.Ledger, f.Cursors, f.Reads),
	}
	f.RPCs = s
	s.Run(t.Context())
	return s
}

// person is a user of a server.
type person struct {
	*server
	fixture.User
}

func newPerson(ctx context.Context, t require.TestingT, s *server) person {
	return person{server: s, User: s.NewUser(ctx, t)}
}
