//go:build unix && !linux

package pgserver

import "syscall"

func attributes(a account) *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Credential: credential(a)}
}
