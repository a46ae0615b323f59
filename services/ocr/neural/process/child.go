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
	"syscall"
	"time"

	"github.com/coffer-budget/coffer/services/ocr/neural"
	"github.com/coffer-budget/coffer/services/ocr/sandbox"
)

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
		args = []string{
			fmt.Sprintf("--data=%d", memory), fmt.Sprintf("--as=%d", addressSpace), "--core=0",
			"--fsize=0", fmt.Sprintf("--cpu=%d", processorTime), name, dir,
		}
		name = prlimit
	}
	child := &child{complaint: &sandbox.Buffer{Limit: 4 << 10}, ended: make(chan struct{})}
	child.cmd = exec.Command(name, args...) //nolint:noctx // The process survives the request.
	child.cmd.Env = sandbox.Environment()
	child.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	child.cmd.Stderr = child.complaint
	// A child that left the group must not keep the pipe open.
	child.cmd.WaitDelay = time.Second
	var err error
	if child.in, err = child.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	// Wait would close the pipe of StdoutPipe while a response is read.
	out, file, err := os.Pipe()
	if err != nil {
		return nil, errors.Join(err, child.in.Close())
	}
	child.cmd.Stdout, child.out, child.buffered = file, out, bufio.NewReader(out)
	err = child.cmd.Start()
	_ = file.Close()
	if err != nil {
		err = fmt.Errorf("%w: %w", sandbox.ErrNotStarted, err)
		return nil, errors.Join(err, out.Close(), child.in.Close())
	}
	go func() {
		_ = child.cmd.Wait()
		close(child.ended)
	}()
	return child, nil
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
