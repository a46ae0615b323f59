// Package telemetry holds the alerts and the dashboard to the metrics that the services have: each alert is brought about
// on a running stack, and ends when its cause does.
package telemetry

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/coffer-budget/coffer/devstack"
	"github.com/coffer-budget/coffer/internal/app"
)

var (
	stack *devstack.Stack
	// engine is a link to the program that recognises receipts.
	engine string
)

func TestMain(m *testing.M) {
	code, err := run(m)
	if err != nil {
		fmt.Fprintln(os.Stderr, "telemetry:", err)
		code = 1
	}
	os.Exit(code)
}

func run(m *testing.M) (code int, err error) {
	ctx := context.Background()
	stop, err := app.Telemetry(ctx, "coffer", "127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	dir, err := os.MkdirTemp("", "coffer-engine-")
	if err != nil {
		return 0, errors.Join(err, stop())
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	engine = filepath.Join(dir, "engine")
	tesseract, err := exec.LookPath("tesseract")
	if err != nil {
		return 0, errors.Join(err, stop())
	}
	if err := os.Symlink(tesseract, engine); err != nil {
		return 0, errors.Join(err, stop())
	}
	// One receipt at a time, and none that waits.
	stack, err = devstack.StartEphemeral(ctx, "", map[string]string{
		"RATE_LIMIT": "0", "OCR_WORKERS": "1", "OCR_QUEUE": "0", "OCR_TESSERACT": engine,
	})
	if err != nil {
		return 0, errors.Join(err, stop())
	}
	code = m.Run()
	return code, errors.Join(stack.Stop(), stop())
}
