// Command ledger is the program of the ledger service: it serves wallets, categories, transactions,
// receipts and the dashboard over gRPC.
//
//	ledger                  runs the service until SIGTERM
//	ledger migrate          applies the migrations of the service's schema, and distributes its
//	                        tables if LEDGER_DISTRIBUTED=citus is set
//	ledger await-schema     waits until the schema has all migrations of this release;
//	                        `await-schema serve` then runs the service
//	ledger ready            reports with its exit code whether the running service is ready
//	ledger move-files       moves attachments and receipt images: -to s3, into the object store
//	                        FILES_URL, or -to postgres
//	ledger check-files      reads the objects of all files, and counts those of no file
//	ledger verify [-repair] compares stored sums with the transactions, and corrects them
//
// docs/configuration.md lists the environment variables. Package ledger has the code.
package main

import (
	"github.com/coffer-budget/coffer/internal/app"
	"github.com/coffer-budget/coffer/services/ledger"
	"github.com/coffer-budget/coffer/services/ledger/distribution"
	"github.com/coffer-budget/coffer/services/ledger/files"
	"github.com/coffer-budget/coffer/services/ledger/verify"
)

func main() {
	app.Main("ledger", ledger.Run, ledger.Migrations, distribution.Command(),
		app.Command{Name: "verify", Run: verify.Command(ledger.Migrations)},
		files.Move(ledger.Migrations), files.Check(ledger.Migrations))
}
