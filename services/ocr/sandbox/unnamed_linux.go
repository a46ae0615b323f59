package sandbox

import (
	"os"

	"golang.org/x/sys/unix"
)

// unnamed creates a file in memory that has no name. It disappears when the last process closes it.
func unnamed() (*os.File, error) {
	fd, err := unix.MemfdCreate("input", unix.MFD_CLOEXEC)
	if err != nil {
		return nil, os.NewSyscallError("memfd_create", err)
	}
	return os.NewFile(uintptr(fd), "input"), nil
}
