// Command bench measures Coffer against goals, most of them ratios: against raw Postgres doing the same work (pgbench, same
// server, same tables), or against a smaller question to itself. The two sides of a ratio alternate for several rounds, and
// the median counts; absolute figures say more about the machine.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"runtime/pprof"
	"strings"
	"syscall"
	"time"

	"github.com/coffer-budget/coffer/internal/app"
)

// options are what the command line says.
type options struct {
	rounds int
	length time.Duration
	// rows are how many transactions the large ledger has.
	rows int
	// only are the themes to measure; none: all.
	only string
	// vegeta is the command that sends more than can be answered.
	vegeta []string
}

func main() {
	short := flag.Bool("short", false, "a quick look: short rounds and a tenth of the rows")
	only := flag.String("only", "", "one theme only: creates, batches, costs, scale, together, reads, receipts or footprint")
	vegeta := flag.String("overload", "", "only measure what is left of creates at multiples of the capacity, with this vegeta command")
	write := flag.String("write", "", "put the figures into this page, between its marks")
	profile := flag.String("cpuprofile", "", "write where the time of the one-process stack went to this file, for go tool pprof")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	app.SetLogger(slog.New(slog.DiscardHandler))
	app.RelaxGC()
	o := options{rounds: 3, length: 5 * time.Second, rows: 5_000_000, only: *only, vegeta: strings.Fields(*vegeta)}
	if *short {
		o.rounds, o.length, o.rows = 3, 2*time.Second, 500_000
	}
	if err := profiled(*profile, func() error { return run(ctx, o, *write) }); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func profiled(name string, do func() error) error {
	if name == "" {
		return do()
	}
	file, err := os.Create(name)
	if err != nil {
		return err
	}
	if err := pprof.StartCPUProfile(file); err != nil {
		return err
	}
	defer pprof.StopCPUProfile()
	return do()
}

func run(ctx context.Context, o options, page string) (err error) {
	defer ungroup()()
	b, err := newBench(ctx, o)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, b.close()) }()
	if len(o.vegeta) > 0 {
		return b.overload(ctx)
	}
	fmt.Print(heading)
	for _, theme := range []struct {
		name    string
		measure func(context.Context) error
	}{
		{"together", b.together},
		{"creates", b.creates},
		{"batches", b.batches},
		{"costs", b.costs},
		{"scale", b.scale},
		{"reads", b.reads},
		{"receipts", b.receipts},
		{"footprint", b.footprint},
	} {
		if o.only != "" && o.only != theme.name {
			continue
		}
		if err := theme.measure(ctx); err != nil {
			return fmt.Errorf("%s: %w", theme.name, err)
		}
	}
	if page == "" {
		return nil
	}
	return b.write(ctx, page)
}
