//go:build unix && !linux

package pgserver

import "syscall"

// attributes runs a process as an account and in a separate process group. Only Linux can also stop
// it when its parent dies.
func attributes(a account) *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Credential: credential(a)}
}

// memory returns "", because only Linux has a folder in memory on every machine.
func memory() string { return "" }
