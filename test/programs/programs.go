// Package programs builds the services' programs for tests that run them as processes of their own: as they are, and with a
// defect or another constant in the ledger.
package programs

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// others is what a changed ledger works with.
var others = []string{"auth", "budget", "ocr", "gateway"}

// Build makes all programs in dir.
func Build(ctx context.Context, dir string) error {
	root, err := repository(ctx)
	if err != nil {
		return err
	}
	return BuildFrom(ctx, root, dir)
}

// BuildFrom makes the programs of any release, whose sources are at root.
func BuildFrom(ctx context.Context, root, dir string) error {
	return build(ctx, root, dir, "./services/auth/cmd/auth", "./services/ledger/cmd/ledger", "./services/budget/cmd/budget", "./services/ocr/cmd/ocr", "./gateway/cmd/gateway")
}

// BuildLedger makes a ledger in dir, with texts replaced in one of the repository's files, and links to the other programs in
// healthy. Each text must be in the file once.
func BuildLedger(ctx context.Context, dir, healthy, file string, replaced map[string]string) error {
	for _, other := range others {
		if err := os.Symlink(filepath.Join(healthy, other), filepath.Join(dir, other)); err != nil {
			return err
		}
	}
	root, err := repository(ctx)
	if err != nil {
		return err
	}
	overlay, err := overlay(dir, filepath.Join(root, file), replaced)
	if err != nil {
		return err
	}
	return build(ctx, root, dir, "-overlay="+overlay, "./services/ledger/cmd/ledger")
}

// overlay writes what go build reads in place of a file.
func overlay(dir, original string, replaced map[string]string) (string, error) {
	source, err := os.ReadFile(original)
	if err != nil {
		return "", err
	}
	text := string(source)
	for before, after := range replaced {
		if strings.Count(text, before) != 1 {
			return "", fmt.Errorf("%s has changed: %q is not there once", original, before)
		}
		text = strings.Replace(text, before, after, 1)
	}
	changed, overlay := filepath.Join(dir, "changed.go"), filepath.Join(dir, "overlay.json")
	if err := os.WriteFile(changed, []byte(text), 0o600); err != nil {
		return "", err
	}
	list, err := json.Marshal(map[string]any{"Replace": map[string]string{original: changed}})
	if err != nil {
		return "", err
	}
	return overlay, os.WriteFile(overlay, list, 0o600)
}

func build(ctx context.Context, root, dir string, arguments ...string) error {
	cmd := exec.CommandContext(ctx, "go", append([]string{"build", "-o", dir + string(filepath.Separator)}, arguments...)...)
	cmd.Dir = root
	if output, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("building the programs: %w\n%s", err, output)
	}
	return nil
}

func repository(ctx context.Context) (string, error) {
	work, err := exec.CommandContext(ctx, "go", "env", "GOWORK").Output()
	if err != nil {
		return "", fmt.Errorf("finding the repository: %w", err)
	}
	return filepath.Dir(strings.TrimSpace(string(work))), nil
}
