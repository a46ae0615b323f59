package chaos

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// Build makes the services' programs in a folder.
func Build(ctx context.Context, dir string) error {
	return build(ctx, dir, "", "services/auth/cmd/auth", "services/ledger/cmd/ledger", "services/budget/cmd/budget", "services/ocr/cmd/ocr", "gateway/cmd/gateway")
}

// build takes a file that replaces sources, as go build -overlay does, or none.
func build(ctx context.Context, dir, overlay string, commands ...string) error {
	root, err := repository(ctx)
	if err != nil {
		return err
	}
	arguments := []string{"build", "-overlay", overlay, "-o", dir + string(filepath.Separator)}
	for _, c := range commands {
		arguments = append(arguments, "./"+c)
	}
	cmd := exec.CommandContext(ctx, "go", arguments...)
	cmd.Dir = root
	if output, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("building the services: %w\n%s", err, output)
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

// mutant is a defective ledger: in a file of the repository, one text is replaced by another.
type mutant struct {
	name, file, old, new string
	// breaks is what must break for it to show, and finds what the checker then says.
	breaks, finds string
}

// build makes the programs in dir, of which healthy has all good ones.
func (m mutant) build(ctx context.Context, dir, healthy string) error {
	for _, other := range []string{"auth", "budget", "ocr", "gateway"} {
		if err := os.Symlink(filepath.Join(healthy, other), filepath.Join(dir, other)); err != nil {
			return err
		}
	}
	root, err := repository(ctx)
	if err != nil {
		return err
	}
	original := filepath.Join(root, m.file)
	text, err := os.ReadFile(original)
	if err != nil {
		return err
	}
	if strings.Count(string(text), m.old) != 1 {
		return fmt.Errorf("%s has changed: what the mutant replaces is not there once", m.file)
	}
	changed, overlay := filepath.Join(dir, "mutant.go"), filepath.Join(dir, "overlay.json")
	if err := os.WriteFile(changed, []byte(strings.Replace(string(text), m.old, m.new, 1)), 0o600); err != nil {
		return err
	}
	replaced, err := json.Marshal(map[string]any{"Replace": map[string]string{original: changed}})
	if err != nil {
		return err
	}
	if err := os.WriteFile(overlay, replaced, 0o600); err != nil {
		return err
	}
	return build(ctx, dir, overlay, "services/ledger/cmd/ledger")
}
