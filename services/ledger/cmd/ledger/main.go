// Command ledger serves wallets, categories, transactions and the dashboard over gRPC.
package main

import (
	"github.com/coffer-budget/coffer/internal/app"
	"github.com/coffer-budget/coffer/services/ledger"
)

func main() { app.Main("ledger", ledger.Run, ledger.Migrations) }
