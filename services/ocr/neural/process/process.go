// Package process starts, supervises and ends ocr-neural, the confined process of the neural
// engine, and sends pages to it.
//
// The process starts with the first page and ends after ten idle minutes, because its models occupy
// memory. It is killed when a page fails, exceeds its time or is canceled, and the next page starts
// it again. So a failure costs one page, and no process remains after Stop. Its responses are
// checked by package neural. ErrFailed marks all failures of the engine.
//
// The program itself is cmd/ocr-neural, its networks are in package neural, and both speak the
// format of neural/wire.go.
package process

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/coffer-budget/coffer/services/ocr/neural"
	"github.com/coffer-budget/coffer/services/ocr/sandbox"
)

const (
	// Program is the program's name in the folder with its models.
	Program = "ocr-neural"
	// idleTime is the time without a request after which the process ends, because its models
	// occupy memory.
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
	// request continues. A page that ends for this cause counts as a failure of the engine.
	ErrAttemptTooLong = errors.New("the attempt took too long")
)

// Process runs ocr-neural. The process starts with the first request and then serves one page at a
// time, because a second one would compete for the same processors. It is killed when a request
// fails, exceeds its time or is canceled. The next request starts it again. Process is safe for
// concurrent use.
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
	return &Process{dir: dir, limit: limit, idle: idleTime, recovery: recoveryTime, turn: make(chan struct{}, 1)}
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

// Available reports whether the engine is installed and did not fail on the last page. A failure
// counts for ten minutes, because without further pages nothing else would end it.
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

// send sends a page to the process, which it starts if none runs.
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
		complaint := p.discard()
		err = fmt.Errorf("%w: %s", err, complaint)
	}
	page.Processor = started.processorTime() - before
	return page, err
}

// discard kills the process and returns its error messages.
func (p *Process) discard() string {
	complaint := p.child.kill()
	p.child = nil
	return complaint
}

// expire ends the process if no request uses it.
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

// child is a running process.
type child struct {
	cmd       *exec.Cmd
	in        io.WriteCloser
	out       *os.File
	buffered  *bufio.Reader
	complaint *sandbox.Buffer
	ended     chan struct{}
}

// start runs the program in a folder, without the service's environment, as the leader of a process
// group.
func start(dir string) (*child, error) {
	name, args := filepath.Join(dir, Program), []string{dir}
	// Other systems than Linux only have the limit on time.
	if prlimit, _ := exec.LookPath("prlimit"); prlimit != "" {
		// A core dump would write the receipt to disk.
		limits := []string{
			"--data=" + strconv.Itoa(memory), "--as=" + strconv.Itoa(addressSpace), "--core=0", "--fsize=0", "--cpu=" + strconv.Itoa(processorTime), name,
		}
		name, args = prlimit, append(limits, args...)
	}
	c := &child{complaint: &sandbox.Buffer{Limit: 4 << 10}, ended: make(chan struct{})}
	c.cmd = exec.Command(name, args...) //nolint:noctx // The process survives the request.
	c.cmd.Env = []string{"PATH=/usr/local/bin:/usr/bin:/bin", "LC_ALL=C.UTF-8", "HOME=/nonexistent"}
	c.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	c.cmd.Stderr = c.complaint
	// A child that left the group must not keep the pipe open.
	c.cmd.WaitDelay = time.Second
	var err error
	if c.in, err = c.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	// Wait would close the pipe of StdoutPipe while a response is read.
	out, w, err := os.Pipe()
	if err != nil {
		return nil, errors.Join(err, c.in.Close())
	}
	c.cmd.Stdout, c.out, c.buffered = w, out, bufio.NewReader(out)
	err = c.cmd.Start()
	_ = w.Close()
	if err != nil {
		return nil, errors.Join(fmt.Errorf("%w: %w", sandbox.ErrNotStarted, err), out.Close(), c.in.Close())
	}
	go func() {
		_ = c.cmd.Wait()
		close(c.ended)
	}()
	return c, nil
}

func (c *child) hasEnded() bool {
	select {
	case <-c.ended:
		return true
	default:
		return false
	}
}

// processorTime returns the processor time of the process, in steps of 10 ms while it runs. Systems
// without /proc report it only at the end.
func (c *child) processorTime() time.Duration {
	if c.hasEnded() {
		return c.cmd.ProcessState.UserTime() + c.cmd.ProcessState.SystemTime()
	}
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", c.cmd.Process.Pid))
	if err != nil {
		return 0
	}
	// The name in brackets may contain spaces. User and system time are the 12th and 13th field
	// after it.
	fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
	total := time.Duration(0)
	for _, ticks := range fields[11:13] {
		n, _ := strconv.Atoi(ticks)
		total += time.Duration(n) * 10 * time.Millisecond
	}
	return total
}

// exchange sends a page and returns the response. When ctx ends, it kills the process, which ends
// reading and writing.
func (c *child) exchange(ctx context.Context, req neural.Request) (neural.Page, error) {
	defer context.AfterFunc(ctx, c.signal)()
	// A process that responds without reading the page must not block the service.
	written := make(chan error, 1)
	go func() {
		_, err := req.WriteTo(c.in)
		written <- err
	}()
	page, err := neural.ReadResponse(c.buffered, req.Size)
	if err != nil {
		c.signal()
	}
	return page, errors.Join(err, <-written)
}

// signal kills the process group.
func (c *child) signal() {
	if !c.hasEnded() {
		_ = syscall.Kill(-c.cmd.Process.Pid, syscall.SIGKILL)
	}
}

// kill ends the process and returns its error messages.
func (c *child) kill() string {
	c.signal()
	<-c.ended
	_ = c.out.Close()
	return string(bytes.TrimSpace(c.complaint.Bytes()))
}
