// Command budget serves budgets and their sharing over gRPC.
package main

import (
	"github.com/coffer-budget/coffer/internal/app"
	"github.com/coffer-budget/coffer/services/budget"
)

func main() { app.Main("budget", budget.Run, budget.Migrations) }
