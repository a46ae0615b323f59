package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"time"
)

const (
	megabyte = 1 << 20
	// ticks are what the kernel counts a process's time in, per second.
	ticks = 100
)

// footprint tells what the processes hold after the run, and what they use while nobody asks for anything.
func (b *bench) footprint(ctx context.Context) error {
	s, err := b.stack(ctx, "large", true)
	if err != nil {
		return err
	}
	if _, err := b.wrk(ctx, s, load{clients: 64, requests: s.spending(writers), keyed: keyed}); err != nil {
		return err
	}
	all, err := processes()
	if err != nil {
		return err
	}
	for _, name := range []string{"gateway", "auth", "ledger", "budget", "ocr"} {
		i := slices.IndexFunc(all, func(p process) bool { return p.name == name })
		if i < 0 {
			return fmt.Errorf("%s does not run", name)
		}
		_, err := b.compare(ctx, comparison{
			what: "memory of " + name + " after all this, resident", unit: "MiB", atMost: 64,
			ours: func(context.Context) (float64, error) { return float64(all[i].resident) / megabyte, nil },
		})
		if err != nil {
			return err
		}
	}
	if err := b.stop("large"); err != nil {
		return err
	}
	return b.idle(ctx)
}

// idle adds up the whole of a new stack: services, Postgres, and this process, which has NATS in it.
func (b *bench) idle(ctx context.Context) error {
	if _, err := b.stack(ctx, "idle", true); err != nil {
		return err
	}
	// What this process gives back of the memory of themes before is not the stack's doing.
	debug.FreeOSMemory()
	const settling, watching = 20 * time.Second, time.Minute
	spent := func() (sum float64, err error) {
		all, err := processes()
		for _, p := range all {
			sum += float64(p.ticks) / ticks
		}
		return sum, err
	}
	_, err := b.compare(ctx, comparison{
		what: "processor time of the whole stack while idle", unit: "% of a core", atMost: 1,
		ours: func(context.Context) (float64, error) {
			time.Sleep(settling)
			before, err := spent()
			if err != nil {
				return 0, err
			}
			time.Sleep(watching)
			after, err := spent()
			return (after - before) / watching.Seconds() * 100, err
		},
	})
	return err
}

// process is this one or one that it has started, directly or not.
type process struct {
	name            string
	pid, parent     int
	ticks, resident int
	// reaped is the time of its children that have ended.
	reaped int
}

// processes reads /proc, so it knows Linux only.
func processes() ([]process, error) {
	files, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		return nil, err
	}
	family := []process{{pid: os.Getpid()}}
	var all []process
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			continue // It has just ended.
		}
		p, err := parseStat(string(text))
		if err != nil {
			return nil, err
		}
		if p.pid == os.Getpid() {
			family[0] = p
			continue
		}
		all = append(all, p)
	}
	for i := 0; i < len(family); i++ {
		for _, p := range all {
			if p.parent == family[i].pid {
				family = append(family, p)
			}
		}
	}
	return family, nil
}

// parseStat reads a line of proc_pid_stat(5); the name is in brackets and may hold any character.
func parseStat(line string) (process, error) {
	start, end := strings.IndexByte(line, '('), strings.LastIndexByte(line, ')')
	if start < 0 || end < start {
		return process{}, fmt.Errorf("%q is no line of a process", line)
	}
	fields := strings.Fields(line[end+1:])
	if len(fields) < 22 {
		return process{}, fmt.Errorf("%q is too short for a process", line)
	}
	p := process{name: line[start+1 : end]}
	var user, system, reapedUser, reapedSystem, pages int
	for _, f := range []struct {
		text string
		into *int
	}{
		{strings.TrimSpace(line[:start]), &p.pid},
		{fields[1], &p.parent},
		{fields[11], &user},
		{fields[12], &system},
		{fields[13], &reapedUser},
		{fields[14], &reapedSystem},
		{fields[21], &pages},
	} {
		n, err := strconv.Atoi(f.text)
		if err != nil {
			return process{}, fmt.Errorf("reading the line of a process: %w", err)
		}
		*f.into = n
	}
	p.ticks, p.reaped, p.resident = user+system, reapedUser+reapedSystem, pages*os.Getpagesize()
	return p, nil
}
