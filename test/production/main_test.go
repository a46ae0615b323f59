// Package production tests Coffer as it runs in a cluster: each instance is a separate process with
// a separate address.
//
// The instances find each other through a DNS server of the tests. As in Kubernetes, the address of
// an instance is removed from DNS before the instance is terminated. The tests replace instances,
// upgrade and roll back a release, rotate keys and certificates, and restore backups, while a load
// of requests continues.
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
	"github.com/coffer-budget/coffer/services/ledger/verify"
	"github.com/coffer-budget/coffer/services/ocr"
)

// The test program is also the program of each service and of NATS. These variables select one, and
// the DNS server that it uses.
const (
	beService = "TEST_BE_SERVICE"
	askDNS    = "TEST_ASK_DNS"
)

func TestMain(m *testing.M) {
	if server := os.Getenv(askDNS); server != "" {
		dial := func(ctx context.Context, _, _ string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, "udp", server)
		}
		net.DefaultResolver = &net.Resolver{PreferGo: true, Dial: dial}
	}
	switch service := os.Getenv(beService); service {
	case "":
	case "auth":
		app.Main(service, auth.Run, auth.Migrations, auth.ReplayDeletions())
	case "ledger":
		app.Main(service, ledger.Run, ledger.Migrations,
			app.Command{Name: "verify", Run: verify.Command(ledger.Migrations)})
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
		fmt.Println("skipped: a process can have a separate loopback address only on Linux")
		os.Exit(0)
	}
	os.Exit(m.Run())
}
