// Command gateway is the program of the gateway: it serves the REST API and the web console over
// HTTP, and calls the services over gRPC. It has no database, so it has no commands for migrations.
//
// docs/configuration.md lists the environment variables. Package gateway has the code.
package main

import (
	"github.com/coffer-budget/coffer/gateway"
	"github.com/coffer-budget/coffer/internal/app"
)

func main() { app.Main("gateway", gateway.Run, nil) }
