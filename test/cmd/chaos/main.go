// Command chaos starts a stack of separate processes, injects faults under load, and checks that no
// guarantee is violated.
//
// It exits with 1 and prints the findings if a guarantee is violated. A correct Coffer has no
// findings, so each one is a defect of the code or of the checks.
//
// The seed that it prints first repeats the faults of a run, although their effects also depend on
// timing. A longer run finds more: each fault hits the processes in a random state. The package
// test/chaos describes the faults and the guarantees.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"time"

	"github.com/coffer-budget/coffer/internal/app"
	"github.com/coffer-budget/coffer/test/chaos"
	"github.com/coffer-budget/coffer/test/programs"
)

func main() {
	seed := flag.Uint64("seed", 0, "repeat the faults of the run with this seed; 0: a new run")
	length := flag.Duration("length", 3*time.Minute, "duration of load and faults")
	users := flag.Int("users", 12, "number of users, which must be even")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	// A minute is enough for the events of a run, also on a busy machine.
	if err := run(ctx, chaos.Options{
		Seed: *seed, Length: *length, Users: *users, EventTimeout: time.Minute, Log: os.Stdout,
	}); err != nil {
		fmt.Fprintln(os.Stderr, "chaos:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, options chaos.Options) (err error) {
	// During faults, the logs of this process contain expected errors only. The services write
	// their logs to files.
	app.SetLogger(slog.New(slog.DiscardHandler))
	if options.Seed == 0 {
		options.Seed = uint64(time.Now().UnixNano()) //nolint:gosec // The value does not matter.
	}
	fmt.Println("seed", options.Seed)
	if options.Programs, err = os.MkdirTemp("", "coffer-programs-"); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(options.Programs)) }()
	if err := programs.Build(ctx, options.Programs); err != nil {
		return err
	}
	report, err := chaos.Run(ctx, options)
	if err != nil {
		return err
	}
	fmt.Println(report)
	for _, finding := range report.Findings {
		fmt.Println(finding)
	}
	if len(report.Findings) > 0 {
		return fmt.Errorf("guarantees were violated; -seed=%d repeats the faults", options.Seed)
	}
	return nil
}
