// Package test holds Coffer to its contract over HTTP, as its clients see it: on a stack of its own, or on the one that
// BASE_URL names.
package test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/routers"
	"github.com/getkin/kin-openapi/routers/gorillamux"
	"github.com/stretchr/testify/require"

	"github.com/coffer-budget/coffer/devstack"
)

var (
	// stack is nil when the tests run against BASE_URL.
	stack    *devstack.Stack
	baseURL  string
	contract *openapi3.T
	router   routers.Router
)

func TestMain(m *testing.M) {
	code, err := run(m)
	if err != nil {
		fmt.Fprintln(os.Stderr, "test:", err)
		code = 1
	}
	os.Exit(code)
}

// ownStack starts a stack that a test may break or overrun. Whose Postgres it may halt needs one of its own: server is empty then.
func ownStack(t *testing.T, server string, environment map[string]string) *devstack.Stack {
	t.Helper()
	if stack == nil {
		t.Skip("the stack of BASE_URL is not ours to break")
	}
	own, err := devstack.StartEphemeral(t.Context(), server, environment)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, own.Stop()) })
	return own
}

func run(m *testing.M) (code int, err error) {
	if contract, err = openapi3.NewLoader().LoadFromFile("../gateway/openapi.json"); err != nil {
		return 0, err
	}
	if router, err = gorillamux.NewRouter(contract); err != nil {
		return 0, err
	}
	if baseURL = os.Getenv("BASE_URL"); baseURL != "" {
		return m.Run(), nil
	}
	kept, err := keepRecord()
	if err != nil {
		return 0, err
	}
	defer func() { _ = os.Remove(kept.file.Name()) }()
	stack, err = devstack.StartEphemeral(context.Background(), os.Getenv("TEST_DATABASE_URL"), map[string]string{
		"RATE_LIMIT": "0",
		// All tests share the processors with the OCR engine, which then may need longer than the default limit.
		"OCR_ENGINE_TIMEOUT": "50s",
	})
	if err != nil {
		return 0, fmt.Errorf("starting a stack: %w", err)
	}
	baseURL = stack.URL
	code = m.Run()
	// Only a whole run can have seen everything.
	whole := flag.Lookup("test.run").Value.String() == ""
	if missing := missed(); code == 0 && whole && len(missing) > 0 {
		err = fmt.Errorf("no test has seen these errors, which the OpenAPI document promises:\n  %s", strings.Join(missing, "\n  "))
	}
	leaks, failure := kept.leaks(stack, whole)
	if len(leaks) > 0 {
		failure = fmt.Errorf("written to logs, traces or events, where it must not be:\n  %s", strings.Join(leaks[:min(10, len(leaks))], "\n  "))
	}
	err = errors.Join(err, failure)
	return code, errors.Join(err, stack.Stop())
}
