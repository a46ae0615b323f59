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

// partitionSQL copies the ledger's schema, with the large tables partitioned by owner.
//
//go:embed partition.sql
var partitionSQL string

// replica is an additional ledger for a stack, and a gateway that calls it. Both are separate
// processes.
type replica struct {
	// stack is a copy of the original stack with the URL of the additional gateway. Users, database
	// and other services are the same.
	*stack
	processes []*exec.Cmd
}

func (b *bench) scale(ctx context.Context) error {
	s, err := b.stack(ctx, "large")
	if err != nil {
		return err
	}
	if err := b.compareReplicas(ctx, s); err != nil {
		return err
	}
	return b.comparePartitions(ctx, s)
}

// compareReplicas compares two ledgers with one, with the same number of clients. With two ledgers,
// groups of creates are smaller, and two processes wait for the same balances. The result is the
// cost of a replica. Its benefit needs additional cores.
func (b *bench) compareReplicas(ctx context.Context, base *stack) (err error) {
	second, err := b.replica(ctx, base, "ledger")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, second.stop()) }()
	// With one user, all creates update the same balance, and the two ledgers wait for each other's
	// locks.
	for _, users := range []int{writers, 1} {
		what := "creates with two replicas of the ledger, 64 clients, against one replica"
		if users == 1 {
			what += ", all on one wallet"
		}
		_, err := b.compare(ctx, comparison{
			what: what, unit: "/s",
			ours: func(ctx context.Context) (float64, error) {
				rates, failures := make(chan float64, 2), make(chan error, 2)
				// Each ledger gets half of the clients.
				for i, half := range []*stack{base, second.stack} {
					go func() {
						a, err := b.wrk(ctx, half, load{
							clients: 32, requests: base.spending(users), keyed: keyed,
							name: fmt.Sprint(i),
						})
						rates <- a.perSecond
						failures <- err
					}()
				}
				return <-rates + <-rates, errors.Join(<-failures, <-failures)
			},
			theirs: func(ctx context.Context) (float64, error) {
				a, err := b.wrk(ctx, base,
					load{clients: 64, requests: base.spending(users), keyed: keyed})
				return a.perSecond, err
			},
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func (b *bench) comparePartitions(ctx context.Context, base *stack) (err error) {
	conn, err := base.superuser(ctx)
	if err != nil {
		return err
	}
	defer conn.Close(ctx)
	// The simple protocol allows several statements, which then run in one transaction.
	if _, err := conn.Exec(ctx, partitionSQL, pgx.QueryExecModeSimpleProtocol); err != nil {
		return fmt.Errorf("partitioning: %w", err)
	}
	partitioned, err := b.replica(ctx, base, "partitioned")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, partitioned.stop()) }()
	// Both sides run in additional processes, so that they differ only in the tables.
	whole, err := b.replica(ctx, base, "ledger")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, whole.stop()) }()
	for _, tc := range []struct {
		what string
		load load
	}{
		{"creates with 16 partitions, 64 clients, against no partitions", load{
			clients: 64, requests: base.spending(writers), keyed: keyed,
		}},
		{"pages of 50 with 16 partitions, 16 clients, against no partitions", load{
			clients: 16, requests: []request{base.writers[0].gets(firstPage)},
		}},
	} {
		// side measures one of the two ledgers with the same users.
		side := func(base *stack) func(context.Context) (float64, error) {
			return func(ctx context.Context) (float64, error) {
				a, err := b.wrk(ctx, base, tc.load)
				return a.perSecond, err
			}
		}
		if _, err := b.compare(ctx, comparison{
			what: tc.what, unit: "/s", ours: side(partitioned.stack), theirs: side(whole.stack),
		}); err != nil {
			return err
		}
	}
	return nil
}

// replica starts a ledger on a schema of the stack's database, and a gateway for it. It returns
// when the gateway serves requests.
func (b *bench) replica(ctx context.Context, target *stack, schema string) (*replica, error) {
	database, err := url.Parse(target.Databases["ledger"])
	if err != nil {
		return nil, err
	}
	// Statements have no schema in their table names, so the search_path selects the tables.
	q := database.Query()
	q.Set("search_path", schema)
	database.RawQuery = q.Encode()
	// Only the URL differs from the original stack.
	started := *target.Stack
	br := &replica{stack: &stack{Stack: &started, dir: target.dir, writers: target.writers}}
	environment := []string{
		"DATABASE_URL=" + database.String(), "NATS_URL=" + target.NATS,
		"SERVICE_KEY=" + target.ServiceKey, "RATE_LIMIT=0",
		"AUTH_ADDR=" + target.GRPC["auth"], "OCR_ADDR=" + target.GRPC["ocr"],
		"BUDGET_ADDR=" + target.GRPC["budget"],
		"OTEL_EXPORTER_OTLP_ENDPOINT=" + b.endpoint, "OTEL_TRACES_SAMPLER=parentbased_traceidratio",
		"OTEL_TRACES_SAMPLER_ARG=0.01",
	}
	ledger, err := br.start(ctx, filepath.Join(b.programs, "ledger"), environment)
	if err != nil {
		return nil, errors.Join(err, br.stop())
	}
	// The gateway calls the new ledger, and the other services of the stack.
	front, err := br.start(ctx, filepath.Join(b.programs, "gateway"),
		append(environment, "LEDGER_ADDR="+ledger))
	if err != nil {
		return nil, errors.Join(err, br.stop())
	}
	started.URL = "http://" + front
	return br, br.await(ctx)
}

// start starts a service on a free port, and returns its address, read from the first line of its
// log.
func (br *replica) start(
	ctx context.Context, program string, environment []string,
) (string, error) {
	name := filepath.Base(program)
	// The certificates are empty unless the stack uses mutual TLS.
	certificates := br.Certificates[name]
	cmd := exec.CommandContext(ctx, program)
	cmd.Env = append(append(os.Environ(), environment...), "LISTEN_ADDR=127.0.0.1:0",
		"METRICS_ADDR=127.0.0.1:0", "HEALTH_ADDR=",
		"TLS_CERT="+certificates.Cert, "TLS_KEY="+certificates.Key, "TLS_CA="+certificates.CA)
	log, err := os.CreateTemp(br.dir, name)
	if err != nil {
		return "", err
	}
	defer log.Close()
	// The file is also the means to learn the address, because the port is chosen by the system.
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

// listening matches the log line with the address of a service.
var listening = regexp.MustCompile(`"msg":"starting".*"address":"([^"]+)"`)

func (br *replica) await(ctx context.Context) error {
	// A list requires the gateway, the ledger and its database.
	created := br.writers[0]
	created.base = br.URL
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	for {
		err := created.call(ctx, http.MethodGet, "/api/v1/transaction", nil, nil)
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return errors.Join(fmt.Errorf("%s did not become ready: %w", br.URL, err), br.stop())
		case <-time.After(100 * time.Millisecond):
		}
	}
}

func (br *replica) stop() error {
	var failures []error
	for _, p := range br.processes {
		// The error of a process that the signal has ended is expected.
		err := errors.Join(p.Process.Signal(syscall.SIGTERM), p.Wait())
		if err != nil && !strings.Contains(err.Error(), "signal") {
			failures = append(failures, err)
		}
	}
	return errors.Join(failures...)
}
