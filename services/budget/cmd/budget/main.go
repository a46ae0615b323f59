// Command budget serves budgets and their sharing over gRPC.
package main

import (
	// The image has no files but the program's, and webhooks are verified.
	_ "golang.org/x/crypto/x509roots/fallback"

	"github.com/coffer-budget/coffer/internal/app"
	"github.com/coffer-budget/coffer/services/budget"
)

func main() { app.Main("budget", budget.Run, budget.Migrations) }
