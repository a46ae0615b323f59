package test

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestReadmeTour runs the commands of the README's tour and compares their output with the JSON blocks.
func TestReadmeTour(t *testing.T) {
	t.Parallel()
	if stack == nil {
		t.Skip("the tour describes a stack on this machine")
	}
	readme, err := os.ReadFile("../README.md")
	require.NoError(t, err)
	_, tour, found := strings.Cut(string(readme), "\n## A tour in five minutes\n")
	require.True(t, found)
	tour, _, _ = strings.Cut(tour, "\n## ")

	const end = "\x1e"
	script := "set -eo pipefail\n"
	var shown []string
	for _, block := range regexp.MustCompile("(?s)\n```(sh|json)\n(.*?)```\n").FindAllStringSubmatch(tour, -1) {
		if block[1] == "sh" {
			script += block[2] + "printf '\\n" + end + "'\n"
			shown = append(shown, "")
			continue
		}
		shown[len(shown)-1] = block[2]
	}
	require.Greater(t, len(shown), 5)

	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	bash := exec.CommandContext(ctx, "bash")
	bash.Dir, bash.Stdin = "..", strings.NewReader(script)
	bash.Env = append(os.Environ(), "COFFER="+stack.URL)
	var complaints bytes.Buffer
	bash.Stderr = &complaints
	out, err := bash.Output()
	require.NoError(t, err, "%s\n%s", out, &complaints)
	require.NotContains(t, complaints.String(), "curl: (", "the page says that the commands succeed")
	printed := strings.Split(string(out), end)
	for i, want := range shown {
		if want != "" {
			lines := strings.Split(strings.TrimSpace(printed[i]), "\n")
			requireLike(t, parse(t, want), parse(t, lines[len(lines)-1]), "")
		}
	}
}

func parse(t *testing.T, s string) any {
	t.Helper()
	decoder := json.NewDecoder(strings.NewReader(s))
	decoder.UseNumber()
	var v any
	require.NoError(t, decoder.Decode(&v), s)
	return v
}

// differs matches the paths of fields whose values change with each run.
var differs = regexp.MustCompile(`(^|\.)(\w*[iI]d|\w+At|date|openingDate|window\w+)$`)

// requireLike requires that got contains everything in want.
func requireLike(t *testing.T, want, got any, path string) {
	t.Helper()
	switch w := want.(type) {
	case object:
		require.IsType(t, w, got, path)
		for k, v := range w {
			require.Contains(t, got, k, path)
			requireLike(t, v, got.(object)[k], path+"."+k)
		}
	case []any:
		require.Len(t, got, len(w), path)
		for i := range w {
			requireLike(t, w[i], got.([]any)[i], path)
		}
	default:
		if differs.MatchString(path) {
			require.NotEmpty(t, got, path)
			return
		}
		require.Equal(t, want, got, path)
	}
}
