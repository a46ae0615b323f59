package pgserver

import (
	"os/exec"
	"runtime"
	"syscall"
	"time"
)

// process is a program in a process group of its own, which a Ctrl-C at the terminal does not reach: it is stopped after
// those who use it.
type process struct {
	cmd  *exec.Cmd
	done chan struct{}
	// err is how it ended, once done is closed.
	err error
}

func start(cmd *exec.Cmd) (*process, error) {
	p := &process{cmd: cmd, done: make(chan struct{})}
	if cmd.Cancel != nil {
		cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	}
	started := make(chan error)
	go func() {
		// The kernel tells the child of its parent's death when the thread that made it ends, so the thread stays; also
		// afterwards, as it may have made others' children before.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := cmd.Start()
		started <- err
		if err != nil {
			return
		}
		p.err = cmd.Wait()
		close(p.done)
	}()
	return p, <-started
}

func (p *process) signal(s syscall.Signal) { _ = p.cmd.Process.Signal(s) }

// stop asks for Postgres's fast shutdown, then for its immediate one, and returns when the process is gone.
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
