package pgserver

import "syscall"

// attributes runs a process as an account and in a separate process group, so that Ctrl-C does not reach it.
func attributes(a account) *syscall.SysProcAttr {
	return &syscall.SysProcAttr{
		Setpgid:    true,
		Credential: credential(a),
		// A killed parent cannot stop its server. The kernel then sends SIGINT, the signal for PostgreSQL's fast shutdown.
		Pdeathsig: syscall.SIGINT,
	}
}
