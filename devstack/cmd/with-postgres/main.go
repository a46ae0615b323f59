// Command with-postgres runs a command with TEST_DATABASE_URL naming a throw-away Postgres, or the one that it names
// already:
//
//	with-postgres go test work
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
		// The command has said itself what is wrong.
		return exit.ExitCode(), nil
	}
	if err != nil {
		return 1, err
	}
	return 0, nil
}
