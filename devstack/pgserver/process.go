package pgserver

import (
	"os/exec"
	"runtime"
	"syscall"
	"time"
)

// process is a program in a separate process group, so that a Ctrl-C at the terminal does not reach
// it. The program that uses it stops it last.
type process struct {
	cmd *exec.Cmd
	// done is closed when the program has ended.
	done chan struct{}
	// err is the result of the program. It may be read after done is closed.
	err error
}

func start(cmd *exec.Cmd) (*process, error) {
	process := &process{cmd: cmd, done: make(chan struct{})}
	if cmd.Cancel != nil {
		cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	}
	started := make(chan error)
	go func() {
		// Linux sends the signal for the parent's death when the thread that started the child
		// ends. The thread therefore belongs to this goroutine until the child has ended. It is not
		// terminated then, because it may have started other children before.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := cmd.Start()
		started <- err
		if err != nil {
			return
		}
		process.err = cmd.Wait()
		close(process.done)
	}()
	return process, <-started
}

// signal sends a signal to the program. A program that has already ended is not an error.
func (p *process) signal(s syscall.Signal) { _ = p.cmd.Process.Signal(s) }

// stop requests PostgreSQL's fast shutdown, then the immediate shutdown, and then kills it. It
// returns when the process has ended.
func (p *process) stop() {
	for _, s := range []syscall.Signal{syscall.SIGINT, syscall.SIGQUIT} {
		p.signal(s)
		select {
		case <-p.done:
			return
		case <-time.After(stopTime):
		}
	}
	_ = syscall.Kill(-p.cmd.Process.Pid, syscall.SIGKILL)
	<-p.done
}
