// Command with-postgres runs a command with TEST_DATABASE_URL, the URL of a temporary PostgreSQL
// server that it starts and deletes:
//
//	with-postgres go test work
//
// If TEST_DATABASE_URL is already set, the command uses that server. with-postgres exits with the
// command's exit code. PG_BIN selects PostgreSQL's programs, as for `make run`.
//
// The server trades durability for speed and accepts enough connections for parallel tests, see
// package pgserver. SIGINT and SIGTERM end the command with SIGTERM, and then the server. On Linux
// the server also ends if with-postgres is killed.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"syscall"

	"github.com/coffer-budget/coffer/devstack/pgserver"
)

// variable holds the superuser's URL for tests.
const variable = "TEST_DATABASE_URL"

func main() {
	code, err := run(os.Args[1:])
	if err != nil {
		fmt.Fprintln(os.Stderr, "with-postgres:", err)
	}
	os.Exit(code)
}

func run(args []string) (code int, err error) {
	if len(args) == 0 {
		return 2, errors.New("no command given")
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	if os.Getenv(variable) == "" {
		server, err := pgserver.StartTemporary(ctx, os.Getenv("PG_BIN"))
		if err != nil {
			return 1, err
		}
		defer func() {
			if stopErr := server.Stop(); stopErr != nil {
				code, err = 1, stopErr
			}
		}()
		if err := os.Setenv(variable, server.URL); err != nil {
			return 1, err
		}
	}
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	err = cmd.Run()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok && exit.ExitCode() > 0 {
		// The command has already printed its error.
		return exit.ExitCode(), nil
	}
	if err != nil {
		return 1, err
	}
	return 0, nil
}
