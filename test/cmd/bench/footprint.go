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
	// ticks is the number of the kernel's clock ticks per second, in which it counts processor
	// time.
	ticks = 100
)

// footprint measures the memory of the processes after the benchmarks, and their processor time
// while idle.
func (b *bench) footprint(ctx context.Context) error {
	target, err := b.stack(ctx, "large")
	if err != nil {
		return err
	}
	// A last load makes sure that each process has recently worked, also if only this theme is
	// measured.
	creates := load{clients: 64, requests: target.spending(writers), keyed: keyed}
	if _, err := b.wrk(ctx, target, creates); err != nil {
		return err
	}
	all, err := processes()
	if err != nil {
		return err
	}
	for _, name := range []string{"gateway", "auth", "ledger", "budget", "ocr"} {
		i := slices.IndexFunc(all, func(p process) bool { return p.name == name })
		if i < 0 {
			return fmt.Errorf("%s is not running", name)
		}
		_, err := b.compare(ctx, comparison{
			// The goal is for the value itself, because there is no baseline for memory.
			what: "resident memory of " + name + " after the benchmarks", unit: "MiB", atMost: 64,
			ours: func(context.Context) (float64, error) {
				return float64(all[i].resident) / megabyte, nil
			},
		})
		if err != nil {
			return err
		}
	}
	// The idle stack must have the machine to itself.
	if err := b.stop("large"); err != nil {
		return err
	}
	return b.idle(ctx)
}

// idle measures the processor time of a new stack without requests: services, PostgreSQL, and this
// process, in which NATS is embedded.
func (b *bench) idle(ctx context.Context) error {
	if _, err := b.stack(ctx, "idle"); err != nil {
		return err
	}
	// Otherwise returning the memory of the preceding benchmarks to the kernel would count as the
	// stack's time.
	debug.FreeOSMemory()
	// The stack first completes its start and reaches its longest polling intervals.
	const settling, watching = 20 * time.Second, time.Minute
	// spent returns the processor time of all processes in seconds.
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

// process is this process or one of its descendants. Times are in ticks, and resident is in bytes.
type process struct {
	name        string
	pid, parent int
	// ticks is the processor time in user and kernel mode.
	ticks, resident int
	// reaped is the processor time of its children that have ended.
	reaped int
}

// processes returns this process and all its descendants, this one first. It reads /proc, which
// exists on Linux only.
func processes() ([]process, error) {
	files, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		return nil, err
	}
	// family[0] is replaced when the line of this process is read.
	family := []process{{pid: os.Getpid()}}
	var all []process
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			continue // The process has just ended.
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
	// The list grows while its elements are visited, so that it also receives the children of
	// children.
	for i := 0; i < len(family); i++ {
		for _, p := range all {
			if p.parent == family[i].pid {
				family = append(family, p)
			}
		}
	}
	return family, nil
}

// parseStat parses a line of /proc/PID/stat (proc_pid_stat(5)). The program's name is in
// parentheses and may contain any character, including parentheses and spaces.
func parseStat(line string) (process, error) {
	start, end := strings.IndexByte(line, '('), strings.LastIndexByte(line, ')')
	if start < 0 || end < start {
		return process{}, fmt.Errorf("%q is not a line of /proc/PID/stat", line)
	}
	fields := strings.Fields(line[end+1:])
	// The resident pages are the last field that is used.
	if len(fields) < 22 {
		return process{}, fmt.Errorf("%q has too few fields for /proc/PID/stat", line)
	}
	parsed := process{name: line[start+1 : end]}
	var user, system, reapedUser, reapedSystem, pages int
	// fields begins with the third field of the line, so fields[11] is field 14 of the manual page.
	for _, tc := range []struct {
		text string
		into *int
	}{
		{strings.TrimSpace(line[:start]), &parsed.pid},
		{fields[1], &parsed.parent},
		{fields[11], &user},
		{fields[12], &system},
		{fields[13], &reapedUser},
		{fields[14], &reapedSystem},
		{fields[21], &pages},
	} {
		n, err := strconv.Atoi(tc.text)
		if err != nil {
			return process{}, fmt.Errorf("parsing /proc/PID/stat: %w", err)
		}
		*tc.into = n
	}
	parsed.ticks, parsed.reaped = user+system, reapedUser+reapedSystem
	parsed.resident = pages * os.Getpagesize()
	return parsed, nil
}
