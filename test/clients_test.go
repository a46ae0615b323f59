package test

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// The examples book an expense of 12.30 twice with one key, on an opening balance of 250.
const balanceOfTheExamples = "237.70"

func TestTheGoClientsExampleRuns(t *testing.T) {
	t.Parallel()
	runExample(t, "../clients/go", "go", "run", "./example", baseURL)
}

func TestTheTypeScriptClientsExampleRuns(t *testing.T) {
	t.Parallel()
	if _, err := os.Stat("../clients/typescript/build"); err != nil {
		t.Skip("NOT SHOWN: make clients builds it, and runs this test")
	}
	runExample(t, "../clients/typescript", "node", "build/example.js", baseURL)
}

func runExample(t *testing.T, dir, program string, args ...string) {
	t.Helper()
	example := exec.CommandContext(t.Context(), program, args...)
	example.Dir = dir
	out, err := example.CombinedOutput()
	require.NoError(t, err, "%s", out)
	require.Equal(t, balanceOfTheExamples, strings.TrimSpace(string(out)))
}
