package ocr

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"image"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/coffer-budget/coffer/services/ocr/neural"
)

const (
	// neuralProgram is the program's name in the folder with its models.
	neuralProgram = "ocr-neural"
	// neuralHealth is the name under which the health service reports whether the neural engine is available.
	neuralHealth = "neural"
	// neuralIdle is the time without a request after which the process ends, because its models occupy memory.
	neuralIdle = 10 * time.Minute
	// neuralMemory limits the address space, which is a multiple of the memory in use.
	neuralMemory = 4 << 30
	// neuralProcessorTime, in seconds, ends a process that hangs and has survived the service. Otherwise it only causes a restart.
	neuralProcessorTime = 4 * 60 * 60
)

// errNoNeural means that the program is not installed.
var errNoNeural = errors.New("the neural engine is not installed")

// neuralProcess runs ocr-neural. The process starts with the first request and then serves one page at a time, because a second one would
// compete for the same processors. It is killed when a request fails, exceeds its time or is canceled. The next request starts it again.
// neuralProcess is safe for concurrent use.
type neuralProcess struct {
	dir string
	// limit is the time for a page, including the start of the process. idle is neuralIdle, except in tests.
	limit, idle time.Duration
	// turn holds a value while a request uses child.
	turn chan struct{}
	// child is nil while no process runs.
	child  *neuralChild
	expiry *time.Timer
	// failing is set if the last page failed. failures counts such pages. Canceled requests do not count.
	failing  atomic.Bool
	failures atomic.Int64
}

// newNeuralProcess returns a process that is not started yet. dir contains the program and its models.
func newNeuralProcess(dir string, limit time.Duration) *neuralProcess {
	return &neuralProcess{dir: dir, limit: limit, idle: neuralIdle, turn: make(chan struct{}, 1)}
}

// check returns errNoNeural if the program or its models are not installed.
func (p *neuralProcess) check() error {
	for _, name := range []string{neuralProgram, "contents"} {
		if _, err := os.Stat(filepath.Join(p.dir, name)); err != nil {
			return fmt.Errorf("%w: %w", errNoNeural, err)
		}
	}
	return nil
}

// available reports whether the engine is installed and did not fail on the last page.
func (p *neuralProcess) available() bool { return !p.failing.Load() && p.check() == nil }

// read reads the words on a page. It returns errEngine or the context's error.
func (p *neuralProcess) read(ctx context.Context, img *image.Gray) (neural.Page, error) {
	select {
	case p.turn <- struct{}{}:
		defer func() { <-p.turn }()
	case <-ctx.Done():
		return neural.Page{}, fmt.Errorf("%w: %w", errEngine, ctx.Err())
	}
	if p.expiry != nil {
		p.expiry.Stop()
	}
	limited, cancel := context.WithTimeout(ctx, p.limit)
	defer cancel()
	page, err := p.exchange(limited, img)
	if err == nil {
		p.failing.Store(false)
		p.expiry = time.AfterFunc(p.idle, p.expire)
		return page, nil
	}
	if limited.Err() != nil {
		err = limited.Err()
	}
	if ctx.Err() == nil {
		p.failing.Store(true)
		p.failures.Add(1)
	}
	return neural.Page{}, fmt.Errorf("%w: %s: %w", errEngine, neuralProgram, err)
}

// exchange sends a page to the process and returns its response. After an error no process runs.
func (p *neuralProcess) exchange(ctx context.Context, img *image.Gray) (neural.Page, error) {
	if p.child != nil && p.child.hasEnded() {
		p.discard()
	}
	if p.child == nil {
		var err error
		if p.child, err = startNeural(p.dir); err != nil {
			return neural.Page{}, err
		}
	}
	page, err := p.child.exchange(ctx, img)
	if err != nil {
		complaint := p.discard()
		err = fmt.Errorf("%w: %s", err, complaint)
	}
	return page, err
}

// discard kills the process and returns its error messages.
func (p *neuralProcess) discard() string {
	complaint := p.child.kill()
	p.child = nil
	return complaint
}

// expire ends the process if no request uses it.
func (p *neuralProcess) expire() {
	select {
	case p.turn <- struct{}{}:
		defer func() { <-p.turn }()
		p.close()
	default:
	}
}

// stop ends the process. It waits for a request in progress.
func (p *neuralProcess) stop() {
	p.turn <- struct{}{}
	defer func() { <-p.turn }()
	p.close()
}

func (p *neuralProcess) close() {
	if p.child != nil {
		p.discard()
	}
}

// neuralChild is a running process.
type neuralChild struct {
	cmd       *exec.Cmd
	in        io.WriteCloser
	out       *os.File
	buffered  *bufio.Reader
	complaint *bounded
	ended     chan struct{}
}

// startNeural starts the program in a folder, without the service's environment, as the leader of a process group.
func startNeural(dir string) (*neuralChild, error) {
	name, args := filepath.Join(dir, neuralProgram), []string{dir}
	// Other systems than Linux only have the limit on time.
	if prlimit, _ := exec.LookPath("prlimit"); prlimit != "" {
		// A core dump would write the receipt to disk.
		limits := []string{"--as=" + strconv.Itoa(neuralMemory), "--core=0", "--fsize=0", "--cpu=" + strconv.Itoa(neuralProcessorTime), name}
		name, args = prlimit, append(limits, args...)
	}
	c := &neuralChild{complaint: &bounded{limit: 4 << 10}, ended: make(chan struct{})}
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
		return nil, errors.Join(fmt.Errorf("%w: %w", errNotStarted, err), out.Close(), c.in.Close())
	}
	go func() {
		_ = c.cmd.Wait()
		close(c.ended)
	}()
	return c, nil
}

func (c *neuralChild) hasEnded() bool {
	select {
	case <-c.ended:
		return true
	default:
		return false
	}
}

// exchange sends a page and returns the response. When ctx ends, it kills the process, which ends reading and writing.
func (c *neuralChild) exchange(ctx context.Context, img *image.Gray) (neural.Page, error) {
	defer context.AfterFunc(ctx, c.signal)()
	// A process that responds without reading the page must not block the service.
	written := make(chan error, 1)
	go func() { written <- neural.WriteRequest(c.in, img) }()
	page, err := neural.ReadResponse(c.buffered, img.Rect.Size())
	if err != nil {
		c.signal()
	}
	return page, errors.Join(err, <-written)
}

// signal kills the process group.
func (c *neuralChild) signal() {
	if !c.hasEnded() {
		_ = syscall.Kill(-c.cmd.Process.Pid, syscall.SIGKILL)
	}
}

// kill ends the process and returns its error messages.
func (c *neuralChild) kill() string {
	c.signal()
	<-c.ended
	_ = c.out.Close()
	return string(bytes.TrimSpace(c.complaint.Bytes()))
}
