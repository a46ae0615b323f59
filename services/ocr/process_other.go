//go:build unix && !linux

package ocr

import (
	"errors"
	"os"
)

// unnamed is a file that stands in no folder any more: nothing is left of it when the last process that has it open ends.
func unnamed() (*os.File, error) {
	f, err := os.CreateTemp("", "input")
	if err != nil {
		return nil, err
	}
	if err := os.Remove(f.Name()); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}
