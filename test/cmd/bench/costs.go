package main

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"
)

// settleTime is the time after a load in which its events pass through the outbox, NATS and their
// consumers.
const settleTime = 5 * time.Second

// costs measures, with several loads, the processor time of a request in each process. Unlike a
// rate, this time is independent of the number of machines and of other programs on the machine.
// The rows have no goal, because the time depends on the processor.
func (b *bench) costs(ctx context.Context) error {
	target, err := b.stack(ctx, "large")
	if err != nil {
		return err
	}
	// Reads are sent by one user. Their rows were written by the loads before.
	reader := target.writers[0]
	creates := func(clients, wallets int) load {
		return load{clients: clients, requests: target.spending(wallets), keyed: keyed}
	}
	reads := func(path string) load {
		return load{clients: 16, requests: []request{reader.gets(path)}}
	}
	for _, tc := range []struct {
		what string
		load load
	}{
		{"a create, 8 clients", creates(8, writers)},
		{"a create, 64 clients", creates(64, writers)},
		{"a create, 256 clients", creates(256, writers)},
		{"a create, 64 clients on one wallet", creates(64, 1)},
		{"a page of 50, 16 clients", reads(firstPage)},
		{"a dashboard, 16 clients", reads("/api/v1/dashboard/summary")},
	} {
		if err := b.cost(ctx, target, tc.what, tc.load); err != nil {
			return err
		}
	}
	return nil
}

// cost runs a load and writes a row without a goal for each program that used processor time for
// it.
func (b *bench) cost(ctx context.Context, s *stack, what string, l load) error {
	_, costs, err := b.spend(ctx, s, l)
	if err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(costs)) {
		// Less than a microsecond per request is the program's work while idle.
		if costs[name] < 1 {
			continue
		}
		// NATS is embedded in this process.
		title := map[string]string{"bench": "NATS"}[name]
		if title == "" {
			title = name
		}
		_, err := b.compare(ctx, comparison{
			what: fmt.Sprintf("%s: %s", what, title), unit: "µs of a core",
			ours: func(context.Context) (float64, error) { return costs[name], nil },
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// spend runs a load and returns its rate, and by program the processor time per request in
// microseconds. It includes the consumers of the events.
func (b *bench) spend(
	ctx context.Context, target *stack, load load,
) (perSecond float64, costs map[string]float64, err error) {
	// The stack is idle before the load: the previous call has waited until its events were
	// consumed.
	before, err := spentByName()
	if err != nil {
		return 0, nil, err
	}
	measured, err := b.wrk(ctx, target, load)
	if err != nil {
		return 0, nil, err
	}
	// The wait also counts the idle time of each process: less than a microsecond per request.
	select {
	case <-ctx.Done():
		return 0, nil, ctx.Err()
	case <-time.After(settleTime):
	}
	after, err := spentByName()
	// wrk reports the rate and not the number of requests.
	requests := measured.perSecond * b.length.Seconds()
	costs = map[string]float64{}
	for name := range after {
		costs[name] = float64(after[name]-before[name]) / ticks / requests * 1e6
	}
	return measured.perSecond, costs, err
}

// spentByName returns the processor time of all processes of the stack, in ticks, added up by
// program. wrk is not included, because it has ended. The time of PostgreSQL includes that of
// backends that have ended.
func spentByName() (map[string]int, error) {
	all, err := processes()
	byName := map[string]int{}
	for i, parsed := range all {
		name := parsed.name
		if i == 0 {
			name = "bench"
		}
		byName[name] += parsed.ticks
		// The postmaster has reaped the backends of closed connections.
		if name == "postgres" {
			byName[name] += parsed.reaped
		}
	}
	return byName, err
}
