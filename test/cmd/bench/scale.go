package main

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"
)

// partitionSQL makes a copy of the ledger's schema whose large tables are partitioned by owner.
//
//go:embed partition.sql
var partitionSQL string

// branch is a ledger beside a stack's own, and a gateway that asks it, each a process.
type branch struct {
	*stack
	processes []*exec.Cmd
}

// scale measures what docs/scale.md says of replicas and partitions.
func (b *bench) scale(ctx context.Context) error {
	s, err := b.stack(ctx, "large", true)
	if err != nil {
		return err
	}
	if err := b.compareReplicas(ctx, s); err != nil {
		return err
	}
	return b.comparePartitions(ctx, s)
}

// compareReplicas has the same clients ask two ledgers instead of one. Groups get smaller and wallets are written from two
// sides: that is what a replica costs, and what it brings shows on more cores than a machine like this has.
func (b *bench) compareReplicas(ctx context.Context, s *stack) (err error) {
	second, err := b.branch(ctx, s, "ledger")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, second.stop()) }()
	for _, users := range []int{writers, 1} {
		what := "creates with two replicas of the ledger, 64 clients, against one"
		if users == 1 {
			what += ", all on one wallet"
		}
		_, err := b.compare(ctx, comparison{
			what: what, unit: "/s",
			ours: func(ctx context.Context) (float64, error) {
				rates, failures := make(chan float64, 2), make(chan error, 2)
				for i, half := range []*stack{s, second.stack} {
					go func() {
						a, err := b.wrk(ctx, half, load{clients: 32, requests: s.spending(users), keyed: keyed, name: fmt.Sprint(i)})
						rates <- a.perSecond
						failures <- err
					}()
				}
				return <-rates + <-rates, errors.Join(<-failures, <-failures)
			},
			theirs: func(ctx context.Context) (float64, error) {
				a, err := b.wrk(ctx, s, load{clients: 64, requests: s.spending(users), keyed: keyed})
				return a.perSecond, err
			},
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// comparePartitions runs the ledger as it is on tables in 16 parts, against the same on tables that are whole.
func (b *bench) comparePartitions(ctx context.Context, s *stack) (err error) {
	conn, err := s.superuser(ctx)
	if err != nil {
		return err
	}
	defer conn.Close(ctx)
	if _, err := conn.Exec(ctx, partitionSQL, pgx.QueryExecModeSimpleProtocol); err != nil {
		return fmt.Errorf("partitioning: %w", err)
	}
	parted, err := b.branch(ctx, s, "parted")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, parted.stop()) }()
	whole, err := b.branch(ctx, s, "ledger")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, whole.stop()) }()
	for _, c := range []struct {
		what string
		load load
	}{
		{"creates on tables in 16 parts, 64 clients, against whole ones", load{clients: 64, requests: s.spending(writers), keyed: keyed}},
		{"pages of 50 from tables in 16 parts, 16 clients, against whole ones", load{clients: 16, requests: []request{s.writers[0].gets(firstPage)}}},
	} {
		side := func(s *stack) func(context.Context) (float64, error) {
			return func(ctx context.Context) (float64, error) {
				a, err := b.wrk(ctx, s, c.load)
				return a.perSecond, err
			}
		}
		if _, err := b.compare(ctx, comparison{what: c.what, unit: "/s", ours: side(parted.stack), theirs: side(whole.stack)}); err != nil {
			return err
		}
	}
	return nil
}

// branch starts a ledger on a schema of the stack's database, and a gateway for it.
func (b *bench) branch(ctx context.Context, s *stack, schema string) (*branch, error) {
	database, err := url.Parse(s.Databases["ledger"])
	if err != nil {
		return nil, err
	}
	q := database.Query()
	q.Set("search_path", schema)
	database.RawQuery = q.Encode()
	started := *s.Stack
	br := &branch{stack: &stack{Stack: &started, dir: s.dir, writers: s.writers}}
	environment := []string{
		"DATABASE_URL=" + database.String(), "NATS_URL=" + s.NATS, "SERVICE_KEY=" + s.ServiceKey, "RATE_LIMIT=0",
		"AUTH_ADDR=" + s.GRPC["auth"], "OCR_ADDR=" + s.GRPC["ocr"], "BUDGET_ADDR=" + s.GRPC["budget"],
		"OTEL_EXPORTER_OTLP_ENDPOINT=" + b.endpoint, "OTEL_TRACES_SAMPLER=parentbased_traceidratio", "OTEL_TRACES_SAMPLER_ARG=0.01",
	}
	ledger, err := br.start(ctx, filepath.Join(b.programs, "ledger"), environment)
	if err != nil {
		return nil, errors.Join(err, br.stop())
	}
	front, err := br.start(ctx, filepath.Join(b.programs, "gateway"), append(environment, "LEDGER_ADDR="+ledger))
	if err != nil {
		return nil, errors.Join(err, br.stop())
	}
	started.URL = "http://" + front
	return br, br.await(ctx)
}

// start runs a service on any free port, and returns its address, which the first line of its log tells.
func (br *branch) start(ctx context.Context, program string, environment []string) (string, error) {
	name := filepath.Base(program)
	certificates := br.Certificates[name]
	cmd := exec.CommandContext(ctx, program)
	cmd.Env = append(append(os.Environ(), environment...), "LISTEN_ADDR=127.0.0.1:0", "METRICS_ADDR=127.0.0.1:0", "HEALTH_ADDR=",
		"TLS_CERT="+certificates.Cert, "TLS_KEY="+certificates.Key, "TLS_CA="+certificates.CA)
	log, err := os.CreateTemp(br.dir, name)
	if err != nil {
		return "", err
	}
	defer log.Close()
	cmd.Stdout, cmd.Stderr = log, log
	if err := cmd.Start(); err != nil {
		return "", err
	}
	br.processes = append(br.processes, cmd)
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	for {
		text, err := os.ReadFile(log.Name())
		if err != nil {
			return "", err
		}
		if address := listening.FindSubmatch(text); address != nil {
			return string(address[1]), nil
		}
		select {
		case <-ctx.Done():
			return "", fmt.Errorf("%s did not start:\n%s", name, text)
		case <-time.After(50 * time.Millisecond):
		}
	}
}

var listening = regexp.MustCompile(`"msg":"starting".*"address":"([^"]+)"`)

// await asks for a list until it comes.
func (br *branch) await(ctx context.Context) error {
	u := br.writers[0]
	u.base = br.URL
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	for {
		err := u.call(ctx, http.MethodGet, "/api/v1/transaction", nil, nil)
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return errors.Join(fmt.Errorf("%s does not answer: %w", br.URL, err), br.stop())
		case <-time.After(100 * time.Millisecond):
		}
	}
}

func (br *branch) stop() error {
	var failures []error
	for _, p := range br.processes {
		err := errors.Join(p.Process.Signal(syscall.SIGTERM), p.Wait())
		if err != nil && !strings.Contains(err.Error(), "signal") {
			failures = append(failures, err)
		}
	}
	return errors.Join(failures...)
}
