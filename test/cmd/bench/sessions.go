package main

import (
	"fmt"
	"os"
	"strings"
)

// autogroups is where Linux tells whether it shares the processors among sessions instead of processes.
const autogroups = "/proc/sys/kernel/sched_autogroup_enabled"

// ungroup has the kernel share the processors among processes until restore is called, as it does in containers. Each of
// Postgres' processes is a session of its own: one that has had its session's share waits for up to a tenth of a second. It
// reports whether sessions count still, which only root can change.
func ungroup() (restore func(), grouped bool) {
	set, err := os.ReadFile(autogroups)
	if err != nil || strings.TrimSpace(string(set)) == "0" {
		return func() {}, false
	}
	if err := os.WriteFile(autogroups, []byte("0"), 0); err != nil {
		fmt.Fprintf(os.Stderr, "Linux shares the processors among sessions, which makes the slowest of Postgres' answers slower. Only root can change it: %v\n", err)
		return func() {}, true
	}
	return func() { _ = os.WriteFile(autogroups, set, 0) }, false
}
