package main

import (
	"bytes"
	"context"
	_ "embed"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// request is a request that clients send repeatedly. A body is JSON. wrk.lua adds the headers, and
// a new Idempotency-Key for a share of the requests.
type request struct{ method, path, token, body string }

// load describes the clients of a run. Each client sends the requests in turn over a persistent
// connection. It sends the next one immediately after a response, or after a pause.
type load struct {
	clients  int
	requests []request
	// pause is the average time between a response and the next request.
	pause time.Duration
	// keyed is the share of requests with an Idempotency-Key.
	keyed float64
	// name distinguishes loads that run at the same time.
	name string
}

// result is the result of a run. Latencies are in milliseconds.
type result struct{ perSecond, median, p99 float64 }

//go:embed wrk.lua
var wrkScript string

// wrk runs a load. Any error response or socket error makes the run fail.
func (b *bench) wrk(ctx context.Context, target *stack, load load) (result, error) {
	var script strings.Builder
	script.WriteString("requests = {}\n")
	for i, r := range load.requests {
		fmt.Fprintf(&script, "requests[%d] = {%q, %q, %q, %q}\n", i+1, r.method, r.path,
			"Bearer "+r.token, r.body)
	}
	// wrk.lua reads these variables. Its pause is in milliseconds.
	fmt.Fprintf(&script, "keyed = %g\npause = %g\n%s", load.keyed, load.pause.Seconds()*1000,
		wrkScript)
	name := filepath.Join(b.dir, "load"+load.name+".lua")
	if err := os.WriteFile(name, []byte(script.String()), 0o600); err != nil {
		return result{}, err
	}
	// Two threads are enough to send the load. More would take processor time from the stack.
	threads := min(2, load.clients)
	out, err := exec.CommandContext(ctx, "wrk",
		"-t", strconv.Itoa(threads), "-c", strconv.Itoa(load.clients), "-d", b.length.String(),
		"--timeout", "10s", "--latency", "-s", name, target.URL).CombinedOutput()
	if err != nil {
		return result{}, fmt.Errorf("wrk: %w\n%s", err, out)
	}
	return parseWrk(out)
}

var (
	wrkRate   = regexp.MustCompile(`Requests/sec:\s+([0-9.]+)`)
	wrkMedian = regexp.MustCompile(`50%\s+([0-9.]+[a-z]+)`)
	wrkSlow   = regexp.MustCompile(`99%\s+([0-9.]+[a-z]+)`)
)

func parseWrk(out []byte) (result, error) {
	perSecond := wrkRate.FindSubmatch(out)
	middle := wrkMedian.FindSubmatch(out)
	slow := wrkSlow.FindSubmatch(out)
	failed := bytes.Contains(out, []byte("Non-2xx")) ||
		bytes.Contains(out, []byte("Socket errors"))
	if perSecond == nil || middle == nil || slow == nil || failed {
		return result{}, fmt.Errorf("wrk reported errors:\n%s", out)
	}
	var measured result
	var err error
	if measured.perSecond, err = strconv.ParseFloat(string(perSecond[1]), 64); err != nil {
		return result{}, err
	}
	// wrk prints latencies with a unit, like time.Duration.
	for _, latency := range []struct {
		text [][]byte
		into *float64
	}{{middle, &measured.median}, {slow, &measured.p99}} {
		took, err := time.ParseDuration(string(latency.text[1]))
		if err != nil {
			return result{}, fmt.Errorf("wrk: %w", err)
		}
		*latency.into = float64(took) / float64(time.Millisecond)
	}
	return measured, nil
}
