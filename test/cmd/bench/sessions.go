package main

import (
	"fmt"
	"os"
	"strings"
)

// autogroups is where Linux tells whether it shares the processors among sessions instead of processes.
const autogroups = "/proc/sys/kernel/sched_autogroup_enabled"

// sessionsShare tells whether it does. In a container that has no effect: containers are groups themselves.
func sessionsShare() bool {
	set, err := os.ReadFile(autogroups)
	return err == nil && strings.TrimSpace(string(set)) != "0"
}

// ungroup has the kernel share the processors among processes until restore is called. Each of Postgres' processes is a session
// of its own: one that has had its session's share waits for up to a tenth of a second. Only root can change that.
func ungroup() (restore func()) {
	if !sessionsShare() {
		return func() {}
	}
	if err := os.WriteFile(autogroups, []byte("0"), 0); err != nil {
		fmt.Fprintf(os.Stderr, "sessions share the processors, which makes the slowest of Postgres' answers slower: %v\n", err)
		return func() {}
	}
	fmt.Fprintln(os.Stderr, "kernel.sched_autogroup_enabled is 0 until the end")
	return func() { _ = os.WriteFile(autogroups, []byte("1"), 0) }
}
