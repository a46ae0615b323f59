package sandbox

import (
	"context"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/coffer-budget/coffer/services/ocr/fixture"
)

var roomy = Limits{Time: 10 * time.Second, Memory: 1 << 30, Output: 1 << 20}

func TestRunProgramInputAndOutput(t *testing.T) {
	t.Parallel()
	out, err := Run(t.Context(), roomy, []byte("bread"), "cat")
	require.NoError(t, err)
	require.Equal(t, "bread", string(out))
}

func TestRunProgramInputFileIsDeleted(t *testing.T) {
	t.Parallel()
	out, err := Run(t.Context(), roomy, []byte("bread"),
		fixture.Program(t, "cat /dev/stdin /dev/stdin; readlink -f /dev/stdin"))
	require.NoError(t, err)
	require.Contains(t, string(out), "breadbread")
	require.Contains(t, string(out), "(deleted)")
}

func TestRunProgramKillsHangingProcessGroup(t *testing.T) {
	t.Parallel()
	pids := filepath.Join(t.TempDir(), "pids")
	script := fixture.Program(t, "sleep 60 & echo $! > "+pids+"; sleep 60")
	l := roomy
	l.Time = 300 * time.Millisecond
	start := time.Now()
	_, err := Run(t.Context(), l, nil, script)
	require.ErrorIs(t, err, context.DeadlineExceeded)
	require.Less(t, time.Since(start), 30*time.Second)
	text, err := os.ReadFile(pids)
	require.NoError(t, err)
	child, err := strconv.Atoi(strings.TrimSpace(string(text)))
	require.NoError(t, err)
	require.Eventually(t, func() bool { return gone(child) }, time.Minute, 10*time.Millisecond)
}

// gone reports whether a process is dead, or a zombie that init has not yet waited for.
func gone(pid int) bool {
	if syscall.Kill(pid, 0) != nil {
		return true
	}
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	return err != nil || strings.Contains(string(stat), ") Z ")
}

func TestRunProgramLimitsProcessorTime(t *testing.T) {
	t.Parallel()
	l := roomy
	// Processor time is limited in whole seconds, so the limit is two seconds.
	l.Time, l.Clock = time.Second, time.Minute
	_, err := Run(t.Context(), l, nil, fixture.Program(t, "while true; do :; done"))
	require.ErrorIs(t, err, ErrTime)
	require.ErrorIs(t, err, context.DeadlineExceeded)
}

// TestRunProgramOnBusyMachine has a program that waits longer than its processor time.
func TestRunProgramOnBusyMachine(t *testing.T) {
	t.Parallel()
	l := roomy
	l.Time = time.Second
	out, err := Run(t.Context(), l, nil, fixture.Program(t, "sleep 1.5; echo done"))
	require.NoError(t, err)
	require.Equal(t, "done\n", string(out))
}

func TestRunProgramLimitsOutput(t *testing.T) {
	t.Parallel()
	_, err := Run(t.Context(), roomy, nil, "yes")
	require.ErrorIs(t, err, ErrOutput)
}

func TestRunProgramLimitsMemory(t *testing.T) {
	t.Parallel()
	l := roomy
	l.Memory = 64 << 20
	_, err := Run(t.Context(), l, nil,
		fixture.Program(t, `head -c 200000000 /dev/zero | tail -c 150000000 > /dev/null`))
	require.Error(t, err)
}

func TestRunProgramDistinguishesMissingProgram(t *testing.T) {
	t.Parallel()
	_, err := Run(t.Context(), roomy, nil, "no-such-program-here")
	require.ErrorIs(t, err, ErrNotStarted)
	_, err = Run(t.Context(), roomy, nil, "false")
	require.Error(t, err)
	require.NotErrorIs(t, err, ErrNotStarted)
}
