package ocr

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"syscall"
	"time"
)

// limits bounds one run of a program: time, memory and output in bytes. memory is the address space, which exceeds the memory in
// use.
type limits struct {
	time   time.Duration
	memory int64
	output int
}

var (
	errOutput = errors.New("printed too much")
	// errNotStarted marks a program that is missing or cannot be executed.
	errNotStarted = errors.New("could not be started")
)

// run executes a program with the given standard input and returns its output. The program is the leader of a process group that is
// killed when ctx ends or a limit is exceeded, so that no process outlives the request. No data is written to disk.
func run(ctx context.Context, l limits, stdin []byte, program string, args ...string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, l.time)
	defer cancel()
	name, args, err := limited(l, program, args)
	if err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, name, args...)
	// The program gets none of the service's environment, and one thread, because each core already reads its own receipt.
	cmd.Env = []string{"PATH=/usr/local/bin:/usr/bin:/bin", "LC_ALL=C.UTF-8", "OMP_THREAD_LIMIT=1", "HOME=/nonexistent"}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	// A child that left the group must not keep the pipes, and so the request, open.
	cmd.WaitDelay = time.Second
	in, err := input(stdin)
	if err != nil {
		return nil, fmt.Errorf("%s: %w: %w", program, errNotStarted, err)
	}
	defer func() { _ = in.Close() }()
	out := &bounded{limit: l.output, stop: cancel}
	// Error messages beyond 4 KiB are discarded and do not stop the program.
	complaint := &bounded{limit: 4 << 10}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = in, out, complaint
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("%s: %w: %w", program, errNotStarted, err)
	}
	err = cmd.Wait()
	switch {
	// Too much output also cancels ctx, so it is checked first.
	case out.over:
		return nil, fmt.Errorf("%s: %w", program, errOutput)
	case err != nil && ctx.Err() != nil:
		return nil, fmt.Errorf("%s: %w", program, ctx.Err())
	case err != nil:
		return nil, fmt.Errorf("%s: %w: %s", program, err, bytes.TrimSpace(complaint.Bytes()))
	}
	return out.Bytes(), nil
}

// input returns a file in memory with a program's input. A program that opens it as /dev/stdin reads it in one piece, while a pipe
// delivers small pieces.
func input(content []byte) (*os.File, error) {
	f, err := unnamed()
	if err != nil {
		return nil, err
	}
	_, err = f.Write(content)
	if err == nil {
		_, err = f.Seek(0, io.SeekStart)
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// limited prefixes a command with prlimit, because Go cannot set limits between fork and exec.
func limited(l limits, program string, args []string) (string, []string, error) {
	path, err := exec.LookPath(program)
	if err != nil {
		return "", nil, fmt.Errorf("%w: %w", errNotStarted, err)
	}
	prlimit, _ := exec.LookPath("prlimit")
	if prlimit == "" {
		// Other systems than Linux only have the limits on time and output.
		return path, args, nil
	}
	// A core dump would write the receipt to disk. The limit on processor time is rounded up, so that the timeout comes first.
	front := []string{
		"--as=" + strconv.FormatInt(l.memory, 10), "--core=0",
		"--cpu=" + strconv.Itoa(int(l.time.Seconds())+1), "--fsize=" + strconv.Itoa(l.output), path,
	}
	return prlimit, append(front, args...), nil
}

// bounded is a buffer for the output of a program. It calls stop when the output exceeds the limit.
type bounded struct {
	buffer bytes.Buffer
	limit  int
	over   bool
	stop   context.CancelFunc
}

// Write implements io.Writer. It discards output beyond the limit, so that the program does not block on a full pipe.
func (b *bounded) Write(p []byte) (int, error) {
	if b.buffer.Len()+len(p) > b.limit {
		b.over = true
		if b.stop != nil {
			b.stop()
		}
		return len(p), nil
	}
	return b.buffer.Write(p)
}

// Bytes returns the output up to the limit.
func (b *bounded) Bytes() []byte { return b.buffer.Bytes() }
