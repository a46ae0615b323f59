package chaos

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/Shopify/toxiproxy/v2"
	"github.com/rs/zerolog"
)

// links are the connections between processes, each through a proxy that can disturb it.
type links struct {
	server  *toxiproxy.ApiServer
	proxies map[string]*toxiproxy.Proxy
}

// newLinks returns links without proxies. The proxies do not need toxiproxy's HTTP server.
func newLinks() *links {
	server := toxiproxy.NewServer(toxiproxy.NewMetricsContainer(nil), zerolog.Nop())
	return &links{server: server, proxies: map[string]*toxiproxy.Proxy{}}
}

// between starts a proxy in front of addr and returns the proxy's address. The stack calls it for
// each connection that it sets up.
func (l *links) between(from, to, addr string) (string, error) {
	name := from + "-" + to
	p := toxiproxy.NewProxy(l.server, name, "127.0.0.1:0", addr)
	if err := p.Start(); err != nil {
		return "", fmt.Errorf("starting the proxy between %s and %s: %w", from, to, err)
	}
	l.proxies[name] = p
	return p.Listen, nil
}

// names returns the names of the links in use, always in the same order, so that a seed repeats the
// faults.
func (l *links) names() []string {
	used := []string{
		"auth-nats", "auth-postgres", "budget-auth", "budget-ledger", "budget-nats",
		"budget-postgres", "gateway-auth",
		"gateway-budget", "gateway-ledger", "ledger-auth", "ledger-nats", "ledger-ocr",
		"ledger-postgres", "ocr-postgres",
	}
	return slices.DeleteFunc(used, func(name string) bool { return l.proxies[name] == nil })
}

// engine has the OCR engines. Tesseract is started by a script that hangs while the file stalled
// exists.
type engine struct {
	program, stalled string
	// neural is the folder of the neural engine, empty if it is not installed. Its program is a
	// script that creates a folder in pids, named after its process, and then starts the real
	// program, real.
	neural, pids, real string
}

func (e engine) signalNeural(signal syscall.Signal) error {
	processes, err := os.ReadDir(e.pids)
	if err != nil {
		return err
	}
	for _, entry := range processes {
		pid, err := strconv.Atoi(entry.Name())
		if err != nil {
			return err
		}
		// A process that has ended may have left its number to another one.
		program, err := os.Readlink("/proc/" + entry.Name() + "/exe")
		if err != nil || program != e.real {
			continue
		}
		if err := syscall.Kill(pid, signal); err != nil && !errors.Is(err, syscall.ESRCH) {
			return err
		}
	}
	return nil
}

// installNeural writes the script of the neural engine into dir, unless the engine is not
// installed.
func (e *engine) installNeural(dir string) error {
	installed := os.Getenv("OCR_NEURAL")
	real, err := filepath.EvalSymlinks(filepath.Join(installed, "ocr-neural"))
	if installed == "" || errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	e.real, e.neural, e.pids = real, filepath.Join(dir, "neural"), filepath.Join(dir, "pids")
	for _, folder := range []string{e.neural, e.pids} {
		if err := os.Mkdir(folder, 0o755); err != nil {
			return err
		}
	}
	if err := os.WriteFile(filepath.Join(e.neural, "contents"), nil, 0o600); err != nil {
		return err
	}
	script := fmt.Sprintf("#!/bin/sh\nmkdir '%s'/$$\nexec '%s' '%s'\n", e.pids, real, installed)
	//nolint:gosec // It is a program.
	return os.WriteFile(filepath.Join(e.neural, "ocr-neural"), []byte(script), 0o755)
}

func newEngine(dir string) (engine, error) {
	// Each run waits before it starts. A receipt takes several runs, so receipts that are in
	// progress are delayed, too.
	real, err := exec.LookPath("tesseract")
	if err != nil {
		return engine{}, err
	}
	e := engine{program: filepath.Join(dir, "tesseract"), stalled: filepath.Join(dir, "stalled")}
	script := fmt.Sprintf("#!/bin/sh\nwhile [ -e '%s' ]; do sleep 0.1; done\nexec '%s' \"$@\"\n",
		e.stalled, real)
	err = os.WriteFile(e.program, []byte(script), 0o755) //nolint:gosec // It is a program.
	return e, errors.Join(err, e.installNeural(dir))
}

type fault struct {
	name       string
	min, max   time.Duration
	begin, end func(ctx context.Context) error
}

// breakParts stops one process at a time. Processes are killed, which loses all their memory and
// open transactions.
func (r *run) breakParts(ctx context.Context) {
	var faults []fault
	kill := func(part string, longest time.Duration) fault {
		return fault{
			"kill " + part, 0, longest,
			func(context.Context) error { return r.stack.Kill(part) },
			func(ctx context.Context) error { return r.stack.Resume(ctx, part) },
		}
	}
	for _, part := range []string{"auth", "ledger", "budget", "ocr", "gateway"} {
		faults = append(faults, kill(part, 2*time.Second))
	}
	// Processes with data are killed more often, because their failures can violate more
	// guarantees.
	faults = append(faults, kill("ledger", time.Second), kill("ledger", time.Second),
		kill("budget", time.Second), kill("postgres", 3*time.Second), kill("postgres", time.Second))
	faults = append(faults, fault{
		"stop nats", time.Second, min(30*time.Second, r.Length/5),
		func(context.Context) error { return r.stack.Halt("nats") },
		func(ctx context.Context) error { return r.stack.Resume(ctx, "nats") },
	}, fault{
		"stall the engine", time.Second, 5 * time.Second,
		func(context.Context) error { return os.WriteFile(r.engine.stalled, nil, 0o600) },
		func(context.Context) error { return os.Remove(r.engine.stalled) },
	})
	if r.engine.neural != "" {
		faults = append(faults, fault{
			"kill the neural engine", 0, time.Second,
			func(context.Context) error { return r.engine.signalNeural(syscall.SIGKILL) },
			func(context.Context) error { return nil },
		}, fault{
			"hang the neural engine", time.Second, 5 * time.Second,
			func(context.Context) error { return r.engine.signalNeural(syscall.SIGSTOP) },
			func(context.Context) error { return r.engine.signalNeural(syscall.SIGCONT) },
		})
	}
	r.injectFaults(ctx, r.random("parts", 0), faults)
}

// breakLinks disturbs one connection at a time:
//
//   - cut: open connections are closed and new ones are refused
//   - latency: all data is delayed by up to 300 ms
//   - timeout: no data arrives, and the connections stay open
//   - reset_peer: each connection is reset after 50 ms
func (r *run) breakLinks(ctx context.Context) {
	var faults []fault
	toxic := func(link, kind, attributes string) fault {
		proxy := r.links.proxies[link]
		return fault{
			kind + " " + link, 500 * time.Millisecond, 3 * time.Second,
			func(context.Context) error {
				_, err := proxy.Toxics.AddToxicJson(strings.NewReader(fmt.Sprintf(
					`{"name": "fault", "type": %q, "attributes": %s}`, kind, attributes,
				)))
				return err
			},
			func(ctx context.Context) error { return proxy.Toxics.RemoveToxic(ctx, "fault") },
		}
	}

	for _, link := range r.links.names() {
		p := r.links.proxies[link]
		faults = append(faults,
			fault{"cut " + link, 0, 2 * time.Second, func(context.Context) error {
				p.Stop()
				return nil
			}, func(context.Context) error { return p.Start() }},
			toxic(link, "latency", `{"latency": 150, "jitter": 150}`),
			toxic(link, "timeout", `{"timeout": 0}`),
			toxic(link, "reset_peer", `{"timeout": 50}`))
	}
	r.injectFaults(ctx, r.random("links", 0), faults)
}

// injectFaults begins and ends random faults until ctx ends. No fault remains afterwards, because
// the end of a fault does not depend on ctx.
func (r *run) injectFaults(ctx context.Context, random *rand.Rand, faults []fault) {
	uncanceled := context.WithoutCancel(ctx)
	// Tests of the checks select the faults that expose a defect.
	faults = slices.DeleteFunc(faults,
		func(f fault) bool { return !strings.Contains(f.name, r.Only) })
	for len(faults) > 0 {
		fault := faults[random.IntN(len(faults))]
		// All random values are drawn before the pause, so that the sequence does not depend on
		// timing.
		duration := fault.min + time.Duration(random.Int64N(int64(max(1, fault.max-fault.min))))
		interval := 200*time.Millisecond +
			time.Duration(random.Int64N(int64(1500*time.Millisecond)))
		pause(ctx, interval)
		// No fault begins after the load has ended.
		if ctx.Err() != nil {
			return
		}
		r.faults.Add(1)
		r.logf("%s for %s", fault.name, duration.Round(time.Millisecond))
		if err := fault.begin(uncanceled); err != nil {
			r.reportf("%s: %v", fault.name, err)
			return
		}
		pause(ctx, duration)
		if err := fault.end(uncanceled); err != nil {
			r.reportf("ending %s: %v", fault.name, err)
			return
		}
	}
}

// awaitRecovery waits until the gateway is ready. All faults have ended before. If the gateway does
// not become ready, the following checks report it.
func (r *run) awaitRecovery(ctx context.Context) {
	r.logf("all faults have ended")
	within(ctx, time.Minute, func() bool {
		a := r.users[0].call(ctx, "GET", "/readyz", nil)
		return a.status == 200
	})
}

func pause(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}

func within(ctx context.Context, limit time.Duration, condition func() bool) bool {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	for !condition() {
		if ctx.Err() != nil {
			return false
		}
		pause(ctx, 100*time.Millisecond)
	}
	return true
}
