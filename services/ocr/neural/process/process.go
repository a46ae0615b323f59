// Package process starts, supervises and ends ocr-neural, the confined process of the neural
// engine, and sends pages to it.
//
// The process starts with the first page and ends after ten idle minutes. It is killed when a page
// fails, exceeds its time or is canceled, and the next page starts it again. So a failure costs one
// page, and no process remains after Stop. Its responses are checked by package neural. ErrFailed
// marks all failures of the engine.
package process

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync/atomic"
	"time"

	"github.com/coffer-budget/coffer/services/ocr/neural"
)

const (
	// Program is the program's name in the folder with its models.
	Program = "ocr-neural"
	// The process ends after idleTime without a request, because its models occupy memory.
	idleTime = 10 * time.Minute
	// recoveryTime is the time after a failure in which the engine counts as unavailable, unless it
	// reads another page.
	recoveryTime = 10 * time.Minute
	// memory limits heap and stacks. The process uses up to 400 MiB. addressSpace also counts what
	// the process only reserves, and limits memory on kernels that do not enforce the first limit
	// for mappings.
	memory, addressSpace = 1 << 30, 4 << 30
	// processorTime, in seconds, ends a process that hangs and has survived the service. Otherwise
	// it only causes a restart.
	processorTime = 4 * 60 * 60
)

var (
	// ErrNotInstalled means that the program or its models are not installed.
	ErrNotInstalled = errors.New("the neural engine is not installed")
	// ErrFailed marks failures of the engine. A page without text is not one.
	ErrFailed = errors.New("the neural engine failed")
	// ErrAttemptTooLong is the cause of a context that limits an attempt to read a page, while the
	// request continues. Such a page counts as a failure of the engine.
	ErrAttemptTooLong = errors.New("the attempt took too long")
)

// Process runs ocr-neural. It serves one page at a time, because a second one would compete for the
// same processors. It is safe for concurrent use.
type Process struct {
	dir string
	// limit is the time for a page, including the start of the process. idle is idleTime, and
	// recovery recoveryTime, except in tests.
	limit, idle, recovery time.Duration
	// turn holds a value while a request uses child.
	turn chan struct{}
	// child is nil while no process runs.
	child  *child
	expiry *time.Timer
	// failing is set if the last page failed, until recovered fires. failures counts such pages.
	// Canceled requests do not count.
	failing   atomic.Bool
	recovered *time.Timer
	failures  atomic.Int64
}

// New returns a process that is not started yet. dir contains the program and its models.
func New(dir string, limit time.Duration) *Process {
	return &Process{
		dir: dir, limit: limit, idle: idleTime, recovery: recoveryTime,
		turn: make(chan struct{}, 1),
	}
}

// Check returns ErrNotInstalled if the program or its models are not installed.
func (p *Process) Check() error {
	for _, name := range []string{Program, "contents"} {
		if _, err := os.Stat(filepath.Join(p.dir, name)); err != nil {
			return fmt.Errorf("%w: %w", ErrNotInstalled, err)
		}
	}
	return nil
}

// Available reports whether the engine is installed and did not fail on the last page within
// recoveryTime.
func (p *Process) Available() bool { return !p.failing.Load() && p.Check() == nil }

// Read reads the words on a page, and measures the processor time, also if it fails. It returns an
// error that wraps ErrFailed, also if ctx ends or another page occupies the process for too long.
func (p *Process) Read(ctx context.Context, req neural.Request) (neural.Page, error) {
	wait := time.NewTimer(p.limit)
	defer wait.Stop()
	select {
	case p.turn <- struct{}{}:
		defer func() { <-p.turn }()
	case <-wait.C:
		return neural.Page{}, fmt.Errorf("%w: %s is busy", ErrFailed, Program)
	case <-ctx.Done():
		return neural.Page{}, fmt.Errorf("%w: %w", ErrFailed, ctx.Err())
	}
	for _, timer := range []*time.Timer{p.expiry, p.recovered} {
		if timer != nil {
			timer.Stop()
		}
	}
	limited, cancel := context.WithTimeout(ctx, p.limit)
	defer cancel()
	page, err := p.exchange(limited, req)
	if err == nil {
		p.failing.Store(false)
		p.expiry = time.AfterFunc(p.idle, p.expire)
		return page, nil
	}
	if limited.Err() != nil {
		err = limited.Err()
	}
	if ctx.Err() == nil || errors.Is(context.Cause(ctx), ErrAttemptTooLong) {
		p.failing.Store(true)
		p.recovered = time.AfterFunc(p.recovery, func() { p.failing.Store(false) })
		p.failures.Add(1)
	}
	failed := neural.Page{Processor: page.Processor}
	return failed, fmt.Errorf("%w: %s: %w", ErrFailed, Program, err)
}

// exchange sends a page to the process and returns its response. A process that served other pages
// and now ends has most likely been killed, so the page is sent to a new one. After an error no
// process runs.
func (p *Process) exchange(ctx context.Context, req neural.Request) (neural.Page, error) {
	warm := p.child != nil
	page, err := p.send(ctx, req)
	if err != nil && warm && ctx.Err() == nil {
		return p.send(ctx, req)
	}
	return page, err
}

func (p *Process) send(ctx context.Context, req neural.Request) (neural.Page, error) {
	if p.child != nil && p.child.hasEnded() {
		p.discard()
	}
	if p.child == nil {
		var err error
		if p.child, err = start(p.dir); err != nil {
			return neural.Page{}, err
		}
	}
	started := p.child
	before := started.processorTime()
	page, err := started.exchange(ctx, req)
	if err != nil {
		err = fmt.Errorf("%w: %s", err, p.discard())
	}
	page.Processor = started.processorTime() - before
	return page, err
}

func (p *Process) discard() string {
	complaint := p.child.kill()
	p.child = nil
	return complaint
}

func (p *Process) expire() {
	select {
	case p.turn <- struct{}{}:
		defer func() { <-p.turn }()
		p.close()
	default:
	}
}

// Failures returns the number of pages on which the engine failed.
func (p *Process) Failures() int64 { return p.failures.Load() }

// Stop ends the process. It waits for a request in progress.
func (p *Process) Stop() {
	p.turn <- struct{}{}
	defer func() { <-p.turn }()
	p.close()
}

func (p *Process) close() {
	if p.child != nil {
		p.discard()
	}
}
