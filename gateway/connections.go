package gateway

import (
	"errors"

	"google.golang.org/grpc"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/coffer-budget/coffer/internal/rpc"
	authv1 "github.com/coffer-budget/coffer/proto/gen/coffer/auth/v1"
	budgetv1 "github.com/coffer-budget/coffer/proto/gen/coffer/budget/v1"
	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
)

// connections holds the connections to the services. The connections to ledger and budget carry no
// key, because users' tokens decide there. The connection to auth carries the gateway's key, so
// that auth trusts the client's address (ADR 49).
type connections struct {
	auth, ledger, budget grpc.ClientConnInterface
	// trust is the connection with the service key, for the gateway's own calls to auth.
	trust grpc.ClientConnInterface
	close func()
}

// dial opens the connections. It does not wait for the services.
func dial(config Config) (connections, error) {
	var opened []*grpc.ClientConn
	var failures error
	open := func(addr, service, key string) *grpc.ClientConn {
		conn, err := rpc.Dial(addr, service, rpc.Config{ServiceKey: key, TLS: config.TLS})
		if err != nil {
			failures = errors.Join(failures, err)
			return nil
		}
		opened = append(opened, conn)
		return conn
	}
	auth := authv1.AuthService_ServiceDesc.ServiceName
	connections := connections{
		auth:   open(config.AuthAddr, auth, rpc.GatewayKey(config.ServiceKey)),
		ledger: open(config.LedgerAddr, ledgerv1.LedgerService_ServiceDesc.ServiceName, ""),
		budget: open(config.BudgetAddr, budgetv1.BudgetService_ServiceDesc.ServiceName, ""),
		trust:  open(config.AuthAddr, auth, config.ServiceKey),
		close: func() {
			for _, conn := range opened {
				_ = conn.Close()
			}
		},
	}
	if failures != nil {
		connections.close()
	}
	return connections, failures
}

// to returns the connection for users' requests to the service with a proto package. Package rpc
// rejects calls to an unknown one.
func (c connections) to(service protoreflect.FullName) grpc.ClientConnInterface {
	switch service {
	case authv1.File_coffer_auth_v1_auth_proto.Package():
		return c.auth
	case ledgerv1.File_coffer_ledger_v1_ledger_proto.Package():
		return c.ledger
	}
	return c.budget
}
