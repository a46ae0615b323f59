//go:build unix && !linux

package sandbox

import (
	"errors"
	"os"
	"syscall"
)

// Unnamed creates a temporary file and removes its name. It disappears when the last process closes
// it.
func Unnamed() (*os.File, error) {
	f, err := os.CreateTemp("", "input")
	if err != nil {
		return nil, err
	}
	if err := os.Remove(f.Name()); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

func ownGroup() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }
