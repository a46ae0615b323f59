//go:build amd64 || arm64

package main

import (
	"context"
	"net"
	"os"
	"os/exec"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// TestConfine runs the test program again, because the filter would remain in this process.
func TestConfine(t *testing.T) {
	t.Parallel()
	const child = "CONFINED_CHILD"
	if os.Getenv(child) == "" {
		program, err := os.Executable()
		require.NoError(t, err)
		cmd := exec.CommandContext(t.Context(), program, "-test.run=^TestConfine$", "-test.count=1")
		cmd.Env = []string{child + "=1"}
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, string(out))
		return
	}
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	open, err := os.Open("/proc/self/status")
	require.NoError(t, err)
	require.NoError(t, confine())

	_, err = os.Open("/etc/passwd")
	require.ErrorIs(t, err, unix.EPERM)
	_, err = os.Create("file")
	require.ErrorIs(t, err, unix.EPERM)
	_, err = (&net.Dialer{}).DialContext(context.Background(), "tcp", listener.Addr().String())
	require.ErrorIs(t, err, unix.EPERM)
	require.ErrorIs(t, unix.Exec("/bin/true", []string{"true"}, nil), unix.EPERM)
	_, err = open.Read(make([]byte, 10))
	require.NoError(t, err, "open files stay usable")
}
