package ports

import (
	"context"
	"net"
	"os/exec"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestListenSelectsPort(t *testing.T) {
	t.Parallel()
	lis, err := Listen(t.Context(), "127.0.0.1:0")
	require.NoError(t, err)
	defer lis.Close()
	port := lis.Addr().(*net.TCPAddr).Port
	require.GreaterOrEqual(t, port, lowest)
	require.Less(t, port, lowest+count)
	_, err = Listen(t.Context(), lis.Addr().String())
	require.ErrorContains(t, err, "in use")
	_, err = Listen(t.Context(), "203.0.113.1:0")
	require.Error(t, err, "an address of another machine")
}

// TestAwaitClosedDuringStartsOfPrograms fails in most runs without AwaitClosed.
func TestAwaitClosedDuringStartsOfPrograms(t *testing.T) {
	t.Parallel()
	var stop atomic.Bool
	ended := make(chan error, 2)
	for range cap(ended) {
		go func() {
			for !stop.Load() {
				if err := exec.CommandContext(t.Context(), "true").Run(); err != nil {
					ended <- err
					return
				}
			}
			ended <- nil
		}()
	}
	for begin := time.Now(); time.Since(begin) < time.Second; {
		lis, err := Listen(t.Context(), "127.0.0.1:0")
		require.NoError(t, err)
		require.NoError(t, lis.Close())
		AwaitClosed(t.Context(), lis.Addr().String())
		lis, err = Listen(t.Context(), lis.Addr().String())
		require.NoError(t, err)
		require.NoError(t, lis.Close())
	}
	stop.Store(true)
	for range cap(ended) {
		require.NoError(t, <-ended)
	}
}

func TestAwaitClosedGivesUp(t *testing.T) {
	t.Parallel()
	lis, err := Listen(t.Context(), "127.0.0.1:0")
	require.NoError(t, err)
	defer lis.Close()
	const patience = 50 * time.Millisecond
	// Not a deadline, before which a connection attempt may already end.
	ctx, cancel := context.WithCancel(t.Context())
	begin := time.Now()
	defer time.AfterFunc(patience, cancel).Stop()
	AwaitClosed(ctx, lis.Addr().String())
	require.GreaterOrEqual(t, time.Since(begin), patience)
}
