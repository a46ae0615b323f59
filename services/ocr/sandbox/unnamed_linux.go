package sandbox

import (
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// Unnamed creates a file in memory that has no name. It disappears when the last process closes it.
func Unnamed() (*os.File, error) {
	fd, err := unix.MemfdCreate("input", unix.MFD_CLOEXEC)
	if err != nil {
		return nil, os.NewSyscallError("memfd_create", err)
	}
	return os.NewFile(uintptr(fd), "input"), nil
}

// ownGroup makes a program the leader of a process group. The kernel kills it when the thread that
// started it ends.
func ownGroup() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}
