// Command bench measures Coffer against its goals and writes the results to docs/benchmarks.md.
//
// Most goals are ratios, because absolute figures depend on the machine. The baseline of a ratio is
// PostgreSQL with the same work (pgbench on the same server and tables), or Coffer with a smaller
// request. The two sides of a ratio alternate for several rounds, and the median of the rounds is
// the result.
//
// The benchmarks are grouped into themes, each in a file: creates.go, costs.go, scale.go, reads.go,
// receipts.go and footprint.go. overload.go is separate: it sends more requests than the stack can
// process (make load). measure.go runs the comparisons and formats the table, wrk.go and pgbench.go
// run the load generators, stacks.go and users.go set up the stacks.
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

type options struct {
	// rounds is the number of measurements of each side of a comparison, and length the duration of
	// one.
	rounds int
	length time.Duration
	rows   int
	// only is the theme to measure. Empty means all.
	only string
	// vegeta is the command of the load generator for overload. It is empty if overload is not
	// measured.
	vegeta []string
	// before is the root of another source tree to compare with. It is empty if none is compared.
	before string
}

func main() {
	short := flag.Bool("short", false, "run quickly, with short rounds and a tenth of the rows")
	only := flag.String("only", "",
		"measure one theme only: creates, batches, costs, scale, reads, sync, "+
			"receipts or footprint")
	vegeta := flag.String("overload", "",
		"only measure the throughput of creates at multiples of the capacity, with this vegeta "+
			"command")
	before := flag.String("before", "",
		"only compare creates and reads with those of the programs of another source tree, in "+
			"this folder")
	rounds := flag.Int("rounds", 3, "measure each side of a ratio this many times")
	write := flag.String("write", "", "write the figures to this page, between its marks")
	profile := flag.String("cpuprofile", "", "write a CPU profile of this process to this file")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	// NATS runs in this process. It must not print its logs, and uses the same setting of the
	// garbage collector as the programs.
	app.SetLogger(slog.New(slog.DiscardHandler))
	app.RelaxGC()
	options := options{
		rounds: *rounds, length: 5 * time.Second, rows: 5_000_000, only: *only,
		vegeta: strings.Fields(*vegeta), before: *before,
	}
	if *short {
		options.length, options.rows = 2*time.Second, 500_000
	}
	if err := profiled(*profile, func() error { return run(ctx, options, *write) }); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// profiled calls do and writes a CPU profile, unless the name is empty.
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

// run measures the selected themes in order. A stack that a theme has started is used by the
// following ones. Without a page, the table is only printed.
func run(ctx context.Context, options options, page string) (err error) {
	defer ungroup()()
	bench, err := newBench(ctx, options)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, bench.close()) }()
	if len(options.vegeta) > 0 {
		return bench.overload(ctx)
	}
	fmt.Print(heading)
	if bench.before != "" {
		return bench.compareBefore(ctx)
	}
	for _, theme := range []struct {
		name    string
		measure func(context.Context) error
	}{
		{"creates", bench.creates},
		{"batches", bench.batches},
		{"costs", bench.costs},
		{"scale", bench.scale},
		{"reads", bench.reads},
		{"sync", bench.sync},
		{"receipts", bench.receipts},
		{"footprint", bench.footprint},
	} {
		if options.only != "" && options.only != theme.name {
			continue
		}
		if err := theme.measure(ctx); err != nil {
			return fmt.Errorf("%s: %w", theme.name, err)
		}
	}
	if page == "" {
		return nil
	}
	return bench.write(ctx, page)
}
