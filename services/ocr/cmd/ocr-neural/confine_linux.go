//go:build amd64 || arm64

package main

import (
	"runtime"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Instructions of classic BPF.
const (
	loadWord = unix.BPF_LD | unix.BPF_W | unix.BPF_ABS
	ifEqual  = unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K
	ifAbove  = unix.BPF_JMP | unix.BPF_JGT | unix.BPF_K
	end      = unix.BPF_RET | unix.BPF_K
)

// Offsets in the kernel's struct seccomp_data.
const (
	numberOffset       = 0
	architectureOffset = 4
)

// confine permanently gives up the right to open files and sockets and to start programs, for all threads. The process keeps its open
// files and its memory. Denied system calls fail with EPERM.
func confine() error {
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return err
	}
	const deny = unix.SECCOMP_RET_ERRNO | uint32(unix.EPERM)
	filter := []unix.SockFilter{
		{Code: loadWord, K: architectureOffset},
		{Code: ifEqual, Jt: 1, K: architecture},
		{Code: end, K: unix.SECCOMP_RET_KILL_PROCESS},
		{Code: loadWord, K: numberOffset},
		// Higher numbers belong to other binary interfaces, which would bypass the list.
		{Code: ifAbove, Jf: 1, K: highestNumber},
		{Code: end, K: deny},
	}
	for _, number := range denied {
		filter = append(filter, unix.SockFilter{Code: ifEqual, Jf: 1, K: uint32(number)}, unix.SockFilter{Code: end, K: deny})
	}
	filter = append(filter, unix.SockFilter{Code: end, K: unix.SECCOMP_RET_ALLOW})
	program := unix.SockFprog{Len: uint16(len(filter)), Filter: &filter[0]}
	_, _, failure := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, unix.SECCOMP_FILTER_FLAG_TSYNC, uintptr(unsafe.Pointer(&program)))
	runtime.KeepAlive(filter)
	if failure != 0 {
		return failure
	}
	return nil
}

// highestNumber is above the number of every system call of these architectures.
const highestNumber = 1023

// denied lists the system calls that reach files, the network, other processes or the kernel's configuration.
var denied = append([]int{
	unix.SYS_OPENAT, unix.SYS_OPENAT2, unix.SYS_OPEN_BY_HANDLE_AT, unix.SYS_UNLINKAT, unix.SYS_MKDIRAT, unix.SYS_MKNODAT,
	unix.SYS_RENAMEAT2, unix.SYS_LINKAT, unix.SYS_SYMLINKAT, unix.SYS_FCHMODAT, unix.SYS_FCHOWNAT, unix.SYS_TRUNCATE,
	unix.SYS_SOCKET, unix.SYS_SOCKETPAIR, unix.SYS_CONNECT, unix.SYS_BIND, unix.SYS_IO_URING_SETUP,
	unix.SYS_EXECVE, unix.SYS_EXECVEAT, unix.SYS_PTRACE, unix.SYS_PROCESS_VM_READV, unix.SYS_PROCESS_VM_WRITEV, unix.SYS_PIDFD_OPEN,
	unix.SYS_MOUNT, unix.SYS_UNSHARE, unix.SYS_SETNS, unix.SYS_BPF, unix.SYS_KEYCTL, unix.SYS_PERF_EVENT_OPEN, unix.SYS_USERFAULTFD,
}, deniedHere...)
