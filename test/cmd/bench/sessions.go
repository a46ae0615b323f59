package main

import (
	"fmt"
	"os"
	"strings"
)

// autogroups is the file with Linux's setting of autogroups. With autogroups, Linux divides the
// processor time among sessions instead of processes.
const autogroups = "/proc/sys/kernel/sched_autogroup_enabled"

// sessionsShare reports whether autogroups are on. In a container the setting has no effect,
// because the container is a group.
func sessionsShare() bool {
	set, err := os.ReadFile(autogroups)
	return err == nil && strings.TrimSpace(string(set)) != "0"
}

// ungroup turns autogroups off until restore is called, which only root can do. Each PostgreSQL
// process is a separate session. A process that has used the share of its session waits for up to a
// tenth of a second, which would distort the slowest responses.
func ungroup() (restore func()) {
	if !sessionsShare() {
		return func() {}
	}
	if err := os.WriteFile(autogroups, []byte("0"), 0); err != nil {
		fmt.Fprintf(os.Stderr,
			"cannot turn off autogroups, which make the slowest responses of PostgreSQL slower: "+
				"%v\n", err)
		return func() {}
	}
	fmt.Fprintln(os.Stderr, "kernel.sched_autogroup_enabled is 0 until the benchmarks end")
	return func() { _ = os.WriteFile(autogroups, []byte("1"), 0) }
}
