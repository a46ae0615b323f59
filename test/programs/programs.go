// Package programs builds the services' programs for tests and benchmarks that run them as separate
// processes.
//
// Build builds all programs. BuildFrom builds those of another release. BuildLedger builds a ledger
// with defects or other constants. It does not change the source tree: the compiler reads the
// changed files from an overlay.
//
// The programs are those of production. Tests that run services in their own process use the
// package devstack instead.
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

// all has the packages of the programs, and others the names of the unchanged programs that a
// changed ledger needs.
var (
	all = []string{
		"./services/auth/cmd/auth", "./services/ledger/cmd/ledger", "./services/budget/cmd/budget",
		"./services/ocr/cmd/ocr", "./gateway/cmd/gateway",
	}
	others = []string{"auth", "budget", "ocr", "gateway"}
)

// Build builds all programs of the repository into dir.
func Build(ctx context.Context, dir string) error {
	root, err := repository(ctx)
	if err != nil {
		return err
	}
	return build(ctx, root, dir, all...)
}

// BuildFrom builds all programs of the source tree at root into dir. The tree may be that of
// another release. With -trimpath, the build cache recognizes a package that was built from a copy
// of the tree in another folder.
func BuildFrom(ctx context.Context, root, dir string) error {
	return build(ctx, root, dir, append([]string{"-trimpath"}, all...)...)
}

// Change replaces a text in a file of the repository. The text must occur once in the file.
type Change struct{ File, Old, New string }

// BuildLedger builds a ledger with changes into dir. dir also gets links to the other programs in
// the directory healthy.
func BuildLedger(ctx context.Context, dir, healthy string, changes ...Change) error {
	for _, other := range others {
		if err := os.Symlink(filepath.Join(healthy, other), filepath.Join(dir, other)); err != nil {
			return err
		}
	}
	root, err := repository(ctx)
	if err != nil {
		return err
	}
	overlay, err := overlay(dir, root, changes)
	if err != nil {
		return err
	}
	return build(ctx, root, dir, "-overlay="+overlay, "./services/ledger/cmd/ledger")
}

// overlay writes the changed files, and the description of the overlay for go build, whose name it
// returns.
func overlay(dir, root string, changes []Change) (string, error) {
	files := map[string]string{}
	for _, change := range changes {
		original := filepath.Join(root, change.File)
		source, changed := original, files[original]
		if changed != "" {
			source = changed
		} else {
			changed = filepath.Join(dir, fmt.Sprintf("changed%d.go", len(files)))
			files[original] = changed
		}
		text, err := os.ReadFile(source)
		if err != nil {
			return "", err
		}
		if strings.Count(string(text), change.Old) != 1 {
			return "", fmt.Errorf("%s must contain %q once; adapt the change to the file",
				change.File, change.Old)
		}
		code := strings.Replace(string(text), change.Old, change.New, 1)
		if err := os.WriteFile(changed, []byte(code), 0o600); err != nil {
			return "", err
		}
	}
	list, err := json.Marshal(map[string]any{"Replace": files})
	if err != nil {
		return "", err
	}
	name := filepath.Join(dir, "overlay.json")
	return name, os.WriteFile(name, list, 0o600)
}

// build omits symbols and debug information, as the images do. Linking then takes half of the time.
func build(ctx context.Context, root, dir string, arguments ...string) error {
	cmd := command(ctx, append([]string{
		"build", "-ldflags=-s -w", "-o", dir + string(filepath.Separator),
	}, arguments...)...)
	cmd.Dir = root
	if output, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("building the programs: %w\n%s", err, output)
	}
	return nil
}

// repository returns the root of the repository, which contains go.work.
func repository(ctx context.Context) (string, error) {
	work, err := command(ctx, "env", "GOWORK").Output()
	if err != nil {
		return "", fmt.Errorf("finding the repository: %w", err)
	}
	return filepath.Dir(strings.TrimSpace(string(work))), nil
}

// command returns a command of go in the workspace, also in a test with GOWORK=off, as in make test
// MODULE=test.
func command(ctx context.Context, arguments ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, "go", arguments...)
	cmd.Env = append(cmd.Environ(), "GOWORK=")
	return cmd
}
