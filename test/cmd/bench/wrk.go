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

// request is one that clients send over and over.
type request struct{ method, path, token, body string }

// load is what clients do: each sends the requests in turn over a connection that stays open, as fast as it is answered,
// or with a pause.
type load struct {
	clients  int
	requests []request
	// pause is how long a client rests between two requests, on average.
	pause time.Duration
	// keyed is the share of requests with an Idempotency-Key.
	keyed float64
	// name tells loads apart that run at once.
	name string
}

// answered is how it went; latencies are in milliseconds.
type answered struct{ perSecond, median, p99 float64 }

//go:embed wrk.lua
var wrkScript string

func (b *bench) wrk(ctx context.Context, s *stack, l load) (answered, error) {
	var script strings.Builder
	script.WriteString("requests = {}\n")
	for i, r := range l.requests {
		fmt.Fprintf(&script, "requests[%d] = {%q, %q, %q, %q}\n", i+1, r.method, r.path, "Bearer "+r.token, r.body)
	}
	fmt.Fprintf(&script, "keyed = %g\npause = %g\n%s", l.keyed, l.pause.Seconds()*1000, wrkScript)
	name := filepath.Join(b.dir, "load"+l.name+".lua")
	if err := os.WriteFile(name, []byte(script.String()), 0o600); err != nil {
		return answered{}, err
	}
	out, err := exec.CommandContext(ctx, "wrk", "-t", strconv.Itoa(min(2, l.clients)), "-c", strconv.Itoa(l.clients),
		"-d", b.length.String(), "--timeout", "10s", "--latency", "-s", name, s.URL).CombinedOutput()
	if err != nil {
		return answered{}, fmt.Errorf("wrk: %w\n%s", err, out)
	}
	return parseWrk(out)
}

var (
	wrkRate   = regexp.MustCompile(`Requests/sec:\s+([0-9.]+)`)
	wrkMedian = regexp.MustCompile(`50%\s+([0-9.]+[a-z]+)`)
	wrkSlow   = regexp.MustCompile(`99%\s+([0-9.]+[a-z]+)`)
)

func parseWrk(out []byte) (answered, error) {
	perSecond, middle, slow := wrkRate.FindSubmatch(out), wrkMedian.FindSubmatch(out), wrkSlow.FindSubmatch(out)
	if perSecond == nil || middle == nil || slow == nil || bytes.Contains(out, []byte("Non-2xx")) || bytes.Contains(out, []byte("Socket errors")) {
		return answered{}, fmt.Errorf("wrk met errors:\n%s", out)
	}
	var a answered
	var err error
	if a.perSecond, err = strconv.ParseFloat(string(perSecond[1]), 64); err != nil {
		return answered{}, err
	}
	for _, of := range []struct {
		text [][]byte
		into *float64
	}{{middle, &a.median}, {slow, &a.p99}} {
		took, err := time.ParseDuration(string(of.text[1]))
		if err != nil {
			return answered{}, fmt.Errorf("wrk: %w", err)
		}
		*of.into = float64(took) / float64(time.Millisecond)
	}
	return a, nil
}
