// Package sandbox runs programs on untrusted files: Tesseract, the decoders of PDF and HEIF, and
// the service's own workers.
//
// Run guarantees that a run of a program ends within the limits on time, memory and output, and
// that no process remains after it. A program that exceeds its processor time fails with ErrTime,
// and after slowdown times as long with context.DeadlineExceeded. The program gets none of the
// service's environment. Input and output pass through memory only, so no receipt is written to
// disk. Other systems than Linux have no limit on memory, and there a program survives the process
// that started it if that process is killed.
//
// Confine and LimitTime are for such a program itself: it gives up rights, and limits all its
// programs together, before it reads the file.
//
// An error that wraps an exec.ExitError is the program's verdict on its input. ErrNotStarted means
// that the program is missing.
package sandbox

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"sync/atomic"
	"syscall"
	"time"
)

// Limits bounds one run of a program: processor time, time by the clock, memory and output in
// bytes. Clock is slowdown times Time if it is 0. The programs that a program starts cannot have
// higher limits, except for Heap.
type Limits struct {
	Time, Clock time.Duration
	// Memory is the address space, which exceeds the memory in use. Heap limits heap and stacks,
	// and is Memory if it is 0.
	Memory, Heap int64
	Output       int
}

// Inherited has the resources that a program gets from the service.
type Inherited struct {
	Stdin io.Reader
	// Files are the descriptors from 3 on.
	Files []*os.File
	// Env is added to the environment, as NAME=value.
	Env []string
}

// slowdown allows a run to share the processors with others. A limit by the clock alone would fail
// sound files on a busy machine.
const slowdown = 3

var (
	// ErrOutput marks a program that was stopped because it printed more than its limit.
	ErrOutput = errors.New("printed too much")
	// ErrTime marks a program that used its processor time. It is a context.DeadlineExceeded, too.
	ErrTime = fmt.Errorf("used too much processor time: %w", context.DeadlineExceeded)
	// ErrNotStarted marks a program that is missing or cannot be executed.
	ErrNotStarted = errors.New("could not be started")
)

// allowance is the processor time of LimitTime in nanoseconds, or 0, and charged the sum of Charge.
var allowance, charged atomic.Int64

// LimitTime limits the processor time of this process and of all programs that it runs, together. A
// program that would use more fails with ErrTime. The processor time of a program counts when it
// has ended, so simultaneous programs may exceed the limit.
func LimitTime(d time.Duration) { allowance.Store(int64(d)) }

// HalveTime limits the processor time to half of what is left, until restore is called. Another
// attempt then has the rest.
func HalveTime() (restore func()) {
	limit := allowance.Load()
	if used := int64(Used()); limit > used {
		allowance.Store(used + (limit-used)/2)
	}
	return func() { allowance.Store(limit) }
}

// Charge counts processor time that another process used for this one.
func Charge(d time.Duration) { charged.Add(int64(d)) }

// CheckTime returns ErrTime if the time of LimitTime is used up.
func CheckTime() error {
	if limit := time.Duration(allowance.Load()); limit > 0 && Used() >= limit {
		return ErrTime
	}
	return nil
}

// Used returns the processor time of this process, of the programs that it has run, and of Charge.
func Used() time.Duration {
	total := charged.Load()
	for _, who := range []int{syscall.RUSAGE_SELF, syscall.RUSAGE_CHILDREN} {
		var usage syscall.Rusage
		if err := syscall.Getrusage(who, &usage); err == nil {
			total += usage.Utime.Nano() + usage.Stime.Nano()
		}
	}
	return time.Duration(total)
}

// Environment returns the environment of a program that gets none of the service's.
func Environment() []string {
	return []string{"PATH=/usr/local/bin:/usr/bin:/bin", "LC_ALL=C.UTF-8", "HOME=/nonexistent"}
}

// Run executes a program with the given standard input and returns its output. The program is the
// leader of a process group that is killed when ctx ends or a limit is exceeded.
func Run(
	ctx context.Context, l Limits, stdin []byte, program string, args ...string,
) ([]byte, error) {
	return RunWith(ctx, l, Inherited{Stdin: bytes.NewReader(stdin)}, program, args...)
}

// RunWith is Run for a program that gets more than its standard input.
func RunWith(
	ctx context.Context, limits Limits, from Inherited, program string, args ...string,
) ([]byte, error) {
	limits.Clock = cmp.Or(limits.Clock, slowdown*limits.Time)
	if limit := time.Duration(allowance.Load()); limit > 0 {
		if err := CheckTime(); err != nil {
			return nil, fmt.Errorf("%s: %w", program, err)
		}
		limits.Time = min(limits.Time, max(1, limit-Used()))
	}
	// The kernel kills a program when the thread that started it ends, so that none survives this
	// process.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	ctx, cancel := context.WithTimeout(ctx, limits.Clock)
	defer cancel()
	name, args, err := limited(limits, program, args)
	if err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, name, args...)
	// The program gets one thread, because each core already reads its own receipt. A variable of
	// from replaces one of these.
	cmd.Env = append(Environment(), "OMP_THREAD_LIMIT=1")
	cmd.Env = append(cmd.Env, from.Env...)
	cmd.ExtraFiles = from.Files
	cmd.SysProcAttr = ownGroup()
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	// A child that left the group must not keep the pipes, and so the request, open.
	cmd.WaitDelay = time.Second
	in, err := input(from.Stdin)
	if err != nil {
		return nil, fmt.Errorf("%s: %w: %w", program, ErrNotStarted, err)
	}
	defer func() { _ = in.Close() }()
	out := &Buffer{Limit: limits.Output, stop: cancel}
	complaint := &Buffer{Limit: 4 << 10}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = in, out, complaint
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("%s: %w: %w", program, ErrNotStarted, err)
	}
	err = cmd.Wait()
	switch {
	// Too much output also cancels ctx, so it is checked first.
	case out.over:
		return nil, fmt.Errorf("%s: %w", program, ErrOutput)
	case err != nil && ctx.Err() != nil:
		return nil, fmt.Errorf("%s: %w", program, ctx.Err())
	case exceededTime(cmd.ProcessState):
		return nil, fmt.Errorf("%s: %w", program, ErrTime)
	case err != nil:
		return nil, fmt.Errorf("%s: %w: %s", program, err, bytes.TrimSpace(complaint.Bytes()))
	}
	return out.Bytes(), nil
}

func exceededTime(state *os.ProcessState) bool {
	status, ok := state.Sys().(syscall.WaitStatus)
	return ok && status.Signaled() && status.Signal() == syscall.SIGXCPU
}

// input returns a file in memory with a program's input. A pipe would deliver small pieces.
func input(content io.Reader) (*os.File, error) {
	file, err := Unnamed()
	if err != nil {
		return nil, err
	}
	_, err = io.Copy(file, content)
	if err == nil {
		_, err = file.Seek(0, io.SeekStart)
	}
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return file, nil
}

// limited prefixes a command with prlimit, because Go cannot set limits between fork and exec.
func limited(limits Limits, program string, args []string) (string, []string, error) {
	path, err := exec.LookPath(program)
	if err != nil {
		return "", nil, fmt.Errorf("%w: %w", ErrNotStarted, err)
	}
	prlimit, _ := exec.LookPath("prlimit")
	if prlimit == "" {
		// Other systems than Linux only have the limits on time and output.
		return path, args, nil
	}
	// A core dump would write the receipt to disk. Processor time is limited in whole seconds. The
	// first limit sends SIGXCPU, the second one SIGKILL to a program that ignores it.
	seconds := int(limits.Time.Seconds()) + 1
	heap := cmp.Or(limits.Heap, limits.Memory)
	front := []string{
		// The colon leaves the upper limit as it is: a program that this one starts may have a
		// larger heap.
		fmt.Sprintf("--as=%d", limits.Memory), fmt.Sprintf("--data=%d:", heap), "--core=0",
		fmt.Sprintf("--cpu=%d:%d", seconds, seconds+1), fmt.Sprintf("--fsize=%d", limits.Output),
		path,
	}
	return prlimit, append(front, args...), nil
}

// Buffer collects the output of a program up to Limit bytes. The rest is discarded, so that the
// program does not block on a full pipe.
type Buffer struct {
	Limit  int
	buffer bytes.Buffer
	// over is set if the output exceeds the limit. stop is then called unless it is nil.
	over bool
	stop context.CancelFunc
}

// Write implements io.Writer.
func (b *Buffer) Write(p []byte) (int, error) {
	if b.buffer.Len()+len(p) > b.Limit {
		b.over = true
		if b.stop != nil {
			b.stop()
		}
		return len(p), nil
	}
	return b.buffer.Write(p)
}

// Bytes returns the output up to the limit.
func (b *Buffer) Bytes() []byte { return b.buffer.Bytes() }
