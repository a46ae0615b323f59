package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/coffer-budget/coffer/test/programs"
)

// keyed is the share of creates with an Idempotency-Key.
const keyed = 0.1

// creates compares creates with the baseline at several numbers of clients. The services run as
// separate processes.
func (b *bench) creates(ctx context.Context) error {
	large, err := b.stack(ctx, "large")
	if err != nil {
		return err
	}
	if err := b.withoutGroupCommit(ctx, large); err != nil {
		return err
	}
	// peak is the rate with 64 clients. A later measurement runs at half of it.
	peak := 0.0
	// A goal of 0 means that there is none. With one wallet, all creates update the same balance.
	for _, tc := range []struct {
		clients, wallets int
		goal             float64
	}{{8, writers, 0}, {64, writers, 0.75}, {256, writers, 1.4}, {64, 1, 5}} {
		what := fmt.Sprintf("creates, %d clients", tc.clients)
		if tc.wallets == 1 {
			what += ", all on one wallet"
		}
		rate, err := b.compareCreates(ctx, large, what, tc.clients, tc.wallets, tc.goal)
		if err != nil {
			return err
		}
		if tc.clients == 64 && tc.wallets == writers {
			peak = rate
		}
	}
	return b.halfLoad(ctx, large, peak)
}

// batches compares the number of transactions per second that bulk creates reach with that of
// single creates. Both sides are measured in transactions per second, although a request of one
// side has 500 of them.
func (b *bench) batches(ctx context.Context) error {
	target, err := b.stack(ctx, "large")
	if err != nil {
		return err
	}
	// 500 is the maximum of a bulk create. With 8 clients, a few requests are in flight at any
	// time, as during imports.
	const clients, size = 8, 500
	var imports []request
	for _, u := range target.writers[:clients] {
		imports = append(imports, u.imports(size))
	}
	_, err = b.compare(ctx, comparison{
		what: fmt.Sprintf("transactions in bulk creates of %d, %d clients, against single creates",
			size, clients),
		unit: "/s", atLeast: 5,
		ours: func(ctx context.Context) (float64, error) {
			a, err := b.wrk(ctx, target, load{clients: clients, requests: imports, keyed: keyed})
			return size * a.perSecond, err
		},
		theirs: func(ctx context.Context) (float64, error) {
			a, err := b.wrk(ctx, target, load{
				clients: clients, requests: target.spending(writers), keyed: keyed,
			})
			return a.perSecond, err
		},
	})
	return err
}

// compareCreates compares creates with the baseline, and returns the rate of the creates.
func (b *bench) compareCreates(
	ctx context.Context, target *stack, what string, clients, wallets int, goal float64,
) (float64, error) {
	// The baseline updates as many balances as the creates.
	script, err := baselineScript(wallets)
	if err != nil {
		return 0, err
	}
	return b.compare(ctx, comparison{
		what: what, unit: "/s", atLeast: goal,
		ours: func(ctx context.Context) (float64, error) {
			a, err := b.wrk(ctx, target, load{
				clients: clients, requests: target.spending(wallets), keyed: keyed,
			})
			return a.perSecond, err
		},
		theirs: func(ctx context.Context) (float64, error) {
			a, err := b.pgbench(ctx, target, script, clients, 0)
			return a.perSecond, err
		},
	})
}

// spending returns a create request of each of the first users.
func (s *stack) spending(users int) []request {
	var requests []request
	for _, u := range s.writers[:users] {
		requests = append(requests, u.creates())
	}
	return requests
}

// halfLoad compares the 99th percentile of the latency of creates with the baseline. Each side runs
// at half of the rate that it reaches with 64 clients. At the full rate, the latency would only
// show the length of the queue.
func (b *bench) halfLoad(ctx context.Context, target *stack, peak float64) error {
	script, err := baselineScript(writers)
	if err != nil {
		return err
	}
	const clients = 64
	// The baseline's own peak rate.
	raw, err := b.pgbench(ctx, target, script, clients, 0)
	if err != nil {
		return err
	}
	_, err = b.compare(ctx, comparison{
		what: "creates at half of the peak rate, 99th percentile", unit: "ms", atMost: 4,
		ours: func(ctx context.Context) (float64, error) {
			// With this average pause, all clients together send half of the peak rate.
			pause := time.Duration(clients / (peak / 2) * float64(time.Second))
			a, err := b.wrk(ctx, target,
				load{
					clients: clients, requests: target.spending(writers), keyed: keyed,
					pause: pause,
				})
			return a.p99, err
		},
		theirs: func(ctx context.Context) (float64, error) {
			a, err := b.pgbench(ctx, target, script, clients, raw.perSecond/2)
			return a.p99, err
		},
	})
	return err
}

// withoutGroupCommit compares the ledger with one that runs a statement and a commit per create.
// Group commit must not slow down creates when few clients send them.
func (b *bench) withoutGroupCommit(ctx context.Context, base *stack) error {
	// The other programs are links to the unchanged ones.
	dir, unchanged := filepath.Join(b.dir, "without-group-commit"), b.programs
	if err := os.Mkdir(dir, 0o700); err != nil {
		return err
	}
	// The maximum group is one create, and there are enough writers for all clients.
	const batcher = "services/ledger/transactions/batcher.go"
	err := programs.BuildLedger(ctx, dir, unchanged,
		programs.Change{
			File: batcher, Old: "max(4, 2*runtime.GOMAXPROCS(0))\n",
			New: "32 * runtime.GOMAXPROCS(0)\n",
		},
		programs.Change{File: batcher, Old: "maxGroup = 128\n", New: "maxGroup = 1\n"})
	if err != nil {
		return err
	}
	// The next stack starts the changed ledger.
	b.programs = dir
	alone, err := b.stack(ctx, "without-group-commit")
	b.programs = unchanged
	if err != nil {
		return err
	}
	const clients = 8
	// side measures one of the two stacks. Both are idle while the other one is measured.
	side := func(base *stack) func(context.Context) (float64, error) {
		return func(ctx context.Context) (float64, error) {
			a, err := b.wrk(ctx, base, load{
				clients: clients, requests: base.spending(writers), keyed: keyed,
			})
			return a.perSecond, err
		}
	}
	_, err = b.compare(ctx, comparison{
		what: "creates, 8 clients, against no group commit", unit: "/s", atLeast: 1,
		ours:   side(base),
		theirs: side(alone),
	})
	if err != nil {
		return err
	}
	return b.stop("without-group-commit")
}
