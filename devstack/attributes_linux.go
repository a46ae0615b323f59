package devstack

import "syscall"

// attributes runs a service in a separate process group, so that Ctrl-C does not reach it: Stop
// ends the parts in order. The kernel kills it when this process dies.
func attributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}
