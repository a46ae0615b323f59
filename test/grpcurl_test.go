package test

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestGrpcurlPage runs the commands of docs/grpcurl.md against the program of make run.
func TestGrpcurlPage(t *testing.T) {
	t.Parallel()
	if stack == nil {
		t.Skip("the page describes a stack on this machine")
	}
	page, err := os.ReadFile("../docs/grpcurl.md")
	require.NoError(t, err)
	script := "set -eo pipefail\n"
	for _, block := range regexp.MustCompile("(?s)\n```sh\n(.*?)```\n").
		FindAllStringSubmatch(string(page), -1) {
		script += block[1]
	}
	dir, output := startProgram(t)
	addr := func(service string) string {
		at := regexp.MustCompile(service + ` +(127\.0\.0\.1:\d+)`).FindStringSubmatch(output)
		require.NotNil(t, at, "the banner has no address of %s:\n%s", service, output)
		return at[1]
	}
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	bash := exec.CommandContext(ctx, "bash")
	bash.Dir, bash.Stdin = "..", strings.NewReader(script)
	bash.Env = append(os.Environ(), "DATA_DIR="+dir, "GRPC_AUTH="+addr("auth"),
		"GRPC_LEDGER="+addr("ledger"), "GRPC_BUDGET="+addr("budget"), "GRPC_OCR="+addr("ocr"))
	out, err := bash.CombinedOutput()
	require.NoError(t, err, "%s", out)
	for _, response := range []string{
		`"status": "SERVING"`, `"amount": "-12.30"`, `"total": "5.60"`, `"UNAUTHORIZED"`,
		`"request_id":"look-for-me"`,
	} {
		require.Contains(t, string(out), response)
	}
}

// startProgram starts the program of make run with new data, and returns the data directory and the
// program's output.
func startProgram(t *testing.T) (dir, output string) {
	t.Helper()
	program := filepath.Join(t.TempDir(), "coffer")
	out, err := exec.CommandContext(t.Context(), "go", "build", "-o", program,
		"../devstack/cmd/coffer").CombinedOutput()
	require.NoError(t, err, "%s", out)
	//nolint:usetesting // t.TempDir is closed to the account that runs Postgres for root
	dir, err = os.MkdirTemp("", "coffer-run-")
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, os.RemoveAll(dir)) })
	require.NoError(t, os.Chmod(dir, 0o711))
	coffer := exec.CommandContext(context.WithoutCancel(t.Context()), program)
	coffer.Env = append(os.Environ(), "DATA_DIR="+dir)
	for _, setting := range []string{
		"HTTP_ADDR", "AUTH_ADDR", "LEDGER_ADDR", "BUDGET_ADDR", "OCR_ADDR", "NATS_ADDR",
		"METRICS_ADDR", "MAIL_ADDR", "MAIL_PAGE_ADDR",
	} {
		coffer.Env = append(coffer.Env, setting+"=127.0.0.1:0")
	}
	log, err := os.Create(filepath.Join(t.TempDir(), "output"))
	require.NoError(t, err)
	defer log.Close()
	coffer.Stdout, coffer.Stderr = log, log
	require.NoError(t, coffer.Start())
	t.Cleanup(func() {
		require.NoError(t, coffer.Process.Signal(syscall.SIGTERM))
		require.NoError(t, coffer.Wait())
	})
	require.Eventually(t, func() bool {
		text, err := os.ReadFile(log.Name())
		output = string(text)
		return err == nil && bytes.Contains(text, []byte("Ctrl-C stops everything"))
	}, time.Minute, 50*time.Millisecond, "%s", &output)
	return dir, output
}
