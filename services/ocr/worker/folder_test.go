package worker

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestNewRemovesFoldersOfKilledServices runs the test program again as a service that uses a
// folder, and kills it.
func TestNewRemovesFoldersOfKilledServices(t *testing.T) {
	t.Parallel()
	const child = "FOLDER_CHILD"
	if os.Getenv(child) != "" {
		f, err := newFolder()
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(filepath.Join(f.path, "in.heic"), nil, 0o600))
		fmt.Println("folder " + f.path)
		_, _ = os.Stdin.Read(make([]byte, 1))
		return
	}
	program, err := os.Executable()
	require.NoError(t, err)
	cmd := exec.CommandContext(t.Context(), program, "-test.run=^"+t.Name()+"$", "-test.count=1")
	cmd.Env = append(os.Environ(), child+"=1")
	_, err = cmd.StdinPipe()
	require.NoError(t, err)
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	var path string
	for lines := bufio.NewScanner(out); path == "" && lines.Scan(); {
		_, path, _ = strings.Cut(lines.Text(), "folder ")
	}
	require.DirExists(t, path)

	newTestReader(t, "")
	require.DirExists(t, path, "the other service runs")
	require.NoError(t, cmd.Process.Kill())
	require.Error(t, cmd.Wait())
	newTestReader(t, "")
	require.NoDirExists(t, path)
}

func TestNewFolderDuringCleanup(t *testing.T) {
	t.Parallel()
	var cleanup sync.WaitGroup
	stop := make(chan struct{})
	cleanup.Go(func() {
		for {
			select {
			case <-stop:
				return
			default:
				removeAbandoned()
			}
		}
	})
	for range 500 {
		f, err := newFolder()
		require.NoError(t, err)
		require.DirExists(t, f.path)
		f.remove()
		require.NoDirExists(t, f.path)
	}
	close(stop)
	cleanup.Wait()
}
