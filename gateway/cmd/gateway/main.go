// Command gateway answers Coffer's REST API.
package main

import (
	"github.com/coffer-budget/coffer/gateway"
	"github.com/coffer-budget/coffer/internal/app"
)

func main() { app.Main("gateway", gateway.Run, nil) }
