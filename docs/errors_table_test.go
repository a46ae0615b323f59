package docs

import (
	"go/ast"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// statusOf maps gRPC codes to the HTTP statuses that grpc-gateway returns for them.
var statusOf = map[string]int{
	"InvalidArgument": http.StatusBadRequest, "FailedPrecondition": http.StatusBadRequest, "Unauthenticated": http.StatusUnauthorized,
	"PermissionDenied": http.StatusForbidden, "NotFound": http.StatusNotFound, "AlreadyExists": http.StatusConflict,
	"ResourceExhausted": http.StatusTooManyRequests, "Canceled": 499, "Internal": http.StatusInternalServerError,
	"Unavailable": http.StatusServiceUnavailable, "DeadlineExceeded": http.StatusGatewayTimeout,
}

// statusConstants are the constants in the gateway's table statusByReason.
var statusConstants = map[string]int{
	"StatusConflict": http.StatusConflict, "StatusPreconditionFailed": http.StatusPreconditionFailed,
	"StatusRequestEntityTooLarge": http.StatusRequestEntityTooLarge, "StatusUnsupportedMediaType": http.StatusUnsupportedMediaType,
	"StatusTooManyRequests": http.StatusTooManyRequests, "StatusMethodNotAllowed": http.StatusMethodNotAllowed,
	"StatusInternalServerError": http.StatusInternalServerError,
}

// TestErrorTable collects the errors that the services declare, and the statuses that the gateway returns for them.
func TestErrorTable(t *testing.T) {
	t.Parallel()
	exceptions := exceptionalStatuses(t)
	want := map[string][]int{}
	add := func(code, reason string) {
		status, ok := exceptions[reason]
		if !ok {
			status, ok = statusOf[code]
		}
		require.True(t, ok, "the status of %s, code %s, is not known", reason, code)
		if !slices.Contains(want[reason], status) {
			want[reason] = append(want[reason], status)
			slices.Sort(want[reason])
		}
	}
	for _, dir := range []string{"internal/apierr", "internal/rpc", "gateway", "services/auth", "services/ledger", "services/budget", "services/ocr"} {
		eachFile(t, dir, func(f *ast.File) {
			ast.Inspect(f, func(n ast.Node) bool {
				if code, reason := declared(n); reason != "" {
					add(code, reason)
				}
				return true
			})
		})
	}
	got := map[string][]int{}
	for _, row := range table(t, "docs/errors.md", "## Codes") {
		for status := range strings.SplitSeq(row[1], ", ") {
			n, err := strconv.Atoi(status)
			require.NoError(t, err)
			reason := strings.Trim(row[0], "`")
			got[reason] = append(got[reason], n)
		}
	}
	require.Equal(t, want, got)
}

// declared returns the code and the reason of an error declared by apierr.New(codes.NotFound, "WALLET_NOT_FOUND", ...) or by a literal
// of apierr.Error. The reason is "" for other nodes.
func declared(n ast.Node) (code, reason string) {
	switch n := n.(type) {
	case *ast.CallExpr:
		if name := nameOf(n.Fun); name != "New" || len(n.Args) != 3 {
			return "", ""
		}
		return nameOf(n.Args[0]), text(n.Args[1])
	case *ast.CompositeLit:
		if nameOf(n.Type) != "Error" {
			return "", ""
		}
		for _, element := range n.Elts {
			pair, ok := element.(*ast.KeyValueExpr)
			if !ok {
				continue
			}
			switch nameOf(pair.Key) {
			case "Code":
				code = nameOf(pair.Value)
			case "Reason":
				reason = text(pair.Value)
			}
		}
	}
	return code, reason
}

// exceptionalStatuses parses the gateway's statusByReason.
func exceptionalStatuses(t testing.TB) map[string]int {
	t.Helper()
	statuses := map[string]int{}
	eachFile(t, "gateway", func(f *ast.File) {
		ast.Inspect(f, func(n ast.Node) bool {
			spec, ok := n.(*ast.ValueSpec)
			if !ok || spec.Names[0].Name != "statusByReason" {
				return true
			}
			for _, element := range spec.Values[0].(*ast.CompositeLit).Elts {
				pair := element.(*ast.KeyValueExpr)
				status, known := statusConstants[nameOf(pair.Value)]
				require.True(t, known, "%s", nameOf(pair.Value))
				statuses[text(pair.Key)] = status
			}
			return false
		})
	})
	require.NotEmpty(t, statuses)
	return statuses
}

// nameOf returns an identifier without its package, or "" for other expressions.
func nameOf(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.Ident:
		return e.Name
	case *ast.SelectorExpr:
		return e.Sel.Name
	}
	return ""
}

// text returns the value of a string literal, or "" for other expressions.
func text(e ast.Expr) string {
	literal, ok := e.(*ast.BasicLit)
	if !ok {
		return ""
	}
	s, err := strconv.Unquote(literal.Value)
	if err != nil {
		return ""
	}
	return s
}
