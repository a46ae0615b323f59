// Package app runs a service as a process: environment, logs, telemetry, listener, signals, exit code, and the commands
// `migrate`, `await-schema`, `version` and those of the service's own.
package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"net"
	"os"
	"os/signal"
	"runtime/debug"
	"strings"
	"syscall"
	"time"

	"google.golang.org/grpc/resolver/dns"

	"github.com/coffer-budget/coffer/internal/pg"
)

const (
	resolveInterval = time.Second

	// databaseWait limits how long `migrate` waits for PostgreSQL, and schemaWait how long `await-schema` waits for
	// another process's `migrate`, which waits for PostgreSQL itself.
	databaseWait = 10 * time.Minute
	schemaWait   = 15 * time.Minute
)

// version is set by the linker: -X github.com/coffer-budget/coffer/internal/app.version=1.2.3.
var version string

// process is the configuration of every process, whatever it serves.
type process struct {
	Listen   string     `env:"LISTEN_ADDR" envDefault:":9000"`
	Metrics  string     `env:"METRICS_ADDR" envDefault:":9464"`
	LogLevel slog.Level `env:"LOG_LEVEL" envDefault:"INFO"`
}

// Command is a command of a service's own, for operators. Run gets the arguments after the command's name, and the
// DATABASE_URL of the service's role. The process exits with 1 if it returns an error.
type Command struct {
	Name string
	Run  func(ctx context.Context, databaseURL string, args []string, out io.Writer) error
}

// Main is a service's main function. Without arguments it serves. The argument `migrate` brings the schema that has the
// service's name up to date, using MIGRATION_DATABASE_URL; `await-schema` waits until that has happened, using
// DATABASE_URL. Main does not return.
func Main[C any](name string, run func(ctx context.Context, config C, lis net.Listener) error, migrations fs.FS, commands ...Command) {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	err := command(ctx, name, run, migrations, commands)
	stop()
	if err != nil {
		fmt.Fprintf(os.Stderr, "%s: %v\n", name, err)
		os.Exit(1)
	}
	os.Exit(0)
}

func command[C any](ctx context.Context, name string, run func(context.Context, C, net.Listener) error, migrations fs.FS, commands []Command) error {
	if len(os.Args) < 2 {
		return serve(ctx, name, run)
	}
	switch os.Args[1] {
	case "migrate":
		if migrations == nil {
			return errors.New("has no database")
		}
		SetLogger(NewLogger(os.Stdout, slog.LevelInfo))
		return migrate(ctx, name, migrations)
	case "version":
		fmt.Println(Version())
		return nil
	}
	if migrations != nil {
		commands = append(commands, awaitSchema(migrations))
	}
	names := []string{"migrate", "version"}
	for _, c := range commands {
		if c.Name == os.Args[1] {
			return c.run(ctx, os.Args[2:])
		}
		names = append(names, c.Name)
	}
	return fmt.Errorf("unknown command %q: must be one of %s, or none to serve", os.Args[1], strings.Join(names, ", "))
}

func migrate(ctx context.Context, name string, migrations fs.FS) error {
	config, err := ParseEnv[struct {
		URL string `env:"MIGRATION_DATABASE_URL,required,notEmpty,unset"`
	}](nil)
	if err != nil {
		return err
	}
	if err := pg.AwaitServer(ctx, config.URL, databaseWait, slog.Default()); err != nil {
		return err
	}
	if err := pg.Migrate(ctx, config.URL, name, migrations); err != nil {
		return err
	}
	slog.InfoContext(ctx, "the schema is up to date", "schema", name, "version", Version())
	return nil
}

// awaitSchema returns the command that waits for another process's `migrate`.
func awaitSchema(migrations fs.FS) Command {
	return Command{"await-schema", func(ctx context.Context, databaseURL string, _ []string, out io.Writer) error {
		return pg.AwaitMigrations(ctx, databaseURL, migrations, schemaWait, NewLogger(out, slog.LevelInfo))
	}}
}

func (c Command) run(ctx context.Context, args []string) error {
	config, err := ParseEnv[struct {
		URL string `env:"DATABASE_URL,required,notEmpty,unset"`
	}](nil)
	if err != nil {
		return err
	}
	return c.Run(ctx, config.URL, args, os.Stdout)
}

func serve[C any](ctx context.Context, name string, run func(context.Context, C, net.Listener) error) (err error) {
	p, processErr := ParseEnv[process](nil)
	config, configErr := ParseEnv[C](nil)
	// One message names the problems of both configurations.
	if err := errors.Join(processErr, configErr); err != nil {
		return err
	}
	SetLogger(NewLogger(os.Stdout, p.LogLevel))
	RelaxGC()
	// A connection that ends or fails makes gRPC resolve the name again, but by default at most every 30 s. In a rolling
	// restart every address that it knows is gone by then. deploy/k8s adds this interval to the time that a pod outlives
	// its DNS record.
	dns.SetMinResolutionInterval(resolveInterval)
	stopTelemetry, err := Telemetry(ctx, name, p.Metrics)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, stopTelemetry()) }()
	lis, err := (&net.ListenConfig{}).Listen(ctx, "tcp", p.Listen)
	if err != nil {
		return fmt.Errorf("listening: %w", err)
	}
	slog.InfoContext(ctx, "starting", "version", Version(), "address", lis.Addr().String())
	if err := run(ctx, config, lis); err != nil {
		return err
	}
	slog.InfoContext(context.WithoutCancel(ctx), "stopped")
	return nil
}

// RelaxGC lets the heap grow to three times the live data before a collection, unless GOGC is set. Only a few megabytes live
// long, so the process stays small, and the throughput rises by a few percent.
func RelaxGC() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(200)
	}
}

// Version returns the release that the linker was given, otherwise the commit that the program was built from, or "devel"
// without either.
func Version() string {
	if version != "" {
		return version
	}
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, s := range info.Settings {
			if s.Key == "vcs.revision" {
				return s.Value
			}
		}
	}
	return "devel"
}
