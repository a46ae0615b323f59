// Package telemetry tests the alerts and the dashboard against the metrics of a running stack. make
// telemetry-check runs it.
//
// Each alert is triggered by a real cause, such as a stopped service, and must end with it. The
// rules are evaluated by Prometheus's code with a clock that the test sets, so that hours pass in
// moments. The metrics of programs that the stack does not include, such as CloudNativePG, are
// replaced by numbers.
package telemetry

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/coffer-budget/coffer/devstack"
	"github.com/coffer-budget/coffer/internal/app"
)

var (
	stack *devstack.Stack
	// engine is a link to the OCR program.
	engine string
	// neural is the folder of a script that replaces the neural engine. The script fails while the
	// folder contains the file "broken".
	neural string
	// volume is a folder on the volume that the ledger measures.
	volume string
	// ownVolume is true if no other program uses that volume. That needs root.
	ownVolume bool
)

// neuralScript reads pages and finds no words on them, so that Tesseract reads the receipts.
const neuralScript = `#!/bin/sh
while :; do
	set -- $(head -c 12 | od -An -v -tu4)
	[ $# = 3 ] && [ ! -e "$(dirname "$0")/broken" ] || exit 1
	head -c $(($2 * $3)) >/dev/null
	printf '\002\000\000\000{}'
done
`

// installNeural writes the script into a folder.
func installNeural(dir string) error {
	neural = filepath.Join(dir, "neural")
	return errors.Join(
		os.Mkdir(neural, 0o700),
		os.WriteFile(filepath.Join(neural, "contents"), nil, 0o600),
		//nolint:gosec // It is a program.
		os.WriteFile(filepath.Join(neural, "ocr-neural"), []byte(neuralScript), 0o700),
	)
}

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
	volume = filepath.Join(dir, "volume")
	if err := errors.Join(installNeural(dir), os.Mkdir(volume, 0o700)); err != nil {
		return 0, errors.Join(err, stop())
	}
	mountErr := syscall.Mount("tmpfs", volume, "tmpfs", 0, "size=1m")
	ownVolume = mountErr == nil
	if ownVolume {
		defer func() { err = errors.Join(err, syscall.Unmount(volume, syscall.MNT_DETACH)) }()
	} else if !errors.Is(mountErr, syscall.EPERM) {
		return 0, errors.Join(mountErr, stop())
	}
	// One receipt at a time, without a queue.
	stack, err = devstack.StartEphemeral(ctx, "", map[string]string{
		"RATE_LIMIT": "0", "OCR_WORKERS": "1", "OCR_QUEUE": "0",
		"WEBHOOK_PRIVATE_ADDRESSES": "true",
		"OCR_TESSERACT":             engine, "OCR_NEURAL": neural, "STORAGE_FOLDER": volume,
	})
	if err != nil {
		return 0, errors.Join(err, stop())
	}
	code = m.Run()
	return code, errors.Join(stack.Stop(), stop())
}
