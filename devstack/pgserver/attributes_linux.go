package pgserver

import "syscall"

func attributes(a account) *syscall.SysProcAttr {
	return &syscall.SysProcAttr{
		Setpgid:    true,
		Credential: credential(a),
		// A parent that is killed cannot stop its server; the kernel does, cleanly.
		Pdeathsig: syscall.SIGINT,
	}
}
