package devstack

import "syscall"

// attributes put a service beyond the terminal's Ctrl-C, and let it die with us.
func attributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}
