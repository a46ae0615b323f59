//go:build amd64 || arm64

package sandbox

import (
	"runtime"
	"slices"
	"unsafe"

	"golang.org/x/sys/unix"
)

const (
	loadWord = unix.BPF_LD | unix.BPF_W | unix.BPF_ABS
	ifEqual  = unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K
	ifAbove  = unix.BPF_JMP | unix.BPF_JGT | unix.BPF_K
	ifAnyBit = unix.BPF_JMP | unix.BPF_JSET | unix.BPF_K
	end      = unix.BPF_RET | unix.BPF_K
)

// Offsets in the kernel's struct seccomp_data. The first argument is a 64-bit number, whose lower
// half is first.
const (
	numberOffset        = 0
	architectureOffset  = 4
	firstArgumentOffset = 16
)

const (
	deny = unix.SECCOMP_RET_ERRNO | uint32(unix.EPERM)
	// unknown is the response of a kernel that lacks a system call. Programs then use its
	// predecessor.
	unknown = unix.SECCOMP_RET_ERRNO | uint32(unix.ENOSYS)
	allow   = unix.SECCOMP_RET_ALLOW
)

// Confine permanently gives up all rights except those to keep, for all threads of this process and
// the programs that it starts. Open files and memory stay usable. Denied system calls fail with
// EPERM.
func Confine(keep Rights) error {
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return err
	}
	filter := filterOf(keep)
	program := unix.SockFprog{Len: uint16(len(filter)), Filter: &filter[0]}
	_, _, failure := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER,
		unix.SECCOMP_FILTER_FLAG_TSYNC, uintptr(unsafe.Pointer(&program)))
	runtime.KeepAlive(filter)
	if failure != 0 {
		return failure
	}
	return nil
}

// Conceal denies other processes of the same user, such as a worker, access to the memory and the
// environment of this process in /proc. Programs that this process starts are not concealed.
func Conceal() error { return unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0) }

func filterOf(keep Rights) []unix.SockFilter {
	filter := []unix.SockFilter{
		{Code: loadWord, K: architectureOffset},
		{Code: ifEqual, Jt: 1, K: architecture},
		{Code: end, K: unix.SECCOMP_RET_KILL_PROCESS},
		{Code: loadWord, K: numberOffset},
		// Higher numbers belong to other binary interfaces, which would bypass the list.
		{Code: ifAbove, Jf: 1, K: highestNumber},
		{Code: end, K: deny},
		// The flags of clone3 are in memory, which a filter cannot read.
		{Code: ifEqual, Jf: 1, K: unix.SYS_CLONE3},
		{Code: end, K: unknown},
	}
	numbers := slices.Clone(kernelCalls)
	if !keep.Network {
		numbers = append(numbers, networkCalls...)
	}
	if !keep.Programs {
		numbers = append(numbers, programCalls...)
	}
	for _, number := range numbers {
		isNumber := unix.SockFilter{Code: ifEqual, Jf: 1, K: uint32(number)}
		filter = append(filter, isNumber, unix.SockFilter{Code: end, K: deny})
	}
	return append(
		filter,
		unix.SockFilter{Code: ifEqual, Jf: 3, K: unix.SYS_CLONE},
		unix.SockFilter{Code: loadWord, K: firstArgumentOffset},
		unix.SockFilter{Code: ifAnyBit, Jf: 1, K: newNamespaces},
		unix.SockFilter{Code: end, K: deny},
		unix.SockFilter{Code: end, K: allow},
	)
}

// highestNumber is above the number of every system call of these architectures.
const highestNumber = 1023

// newNamespaces are the flags of clone that give a process other users, mounts or networks. In
// them, it would have more rights.
const newNamespaces = unix.CLONE_NEWNS | unix.CLONE_NEWCGROUP | unix.CLONE_NEWUTS |
	unix.CLONE_NEWIPC | unix.CLONE_NEWUSER | unix.CLONE_NEWPID | unix.CLONE_NEWNET

// kernelCalls lists the system calls that reach the memory of other processes or the kernel's
// configuration. No confined process needs them.
var kernelCalls = append([]int{
	unix.SYS_PTRACE, unix.SYS_PROCESS_VM_READV, unix.SYS_PROCESS_VM_WRITEV, unix.SYS_PIDFD_OPEN,
	unix.SYS_PIDFD_GETFD, unix.SYS_PROCESS_MADVISE, unix.SYS_KCMP, unix.SYS_MOUNT, unix.SYS_UMOUNT2,
	unix.SYS_PIVOT_ROOT, unix.SYS_CHROOT, unix.SYS_MOVE_MOUNT, unix.SYS_OPEN_TREE,
	unix.SYS_MOUNT_SETATTR, unix.SYS_FSOPEN, unix.SYS_FSCONFIG, unix.SYS_FSMOUNT, unix.SYS_FSPICK,
	unix.SYS_UNSHARE, unix.SYS_SETNS, unix.SYS_OPEN_BY_HANDLE_AT, unix.SYS_MKNODAT, unix.SYS_BPF,
	unix.SYS_PERF_EVENT_OPEN, unix.SYS_USERFAULTFD, unix.SYS_IO_URING_SETUP, unix.SYS_KEYCTL,
	unix.SYS_ADD_KEY, unix.SYS_REQUEST_KEY, unix.SYS_INIT_MODULE, unix.SYS_FINIT_MODULE,
	unix.SYS_DELETE_MODULE, unix.SYS_KEXEC_LOAD, unix.SYS_REBOOT, unix.SYS_SWAPON, unix.SYS_SWAPOFF,
	unix.SYS_SYSLOG, unix.SYS_ACCT, unix.SYS_QUOTACTL, unix.SYS_PERSONALITY, unix.SYS_SETTIMEOFDAY,
	unix.SYS_CLOCK_SETTIME, unix.SYS_CLOCK_ADJTIME,
}, kernelCallsHere...)

var networkCalls = []int{
	unix.SYS_SOCKET, unix.SYS_SOCKETPAIR, unix.SYS_CONNECT, unix.SYS_BIND, unix.SYS_LISTEN,
	unix.SYS_ACCEPT, unix.SYS_ACCEPT4,
}

var programCalls = append([]int{
	unix.SYS_OPENAT, unix.SYS_OPENAT2, unix.SYS_UNLINKAT, unix.SYS_MKDIRAT, unix.SYS_RENAMEAT2,
	unix.SYS_LINKAT, unix.SYS_SYMLINKAT, unix.SYS_FCHMODAT, unix.SYS_FCHOWNAT, unix.SYS_TRUNCATE,
	unix.SYS_EXECVE, unix.SYS_EXECVEAT,
}, programCallsHere...)
