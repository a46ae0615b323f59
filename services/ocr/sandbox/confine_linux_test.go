//go:build amd64 || arm64

package sandbox

import (
	"context"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// confined runs a test again in another process, because a filter would remain in this one. It
// returns true in that process.
func confined(t *testing.T) bool {
	t.Helper()
	const child = "CONFINED_CHILD"
	if os.Getenv(child) != "" {
		return true
	}
	program, err := os.Executable()
	require.NoError(t, err)
	cmd := exec.CommandContext(t.Context(), program, "-test.run=^"+t.Name()+"$", "-test.count=1")
	cmd.Env = append(os.Environ(), child+"=1")
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, string(out))
	return false
}

// dial connects to a listener of this process.
func dial(t *testing.T, to net.Listener) error {
	t.Helper()
	conn, err := (&net.Dialer{}).DialContext(context.Background(), "tcp", to.Addr().String())
	if err == nil {
		require.NoError(t, conn.Close())
	}
	return err
}

func listen(t *testing.T) net.Listener {
	t.Helper()
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	return listener
}

// requireNoKernelCalls requires that no confined process can change the kernel or read other
// processes. The test may run as root.
func requireNoKernelCalls(t *testing.T) {
	t.Helper()
	require.ErrorIs(t, unix.PtraceAttach(os.Getppid()), unix.EPERM)
	_, err := unix.ProcessVMReadv(os.Getpid(), []unix.Iovec{{}}, []unix.RemoteIovec{{}}, 0)
	require.ErrorIs(t, err, unix.EPERM)
	require.ErrorIs(t, unix.Mount("none", "/tmp", "tmpfs", 0, ""), unix.EPERM)
	require.ErrorIs(t, unix.Unshare(unix.CLONE_NEWUSER), unix.EPERM)
	_, _, failure := unix.RawSyscall(unix.SYS_CLONE, unix.CLONE_NEWUSER|uintptr(unix.SIGCHLD), 0, 0)
	require.ErrorIs(t, failure, unix.EPERM)
	_, _, failure = unix.RawSyscall(unix.SYS_CLONE3, 0, 0, 0)
	require.ErrorIs(t, failure, unix.ENOSYS)
	_, _, failure = unix.Syscall(unix.SYS_BPF, 0, 0, 0)
	require.ErrorIs(t, failure, unix.EPERM)
	_, _, failure = unix.Syscall(unix.SYS_IO_URING_SETUP, 1, 0, 0)
	require.ErrorIs(t, failure, unix.EPERM)
	_, _, failure = unix.Syscall(highestNumber+1, 0, 0, 0)
	require.ErrorIs(t, failure, unix.EPERM)
}

func TestConfine(t *testing.T) {
	t.Parallel()
	if !confined(t) {
		return
	}
	listener := listen(t)
	open, err := os.Open("/proc/self/status")
	require.NoError(t, err)
	require.NoError(t, Confine(Rights{}))

	_, err = os.Open("/etc/passwd")
	require.ErrorIs(t, err, unix.EPERM)
	_, err = os.Create("file")
	require.ErrorIs(t, err, unix.EPERM)
	require.ErrorIs(t, dial(t, listener), unix.EPERM)
	require.ErrorIs(t, unix.Exec("/bin/true", []string{"true"}, nil), unix.EPERM)
	requireNoKernelCalls(t)
	_, err = open.Read(make([]byte, 10))
	require.NoError(t, err, "open files stay usable")
}

func TestConfineKeepsPrograms(t *testing.T) {
	t.Parallel()
	if !confined(t) {
		return
	}
	listener := listen(t)
	require.NoError(t, Confine(Rights{Programs: true}))

	require.ErrorIs(t, dial(t, listener), unix.EPERM)
	requireNoKernelCalls(t)
	name := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(name, []byte("bread"), 0o600))
	out, err := Run(t.Context(), roomy, nil, "cat", name)
	require.NoError(t, err)
	require.Equal(t, "bread", string(out))
	out, err = Run(t.Context(), roomy, nil, "grep", "^Seccomp:\t2", "/proc/self/status")
	require.NoError(t, err, "a program is confined, too")
	require.NotEmpty(t, out)
}

func TestConfineKeepsNetwork(t *testing.T) {
	t.Parallel()
	if !confined(t) {
		return
	}
	listener := listen(t)
	require.NoError(t, Confine(Rights{Programs: true, Network: true}))
	require.NoError(t, dial(t, listener))
	requireNoKernelCalls(t)
}

// TestConceal reads the environment of a process with another process of the same user. That user
// is not root, who may read it anyway.
func TestConceal(t *testing.T) {
	t.Parallel()
	if !confined(t) {
		return
	}
	if os.Getuid() == 0 {
		const nobody = 65534
		require.NoError(t, unix.Setuid(nobody))
		// A process that has changed its user is concealed.
		require.NoError(t, unix.Prctl(unix.PR_SET_DUMPABLE, 1, 0, 0, 0))
	}
	environment := "/proc/" + strconv.Itoa(os.Getpid()) + "/environ"
	read := func() error { return exec.CommandContext(t.Context(), "cat", environment).Run() }
	require.NoError(t, read())
	require.NoError(t, Conceal())
	require.Error(t, read())
}
