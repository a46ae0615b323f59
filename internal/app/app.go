// Package app runs a service as a process. It owns everything that belongs to the process and not
// to the service: the environment, logs, traces and metrics, the listener, signals, the exit code,
// and the commands.
//
// A program's main function calls Main with the service's name, Run function and migrations.
// Without arguments the program serves until SIGINT or SIGTERM. Each program has the commands
// `ready` and `version`, those with a database also `migrate` and `await-schema`, and a service can
// add further ones. A wrong configuration is reported with all problems in one message, before
// anything is listening. The exit code is 1 after an error.
//
// ParseEnv, NewLogger, SetLogger, Telemetry and RelaxGC are the parts of Main, for programs that
// run several services in one process.
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
	"slices"
	"strings"
	"syscall"
	"time"

	"google.golang.org/grpc/resolver/dns"

	"github.com/coffer-budget/coffer/internal/pg"
)

const (
	// resolveInterval is the minimum time between two DNS queries of gRPC for one name.
	resolveInterval = time.Second

	// databaseWait limits how long `migrate` waits for PostgreSQL. schemaWait limits how long
	// `await-schema` waits for `migrate` of another process. It is longer because that process may
	// be waiting for PostgreSQL.
	databaseWait = 10 * time.Minute
	schemaWait   = 15 * time.Minute
)

// version is set by the linker: -X github.com/coffer-budget/coffer/internal/app.version=1.2.3.
var version string

type process struct {
	Listen   string     `env:"LISTEN_ADDR" envDefault:":9000"`
	Metrics  string     `env:"METRICS_ADDR" envDefault:":9464"`
	LogLevel slog.Level `env:"LOG_LEVEL" envDefault:"INFO"`
}

// Command is an additional command of one service, for operators. Run gets the URL of the service's
// role (DATABASE_URL) and the arguments after the command's name. The process exits with 1 if it
// returns an error. A command `migrate` runs after the migrations, with MIGRATION_DATABASE_URL.
type Command struct {
	Name string
	Run  func(ctx context.Context, databaseURL string, args []string, out io.Writer) error
}

// Main is a service's main function. `migrate` applies the migrations to the schema with the
// service's name, using MIGRATION_DATABASE_URL. `await-schema` uses DATABASE_URL. Main does not
// return.
func Main[C any](
	name string, run func(ctx context.Context, config C, lis net.Listener) error, migrations fs.FS,
	commands ...Command,
) {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	err := command(ctx, name, run, migrations, commands)
	stop()
	if err != nil {
		fmt.Fprintf(os.Stderr, "%s: %v\n", name, err)
		os.Exit(1)
	}
	os.Exit(0)
}

func command[C any](
	ctx context.Context, name string, run func(context.Context, C, net.Listener) error,
	migrations fs.FS, commands []Command,
) error {
	if len(os.Args) < 2 {
		return serve(ctx, name, run)
	}
	switch os.Args[1] {
	case "migrate":
		if migrations == nil {
			return errors.New("has no database")
		}
		SetLogger(NewLogger(os.Stdout, slog.LevelInfo))
		return migrate(ctx, name, migrations, commands...)
	case "version":
		fmt.Println(Version())
		return nil
	case "ready":
		return ready(ctx, migrations != nil)
	}
	if migrations != nil {
		commands = append(commands, awaitSchema(migrations, func() error {
			return serve(ctx, name, run)
		}))
	}
	for _, c := range commands {
		if c.Name == os.Args[1] {
			return c.run(ctx, os.Args[2:])
		}
	}
	return unknown(os.Args[1], commands)
}

// unknown returns the error for a command that does not exist.
func unknown(name string, commands []Command) error {
	names := []string{"migrate", "ready", "version"}
	for _, c := range commands {
		if !slices.Contains(names, c.Name) {
			names = append(names, c.Name)
		}
	}
	return fmt.Errorf("unknown command %q: must be one of %s, or none to serve", name,
		strings.Join(names, ", "))
}

func migrate(ctx context.Context, name string, migrations fs.FS, commands ...Command) error {
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
	for _, c := range commands {
		if c.Name != "migrate" {
			continue
		}
		if err := c.Run(ctx, config.URL, nil, os.Stdout); err != nil {
			return err
		}
	}
	slog.InfoContext(ctx, "the schema is up to date", "schema", name, "version", Version())
	return nil
}

// awaitSchema returns the command `await-schema`. With the argument `serve`, the process then
// serves, for a machine without containers that run before others.
func awaitSchema(migrations fs.FS, serve func() error) Command {
	await := func(ctx context.Context, databaseURL string, args []string, out io.Writer) error {
		if len(args) > 0 && !slices.Equal(args, []string{"serve"}) {
			return fmt.Errorf("unknown argument %q: must be serve, or none", args)
		}
		log := NewLogger(out, slog.LevelInfo)
		err := pg.AwaitMigrations(ctx, databaseURL, migrations, schemaWait, log)
		if err != nil || len(args) == 0 {
			return err
		}
		// The command has read and unset it.
		if os.Getenv("DATABASE_URL_FILE") == "" {
			if err := os.Setenv("DATABASE_URL", databaseURL); err != nil {
				return err
			}
		}
		return serve()
	}
	return Command{"await-schema", await}
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

func serve[C any](
	ctx context.Context, name string, run func(context.Context, C, net.Listener) error,
) (err error) {
	process, processErr := ParseEnv[process](nil)
	config, configErr := ParseEnv[C](nil)
	// One message names the problems of both configurations.
	if err := errors.Join(processErr, configErr); err != nil {
		return err
	}
	SetLogger(NewLogger(os.Stdout, process.LogLevel))
	RelaxGC()
	// gRPC resolves a name again after a connection has ended or failed, by default at most every
	// 30 s. After a rolling restart, no address that it knows would be valid for so long.
	// deploy/k8s adds this interval to the time that a pod outlives its DNS record.
	dns.SetMinResolutionInterval(resolveInterval)
	stopTelemetry, err := Telemetry(ctx, name, process.Metrics)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, stopTelemetry()) }()
	lis, err := (&net.ListenConfig{}).Listen(ctx, "tcp", process.Listen)
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

// RelaxGC allows the heap to grow to three times the live data before a collection, unless GOGC is
// set. The live data are a few megabytes, so the process stays small, and the throughput increases
// by a few percent.
func RelaxGC() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(200)
	}
}

// Version returns the release set by the linker. Without one it returns the commit from which the
// program was built, or "devel".
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
