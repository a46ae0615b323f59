package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/coffer-budget/coffer/test/programs"
)

// The goals against the other source tree: for a rate, and for the processor time per request.
const (
	minKept = 0.95
	maxCost = 1.05
)

// compareBefore compares this source tree with another one, usually that of an earlier commit. The
// programs of both run at the same time, on separate PostgreSQL servers, and are measured in turn,
// so that a change of the machine's speed affects both.
func (b *bench) compareBefore(ctx context.Context) error {
	now, err := b.stack(ctx, "now")
	if err != nil {
		return err
	}
	ours := b.programs
	b.programs = filepath.Join(b.dir, "programs-before")
	if err := os.Mkdir(b.programs, 0o700); err != nil {
		return err
	}
	if err := programs.BuildFrom(ctx, b.before, b.programs); err != nil {
		return err
	}
	// This stack starts the programs of the other tree.
	before, err := b.stack(ctx, "before")
	b.programs = ours
	if err != nil {
		return err
	}
	creates := func(wallets int) func(*stack) []request {
		return func(s *stack) []request { return s.spending(wallets) }
	}
	for _, tc := range []struct {
		what     string
		clients  int
		requests func(*stack) []request
	}{
		{"creates, 8 clients", 8, creates(writers)},
		{"creates, 64 clients", 64, creates(writers)},
		{"creates, 256 clients", 256, creates(writers)},
		{"creates, 64 clients, all on one wallet", 64, creates(1)},
		// The rows of the pages were written by the creates.
		{"pages of 50, 16 clients", 16, func(s *stack) []request {
			return []request{s.writers[0].gets(firstPage)}
		}},
		{"dashboards, 16 clients", 16, func(s *stack) []request {
			return []request{s.writers[0].gets("/api/v1/dashboard/summary")}
		}},
	} {
		if err := b.compareStacks(ctx, tc.what, now, before, tc.clients, tc.requests); err != nil {
			return fmt.Errorf("%s: %w", tc.what, err)
		}
	}
	return nil
}

// compareStacks adds two rows: one compares the rates of two stacks, and one compares the processor
// time per request in the same rounds. The processor time includes the consumers of the events.
// Unlike the rate, it does not depend on the speed of the disk.
func (b *bench) compareStacks(
	ctx context.Context, what string, now, before *stack, clients int,
	requests func(*stack) []request,
) error {
	var rates, costs [2][]float64
	sides := []*stack{now, before}
	for round := range b.rounds {
		for i := range sides {
			// Each side is the first in every second round.
			side := (round + i) % len(sides)
			s := sides[side]
			rate, byName, err := b.spend(ctx, s, load{
				clients: clients, requests: requests(s), keyed: keyed,
			})
			if err != nil {
				return err
			}
			total := 0.0
			for _, micros := range byName {
				total += micros
			}
			rates[side], costs[side] = append(rates[side], rate), append(costs[side], total)
		}
	}
	what += ", against the other tree"
	b.add(comparison{what: what, unit: "/s", atLeast: minKept}, rates[0], rates[1])
	b.add(comparison{what: what, unit: "µs of a core", atMost: maxCost}, costs[0], costs[1])
	return nil
}
