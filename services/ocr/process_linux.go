package ocr

import (
	"os"

	"golang.org/x/sys/unix"
)

// unnamed is a file in memory that stands in no folder: nothing is left of it when the last process that has it open ends.
func unnamed() (*os.File, error) {
	fd, err := unix.MemfdCreate("input", unix.MFD_CLOEXEC)
	if err != nil {
		return nil, os.NewSyscallError("memfd_create", err)
	}
	return os.NewFile(uintptr(fd), "input"), nil
}
