package sandbox

import "golang.org/x/sys/unix"

// architecture is the kernel's identifier of the binary interface.
const architecture = unix.AUDIT_ARCH_AARCH64

// Older system calls that only this architecture has. It has none.
var kernelCallsHere, programCallsHere []int
