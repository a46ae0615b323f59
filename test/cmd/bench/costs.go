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
	s, err := b.stack(ctx, "large")
	if err != nil {
		return err
	}
	// Reads are sent by one user. Their rows were written by the loads before.
	reader := s.writers[0]
	for _, c := range []struct {
		what string
		load load
	}{
		{"a create, 8 clients", load{clients: 8, requests: s.spending(writers), keyed: keyed}},
		{"a create, 64 clients", load{clients: 64, requests: s.spending(writers), keyed: keyed}},
		{"a create, 256 clients", load{clients: 256, requests: s.spending(writers), keyed: keyed}},
		{"a create, 64 clients on one wallet", load{
			clients: 64, requests: s.spending(1), keyed: keyed,
		}},
		{"a page of 50, 16 clients", load{
			clients: 16, requests: []request{reader.gets(firstPage)},
		}},
		{"a dashboard, 16 clients", load{
			clients: 16, requests: []request{reader.gets("/api/v1/dashboard/summary")},
		}},
	} {
		if err := b.cost(ctx, s, c.what, c.load); err != nil {
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
	ctx context.Context, s *stack, l load,
) (perSecond float64, costs map[string]float64, err error) {
	// The stack is idle before the load: the previous call has waited until its events were
	// consumed.
	before, err := spentByName()
	if err != nil {
		return 0, nil, err
	}
	a, err := b.wrk(ctx, s, l)
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
	requests := a.perSecond * b.length.Seconds()
	costs = map[string]float64{}
	for name := range after {
		costs[name] = float64(after[name]-before[name]) / ticks / requests * 1e6
	}
	return a.perSecond, costs, err
}

// spentByName returns the processor time of all processes of the stack, in ticks, added up by
// program. wrk is not included, because it has ended. The time of PostgreSQL includes that of
// backends that have ended.
func spentByName() (map[string]int, error) {
	all, err := processes()
	byName := map[string]int{}
	for i, p := range all {
		name := p.name
		if i == 0 {
			name = "bench"
		}
		byName[name] += p.ticks
		// The postmaster has reaped the backends of closed connections.
		if name == "postgres" {
			byName[name] += p.reaped
		}
	}
	return byName, err
}
