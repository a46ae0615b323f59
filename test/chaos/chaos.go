// Package chaos runs a complete stack as separate processes under a mixed load of many users and
// injects random faults: it kills processes and delays or cuts connections. Afterwards it checks
// through the public interfaces that no acknowledged write is lost, applied twice or in part, or
// visible to other users.
//
// Each user keeps a model of their data. A response with a success or a rejection makes the model
// certain. Without a conclusive response, the model keeps several possible states, and the check
// accepts any of them. Requests with an idempotency key are repeated until their result is known.
//
// The files: chaos.go runs the stages, users.go sets users up and deletes the accounts of some,
// client.go sends requests, record.go is the model of a transaction, load.go, operations.go and
// reorganize.go are the load, faults.go injects faults, and check.go, sums.go and events.go check
// the result. transfers.go, imports.go, attachments.go and mirror.go have both the load and the
// checks of their subject; mirror.go also has the stream of live events. version.go compares states
// of transactions.
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

	"github.com/coffer-budget/coffer/devstack"
)

// Options of a run.
type Options struct {
	// Seed determines the operations and the faults. Their interleaving depends on the machine.
	Seed uint64
	// Length is the duration of load and faults. Setup and checks take additional time.
	Length time.Duration
	// Users is the number of users. It is even, because each user shares a budget with the next.
	Users    int
	Programs string
	// Only selects the faults with this substring in their names. Empty selects all.
	Only string
	// EventTimeout limits the time for events to be processed after the last fault.
	EventTimeout time.Duration
	Log          io.Writer
}

// Report is the result of a run.
type Report struct {
	// Acknowledged, Refused and Unknown count the writes that were accepted, rejected, and without
	// a conclusive response.
	Acknowledged, Rejected, Unknown int64
	Reads, Faults, Events           int64
	// Findings are violated guarantees. A correct stack has none.
	Findings []string
}

// String returns a summary in one line.
func (r Report) String() string {
	return fmt.Sprintf("%d faults; writes: %d acknowledged, %d rejected, %d unknown; %d reads; "+
		"%d events; %d findings",
		r.Faults, r.Acknowledged, r.Rejected, r.Unknown, r.Reads, r.Events, len(r.Findings))
}

// maxFindings is the number of findings of one kind that are reported. One defect often affects
// many users and transactions.
const maxFindings = 5

// run is the state that the stages share. Several goroutines use it at the same time.
type run struct {
	Options
	stack  *devstack.Stack
	links  *links
	engine engine
	users  []*user
	// leavers are users whose accounts are deleted during the load.
	leavers []*user
	began   time.Time

	acknowledged, rejected, unknown, reads, faults, events atomic.Int64

	// lock protects findings, found and the log.
	lock     sync.Mutex
	findings []string
	// found counts the findings by format.
	found map[string]int
}

// reportf reports a violated guarantee. The format identifies the kind of the finding.
func (r *run) reportf(format string, values ...any) {
	r.lock.Lock()
	defer r.lock.Unlock()
	if r.found[format]++; r.found[format] <= maxFindings {
		r.findings = append(r.findings,
			fmt.Sprintf("%6.1f s: ", time.Since(r.began).Seconds())+fmt.Sprintf(format, values...))
	}
}

func (r *run) logf(format string, values ...any) {
	r.lock.Lock()
	defer r.lock.Unlock()
	_, _ = fmt.Fprintf(r.Log, "%6.1f s  %s\n",
		time.Since(r.began).Seconds(), fmt.Sprintf(format, values...))
}

// Run starts a stack, runs load and faults, waits until the stack has recovered, checks it and
// removes it. It returns an error if the stack could not be started or set up.
func Run(ctx context.Context, options Options) (report Report, err error) {
	run := &run{Options: options, links: newLinks(), began: time.Now(), found: map[string]int{}}
	dir, err := os.MkdirTemp("", "coffer-chaos-")
	if err != nil {
		return Report{}, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	// PostgreSQL runs as another user if the test runs as root.
	if err := os.Chmod(dir, 0o711); err != nil {
		return Report{}, err
	}
	if run.engine, err = newEngine(dir); err != nil {
		return Report{}, err
	}
	const free = "127.0.0.1:0"
	run.stack, err = devstack.Start(ctx, devstack.Config{
		DataDir: filepath.Join(dir, "data"), HTTPAddr: free, AuthAddr: free, LedgerAddr: free,
		BudgetAddr: free, OCRAddr: free, NATSAddr: free,
		Programs: options.Programs, Link: run.links.between,
		Environment: map[string]string{
			"RATE_LIMIT": "0", "LOG_LEVEL": "ERROR", "OCR_TESSERACT": run.engine.program,
			"OCR_NEURAL": run.engine.neural,
			// The load takes processor time from the engine, which then may need longer than the
			// default limit.
			"OCR_ENGINE_TIMEOUT": "50s",
			"DELETION_GRACE":     "0",
		},
	})
	if err != nil {
		return Report{}, err
	}
	ctx, leave := context.WithCancel(ctx)
	defer func() {
		// Open event streams would delay the shutdown of the gateway.
		leave()
		err = errors.Join(err, run.stack.Stop())
	}()
	if err := run.setUp(ctx); err != nil {
		return Report{}, err
	}
	run.runLoad(ctx)
	run.check(ctx)
	return Report{
		Acknowledged: run.acknowledged.Load(), Rejected: run.rejected.Load(),
		Unknown: run.unknown.Load(), Reads: run.reads.Load(),
		Faults: run.faults.Load(), Events: run.events.Load(), Findings: run.findings,
	}, nil
}

// random returns the random source of one actor, derived from the seed.
func (r *run) random(actor string, n int) *rand.Rand {
	salt := uint64(n)
	for _, c := range actor {
		salt = salt*31 + uint64(c)
	}
	return rand.New(rand.NewPCG(r.Seed, salt)) //nolint:gosec // A run must be repeatable.
}

// runLoad runs sessions and faults for the configured length, then waits for the recovery. The
// sequences of faults for processes and for connections are independent, so that faults overlap.
func (r *run) runLoad(ctx context.Context) {
	working, stop := context.WithTimeout(ctx, r.Length)
	defer stop()
	var all sync.WaitGroup
	for _, u := range r.users {
		for n := range sessions {
			all.Go(func() { u.session(working, n) })
		}
	}
	all.Go(func() { r.breakParts(working) })
	all.Go(func() { r.breakLinks(working) })
	all.Go(func() { r.watch(working) })
	all.Go(func() { r.leave(working) })
	all.Wait()
	r.awaitRecovery(ctx)
}

// watch reports processes that end without a fault.
func (r *run) watch(ctx context.Context) {
	for {
		select {
		case err := <-r.stack.Failed:
			r.reportf("a part ended unexpectedly: %v", err)
		case <-ctx.Done():
			return
		}
	}
}
