// Command budget runs the budget service.
package main

import (
	// The image has no other files than the program, and webhooks need the authorities to verify certificates.
	_ "golang.org/x/crypto/x509roots/fallback"

	"github.com/coffer-budget/coffer/internal/app"
	"github.com/coffer-budget/coffer/services/budget"
)

func main() { app.Main("budget", budget.Run, budget.Migrations) }
