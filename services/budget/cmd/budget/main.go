// Command budget is the program of the budget service: it serves budgets, members, notifications
// and webhooks over gRPC, and sends the deliveries to webhooks.
//
//	budget               runs the service until SIGTERM
//	budget migrate       applies the migrations of the service's schema
//	budget await-schema  waits until the schema has all migrations of this release;
//	                     `await-schema serve` then runs the service
//	budget ready         reports with its exit code whether the running service is ready
//
// docs/configuration.md lists the environment variables. Package budget has the code.
package main

import (
	// The image has no other files than the program, and webhooks need the authorities to verify
	// certificates.
	_ "golang.org/x/crypto/x509roots/fallback"

	"github.com/coffer-budget/coffer/internal/app"
	"github.com/coffer-budget/coffer/services/budget"
)

func main() { app.Main("budget", budget.Run, budget.Migrations) }
