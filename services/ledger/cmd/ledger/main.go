// Command ledger serves wallets, categories, transactions, receipts and the dashboard over gRPC. `ledger verify` compares balances and
// monthly totals with the transactions.
package main

import (
	"github.com/coffer-budget/coffer/internal/app"
	"github.com/coffer-budget/coffer/services/ledger"
	"github.com/coffer-budget/coffer/services/ledger/verify"
)

func main() {
	app.Main("ledger", ledger.Run, ledger.Migrations, app.Command{Name: "verify", Run: verify.Command(ledger.Migrations)})
}
