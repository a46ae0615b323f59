// Package chaos runs a whole stack as separate processes under a mixed load of many users, breaks it at random, and then
// proves from outside that nothing was lost, doubled, half done, or shown to somebody else.
package chaos

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/coffer-budget/coffer/deploy/local"
)

// Options of a run.
type Options struct {
	// Seed decides what the users do and what breaks when; what meets what is up to the machine.
	Seed uint64
	// Length is how long things break; setting up and checking come on top.
	Length time.Duration
	// Users is an even number: each shares a budget with the next.
	Users int
	// Programs is the folder with the services' programs.
	Programs string
	// Only breaks what has this in its name; empty: everything.
	Only string
	// Arriving is how long events may take once nothing is broken.
	Arriving time.Duration
	// Log gets a line for each fault.
	Log io.Writer
}

// Report is what a run came to.
type Report struct {
	// Acknowledged, Refused and Unknown count the writes by their answers: done, not done, and none that tells.
	Acknowledged, Refused, Unknown int64
	Reads, Faults, Events          int64
	// Findings are broken promises; there should be none.
	Findings []string
}

// String is a line.
func (r Report) String() string {
	return fmt.Sprintf("%d faults; writes: %d acknowledged, %d refused, %d without a telling answer; %d reads; %d events; %d findings",
		r.Faults, r.Acknowledged, r.Refused, r.Unknown, r.Reads, r.Events, len(r.Findings))
}

// maxFindings of one kind are enough to understand what broke.
const maxFindings = 5

// run is what a run's parts share.
type run struct {
	Options
	stack  *local.Stack
	links  *links
	engine engine
	people []*person
	began  time.Time

	acknowledged, declined, untold, reads, faults, events atomic.Int64

	lock     sync.Mutex
	findings []string
	// found counts them by kind.
	found map[string]int
}

// find notes a broken promise.
func (r *run) find(format string, values ...any) {
	r.lock.Lock()
	defer r.lock.Unlock()
	if r.found[format]++; r.found[format] <= maxFindings {
		r.findings = append(r.findings, fmt.Sprintf("%6.1f s: ", time.Since(r.began).Seconds())+fmt.Sprintf(format, values...))
	}
}

func (r *run) logf(format string, values ...any) {
	r.lock.Lock()
	defer r.lock.Unlock()
	_, _ = fmt.Fprintf(r.Log, "%6.1f s  %s\n", time.Since(r.began).Seconds(), fmt.Sprintf(format, values...))
}

// Run makes a stack, breaks it, heals it, checks it and removes it. Its error says that there was nothing to check.
func Run(ctx context.Context, o Options) (report Report, err error) {
	r := &run{Options: o, links: newLinks(), began: time.Now(), found: map[string]int{}}
	dir, err := os.MkdirTemp("", "coffer-chaos-")
	if err != nil {
		return Report{}, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	// Postgres may run as another user.
	if err := os.Chmod(dir, 0o711); err != nil {
		return Report{}, err
	}
	if r.engine, err = newEngine(dir); err != nil {
		return Report{}, err
	}
	const free = "127.0.0.1:0"
	r.stack, err = local.Start(ctx, local.Config{
		DataDir: filepath.Join(dir, "data"), HTTPAddr: free, AuthAddr: free, LedgerAddr: free, BudgetAddr: free, OCRAddr: free, NATSAddr: free,
		Programs: o.Programs, Link: r.links.between,
		Environment: map[string]string{"RATE_LIMIT": "0", "LOG_LEVEL": "ERROR", "OCR_TESSERACT": r.engine.program},
	})
	if err != nil {
		return Report{}, err
	}
	ctx, leave := context.WithCancel(ctx)
	defer func() {
		// The people's streams would keep the gateway.
		leave()
		err = errors.Join(err, r.stack.Stop())
	}()
	if err := r.settle(ctx); err != nil {
		return Report{}, err
	}
	r.live(ctx)
	r.check(ctx)
	return Report{
		Acknowledged: r.acknowledged.Load(), Refused: r.declined.Load(), Unknown: r.untold.Load(), Reads: r.reads.Load(),
		Faults: r.faults.Load(), Events: r.events.Load(), Findings: r.findings,
	}, nil
}

// random is a source for one actor of the run.
func (r *run) random(actor string, n int) *rand.Rand {
	salt := uint64(n)
	for _, c := range actor {
		salt = salt*31 + uint64(c)
	}
	return rand.New(rand.NewPCG(r.Seed, salt)) //nolint:gosec // A run must be repeatable.
}

// live lets people work while things break, then mends all.
func (r *run) live(ctx context.Context) {
	working, stop := context.WithTimeout(ctx, r.Length)
	defer stop()
	var all sync.WaitGroup
	for _, p := range r.people {
		for n := range sessions {
			all.Go(func() { p.session(working, n) })
		}
	}
	all.Go(func() { r.breakParts(working) })
	all.Go(func() { r.breakLinks(working) })
	all.Go(func() { r.watch(working) })
	all.Wait()
	r.mend(ctx)
}

// watch reports parts that end although nobody broke them.
func (r *run) watch(ctx context.Context) {
	for {
		select {
		case err := <-r.stack.Failed:
			r.find("a part gave up: %v", err)
		case <-ctx.Done():
			return
		}
	}
}
