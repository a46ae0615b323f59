package test

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// balanceOfTheExamples is the opening balance of 250 minus one expense of 12.30, which the examples
// send twice with one key.
const balanceOfTheExamples = "237.70"

// TestClientExamples runs the examples of the generated clients.
func TestClientExamples(t *testing.T) {
	t.Parallel()
	t.Run("Go", func(t *testing.T) {
		t.Parallel()
		runExample(t, "../clients/go", "go", "run", "./example", baseURL)
	})
	t.Run("TypeScript", func(t *testing.T) {
		t.Parallel()
		if _, err := os.Stat("../clients/typescript/build"); err != nil {
			t.Skip("NOT SHOWN: make clients builds the client and runs this test")
		}
		runExample(t, "../clients/typescript", "node", "build/example.js", baseURL)
	})
}

func runExample(t *testing.T, dir, program string, args ...string) {
	t.Helper()
	example := exec.CommandContext(t.Context(), program, args...)
	example.Dir = dir
	out, err := example.CombinedOutput()
	require.NoError(t, err, "%s", out)
	require.Equal(t, balanceOfTheExamples, strings.TrimSpace(string(out)))
}
