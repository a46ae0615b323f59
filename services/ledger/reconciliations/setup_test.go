package reconciliations

import (
	"testing"

	"github.com/coffer-budget/coffer/services/ledger/accounts"
	"github.com/coffer-budget/coffer/services/ledger/fixture"
	"github.com/coffer-budget/coffer/services/ledger/transactions"
	"github.com/coffer-budget/coffer/services/ledger/transfers"
)

// server serves the RPCs that the tests of this package call.
type server struct {
	*fixture.Service
	*Reconciliations
	*accounts.Accounts
	*transactions.Transactions
	transfers *transfers.Transfers
}

func setup(t testing.TB) *server {
	t.Helper()
	f := fixture.New(t)
	s := &server{
		Service:         f,
		Reconciliations: &Reconciliations{Ledger: f.Ledger, Cursors: f.Cursors},
		Accounts:        &accounts.Accounts{Ledger: f.Ledger, Cursors: f.Cursors, Gates: f.Reads},
		Transactions:    transactions.New(f.Ledger, f.Cursors, f.Reads),
		transfers:       &transfers.Transfers{Ledger: f.Ledger, Cursors: f.Cursors, Reads: f.Reads},
	}
	f.RPCs = s
	s.Run(t.Context())
	return s
}
