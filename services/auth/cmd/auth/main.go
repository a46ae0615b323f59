// Command auth is the program of the auth service: it serves users, sessions and the keys of access
// tokens over gRPC.
//
//	auth               runs the service until SIGTERM
//	auth migrate       applies the migrations of the service's schema
//	auth await-schema  waits until the schema has all migrations of this release;
//	                   `await-schema serve` then runs the service
//	auth ready         reports with its exit code whether the running service is ready
//	auth replay-deletions  deletes the accounts again that a restored backup contains, see
//	                   docs/operations.md
//
// docs/configuration.md lists the environment variables. Package auth has the code.
package main

import (
	"github.com/coffer-budget/coffer/internal/app"
	"github.com/coffer-budget/coffer/services/auth"
)

func main() { app.Main("auth", auth.Run, auth.Migrations, auth.ReplayDeletions()) }
