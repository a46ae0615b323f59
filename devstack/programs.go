package devstack

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"runtime"
	"syscall"

	"github.com/coffer-budget/coffer/devstack/ports"
	"github.com/coffer-budget/coffer/internal/app"
)

// errStopped and errKilled are the causes with which the context of a service is canceled.
var (
	errStopped = errors.New("stopped")
	errKilled  = errors.New("killed")
)

// launch returns a function that runs a service as a separate process, which writes its log to a
// file. It replaces the service's Run. The function closes the listener, because the program opens
// the port itself. Its metrics get a free port, because several programs with the port of
// METRICS_ADDR would collide.
func launch(program, logName string, environment map[string]string) serve {
	return func(ctx context.Context, lis net.Listener) error {
		logFile, err := os.OpenFile(logName, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
		if err != nil {
			return fmt.Errorf("opening the log of %s: %w", program, err)
		}
		defer logFile.Close()
		if err := lis.Close(); err != nil {
			return fmt.Errorf("closing the port for %s: %w", program, err)
		}
		ports.AwaitClosed(ctx, lis.Addr().String())
		cmd := exec.CommandContext(ctx, program)
		cmd.Env = append(os.Environ(), "LISTEN_ADDR="+lis.Addr().String(),
			"METRICS_ADDR=127.0.0.1:0")
		for name, value := range environment {
			cmd.Env = append(cmd.Env, name+"="+value)
		}
		cmd.Stdout, cmd.Stderr = logFile, logFile
		cmd.SysProcAttr = attributes()
		// Kill ends the process like a crash. Stop lets it finish the requests in flight.
		cmd.Cancel = func() error {
			if errors.Is(context.Cause(ctx), errKilled) {
				return cmd.Process.Kill()
			}
			return cmd.Process.Signal(syscall.SIGTERM)
		}
		// Linux sends the signal for the parent's death when the thread that started the child
		// ends, so this goroutine keeps it.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err = cmd.Run()
		if errors.Is(err, context.Canceled) {
			return nil
		}
		return err
	}
}

// kill ends a service's process with SIGKILL and returns when it has ended. A service in this
// process is stopped instead.
func (s *service) kill() error {
	if s.cancel == nil {
		return errors.New("it is not running")
	}
	s.cancel(errKilled)
	<-s.ended
	s.cancel = nil
	return nil
}

// serve runs a service until ctx is canceled.
type serve func(ctx context.Context, lis net.Listener) error

// bind returns a function that parses a service's configuration from an environment and runs the
// service in this process. Defaults and checks are the same as in a separate process.
func bind[C any](
	run func(context.Context, C, net.Listener) error,
) func(map[string]string) serve {
	return func(environment map[string]string) serve {
		return func(ctx context.Context, lis net.Listener) error {
			config, err := app.ParseEnv[C](environment)
			if err != nil {
				return err
			}
			return run(ctx, config, lis)
		}
	}
}
