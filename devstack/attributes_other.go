//go:build unix && !linux

package devstack

import "syscall"

// attributes runs a service in a separate process group, so that Ctrl-C does not reach it. Only
// Linux can also kill it when this process dies.
func attributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }
