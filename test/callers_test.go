package test

import (
	"slices"
	"strings"
	"testing"

	"github.com/caarlos0/env/v11"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"

	"github.com/coffer-budget/coffer/gateway"
	restv1 "github.com/coffer-budget/coffer/proto/gen/coffer/rest/v1"
	"github.com/coffer-budget/coffer/services/auth"
	"github.com/coffer-budget/coffer/services/budget"
	"github.com/coffer-budget/coffer/services/ledger"
	"github.com/coffer-budget/coffer/services/ocr"
)

// TestCallersMatchAddressSettings compares two descriptions of the call graph: the callers of each
// RPC in the protos, and the required address settings of the services.
func TestCallersMatchAddressSettings(t *testing.T) {
	t.Parallel()
	graph := slices.Concat(edges[gateway.Config](t, "gateway"), edges[auth.Config](t, "auth"),
		edges[ledger.Config](t, "ledger"),
		edges[budget.Config](t, "budget"), edges[ocr.Config](t, "ocr"))
	require.NotEmpty(t, graph)
	var listed []string
	protoregistry.GlobalFiles.RangeFiles(func(file protoreflect.FileDescriptor) bool {
		for i := range file.Services().Len() {
			methods := file.Services().Get(i).Methods()
			for j := range methods.Len() {
				callee := string(file.Package().Parent().Name())
				callers, _ := proto.GetExtension(methods.Get(j).Options(),
					restv1.E_Callers).([]string)
				service := proto.GetExtension(methods.Get(j).Options(),
					restv1.E_Access) == restv1.Access_ACCESS_SERVICE
				require.False(t, service && len(callers) == 0,
					"%s lists no callers", methods.Get(j).FullName())
				for _, caller := range callers {
					listed = append(listed, caller+" "+callee)
				}
				if strings.HasPrefix(string(file.Package()), "coffer.") && len(callers) == 0 {
					listed = append(listed, "gateway "+callee)
				}
			}
		}
		return true
	})
	slices.Sort(graph)
	slices.Sort(listed)
	require.Equal(t, graph, slices.Compact(listed))
}

// edges returns "caller callee" for each required address in a service's configuration.
func edges[C any](t *testing.T, caller string) []string {
	t.Helper()
	params, err := env.GetFieldParams(new(C))
	require.NoError(t, err)
	var found []string
	for _, p := range params {
		if callee, ok := strings.CutSuffix(p.Key, "_ADDR"); ok && p.Required {
			found = append(found, caller+" "+strings.ToLower(callee))
		}
	}
	return found
}
