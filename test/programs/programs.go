// Package programs builds the services' programs for tests and benchmarks that run them as separate processes.
//
// Build builds all programs. BuildFrom builds those of another release. BuildLedger builds a ledger with a defect or another
// constant. It does not change the source tree: the compiler reads the changed file from an overlay.
//
// The programs are those of production. Tests that run services in their own process use the package devstack instead.
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

// others are the unchanged programs that a changed ledger needs.
var others = []string{"auth", "budget", "ocr", "gateway"}

// Build builds all programs of the repository into dir.
func Build(ctx context.Context, dir string) error {
	root, err := repository(ctx)
	if err != nil {
		return err
	}
	return BuildFrom(ctx, root, dir)
}

// BuildFrom builds all programs of the source tree at root into dir. The tree may be that of another release.
func BuildFrom(ctx context.Context, root, dir string) error {
	return build(ctx, root, dir, "./services/auth/cmd/auth", "./services/ledger/cmd/ledger", "./services/budget/cmd/budget", "./services/ocr/cmd/ocr", "./gateway/cmd/gateway")
}

// BuildLedger builds a ledger into dir, with texts replaced in one file of the repository. Each text must occur once in the file. dir
// also gets links to the other programs in the directory healthy.
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

// overlay writes the changed file, and the description of the overlay for go build, whose name it returns.
func overlay(dir, original string, replaced map[string]string) (string, error) {
	source, err := os.ReadFile(original)
	if err != nil {
		return "", err
	}
	text := string(source)
	for before, after := range replaced {
		if strings.Count(text, before) != 1 {
			return "", fmt.Errorf("%s must contain %q once; adapt the replacement to the file", original, before)
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

// repository returns the root of the repository, which contains go.work.
func repository(ctx context.Context) (string, error) {
	work, err := exec.CommandContext(ctx, "go", "env", "GOWORK").Output()
	if err != nil {
		return "", fmt.Errorf("finding the repository: %w", err)
	}
	return filepath.Dir(strings.TrimSpace(string(work))), nil
}
