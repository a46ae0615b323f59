// Package test tests all of Coffer through REST, as its clients use it.
//
// The tests share one stack, which TestMain starts in this process. With BASE_URL they run against
// that installation instead, and skip what needs access to the processes. Tests that break or
// overload a stack start a separate one (ownStack).
//
// Each response is validated against the OpenAPI document. A run of all tests fails if it has not
// received each error code that the document lists, if a secret or an e-mail address is in the
// logs, traces or events, or if the id of a user is in logs or traces.
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
	// stack is nil if the tests run against BASE_URL.
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

// ownStack starts a stack that the test may break or overload. With an empty server, the stack has
// a separate PostgreSQL, which the test may stop.
func ownStack(t *testing.T, server string, environment map[string]string) *devstack.Stack {
	t.Helper()
	if stack == nil {
		t.Skip("the stack at BASE_URL must not be broken")
	}
	own, err := devstack.StartEphemeral(t.Context(), server, environment)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, own.Stop()) })
	return own
}

func run(m *testing.M) (code int, err error) {
	// The library validates dates, but ids only on request.
	openapi3.DefineStringFormatValidator("uuid",
		openapi3.NewRegexpFormatValidator(openapi3.FormatOfStringForUUIDOfRFC9562))
	if contract, err = openapi3.NewLoader().LoadFromFile("../gateway/openapi.json"); err != nil {
		return 0, err
	}
	if router, err = gorillamux.NewRouter(contract); err != nil {
		return 0, err
	}
	if baseURL = os.Getenv("BASE_URL"); baseURL != "" {
		return m.Run(), nil
	}
	record, err := newRecord()
	if err != nil {
		return 0, err
	}
	defer func() { _ = os.Remove(record.file.Name()) }()
	stack, err = devstack.StartEphemeral(context.Background(), os.Getenv("TEST_DATABASE_URL"),
		withProvider(map[string]string{
			"RATE_LIMIT": "0",
			// Empty without make. Tesseract then reads alone.
			"OCR_NEURAL": os.Getenv("OCR_NEURAL"),
			// All tests share the processors with the OCR engine, which then may need longer than
			// the default limit.
			"OCR_ENGINE_TIMEOUT": "50s",
		}))
	if err != nil {
		return 0, fmt.Errorf("starting a stack: %w", err)
	}
	baseURL = stack.URL
	code = m.Run()
	// Only a run of all tests can receive every error.
	whole := flag.Lookup("test.run").Value.String() == ""
	if missing := untested(); code == 0 && whole && len(missing) > 0 {
		err = fmt.Errorf(
			"no test has received these errors, which the OpenAPI document lists:\n  %s",
			strings.Join(missing, "\n  "),
		)
	}
	undeclared, failure := record.undeclared()
	if len(undeclared) > 0 {
		failure = fmt.Errorf("RPCs returned errors that they do not declare:\n  %s",
			strings.Join(undeclared, "\n  "))
	}
	err = errors.Join(err, failure)
	leaks, failure := record.leaks(stack, whole)
	if len(leaks) > 0 {
		failure = fmt.Errorf("the record has secrets, e-mail addresses or ids of users:\n  %s",
			strings.Join(leaks[:min(10, len(leaks))], "\n  "))
	}
	err = errors.Join(err, failure)
	return code, errors.Join(err, stack.Stop())
}
