// Command auth serves users, sessions and keys over gRPC.
package main

import (
	"github.com/coffer-budget/coffer/internal/app"
	"github.com/coffer-budget/coffer/services/auth"
)

func main() { app.Main("auth", auth.Run, auth.Migrations) }
