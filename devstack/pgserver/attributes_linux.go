package pgserver

import "syscall"

// attributes runs a process as an account and in a separate process group, so that Ctrl-C does not
// reach it.
func attributes(a account) *syscall.SysProcAttr {
	return &syscall.SysProcAttr{
		Setpgid:    true,
		Credential: credential(a),
		// A killed parent cannot stop its server. The kernel then sends SIGINT, the signal for
		// PostgreSQL's fast shutdown.
		Pdeathsig: syscall.SIGINT,
	}
}

// memory returns the folder of the file system in memory if it has 4 GB of free space, or "". In
// containers it often has only 64 MB.
func memory() string {
	const dir = "/dev/shm"
	var stat syscall.Statfs_t
	if syscall.Statfs(dir, &stat) != nil || stat.Bavail*uint64(stat.Bsize) < 4<<30 {
		return ""
	}
	return dir
}
