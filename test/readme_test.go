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

// TestReadmeTour runs the commands of the README and then those of docs/tour.md as one bash
// session, and compares their output with the JSON blocks.
func TestReadmeTour(t *testing.T) {
	t.Parallel()
	if stack == nil {
		t.Skip("the tour describes a stack on this machine")
	}
	const end = "\x1e"
	script := "set -eo pipefail\n"
	var shown []string
	readme, tour := readPage(t, "../README.md"), readPage(t, "../docs/tour.md")
	require.Equal(t, 5, strings.Count(readme, `"$COFFER/api/v1/`), "the README has five requests")
	block := regexp.MustCompile("(?s)\n```(sh|json)\n(.*?)```\n")
	for _, match := range block.FindAllStringSubmatch(readme+tour, -1) {
		if match[1] == "sh" {
			script += match[2] + "printf '\\n" + end + "'\n"
			shown = append(shown, "")
			continue
		}
		shown[len(shown)-1] = match[2]
	}
	require.Greater(t, len(shown), 10)

	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	bash := exec.CommandContext(ctx, "bash")
	bash.Dir, bash.Stdin = "..", strings.NewReader(script)
	bash.Env = append(os.Environ(), "COFFER="+stack.URL)
	var complaints bytes.Buffer
	bash.Stderr = &complaints
	out, err := bash.Output()
	require.NoError(t, err, "%s\n%s", out, &complaints)
	require.NotContains(t, complaints.String(), "curl: (",
		"the page says that the commands succeed")
	printed := strings.Split(string(out), end)
	for i, want := range shown {
		if want != "" {
			lines := strings.Split(strings.TrimSpace(printed[i]), "\n")
			requireLike(t, parse(t, want), parse(t, lines[len(lines)-1]), "")
		}
	}
}

func readPage(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(name)
	require.NoError(t, err)
	return string(text)
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
