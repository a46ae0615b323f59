package sandbox

import "golang.org/x/sys/unix"

const architecture = unix.AUDIT_ARCH_AARCH64

// Older system calls that only this architecture has. It has none.
var kernelCallsHere, programCallsHere []int
