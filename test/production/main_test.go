// Package production runs Coffer as a cluster does: every instance a process of its own with an address of its own, found by
// name. The names are answered by the tests' own DNS server, and those of whoever is to go are taken away first.
package production

import (
	"context"
	"fmt"
	"net"
	"os"
	"runtime"
	"testing"

	"github.com/coffer-budget/coffer/gateway"
	"github.com/coffer-budget/coffer/internal/app"
	"github.com/coffer-budget/coffer/services/auth"
	"github.com/coffer-budget/coffer/services/budget"
	"github.com/coffer-budget/coffer/services/ledger"
	"github.com/coffer-budget/coffer/services/ocr"
)

// The test program is also each service's program, and NATS: with these variables it is the one that they name.
const (
	beService = "TEST_BE_SERVICE"
	askDNS    = "TEST_ASK_DNS"
)

func TestMain(m *testing.M) {
	if server := os.Getenv(askDNS); server != "" {
		net.DefaultResolver = &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, "udp", server)
		}}
	}
	switch service := os.Getenv(beService); service {
	case "":
	case "auth":
		app.Main(service, auth.Run, auth.Migrations)
	case "ledger":
		app.Main(service, ledger.Run, ledger.Migrations)
	case "budget":
		app.Main(service, budget.Run, budget.Migrations)
	case "ocr":
		app.Main(service, ocr.Run, ocr.Migrations)
	case "gateway":
		app.Main(service, gateway.Run, nil)
	case "nats":
		runNATS()
	default:
		fmt.Fprintln(os.Stderr, "no such service:", service)
		os.Exit(2)
	}
	if runtime.GOOS != "linux" {
		fmt.Println("skipped: elsewhere than on Linux a process cannot have a loopback address of its own")
		os.Exit(0)
	}
	os.Exit(m.Run())
}
