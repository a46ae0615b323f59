package main

import (
	"context"
	_ "embed"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/anypb"

	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
)

const (
	// writers is the number of users who create transactions, on both sides of a comparison. Each
	// has a wallet and a category, so that creates of different users update different balances.
	writers = 64
	// maxClients is the maximum number of pgbench's connections. The services use the other ones of
	// PostgreSQL.
	maxClients = 90
	// connecting is the minimum duration of a run of pgbench, which includes the time to connect.
	connecting = 5 * time.Second
	// someID stands for all ids in an event of the baseline.
	someID = "0199f0c5-0000-7000-8000-000000000000"
)

// createSQL does the work of one create of an owner that prepareSQL created.
//
//go:embed create.sql
var createSQL string

// prepareSQL creates a wallet and a category of each writer of the baseline.
//
//go:embed prepare.sql
var prepareSQL string

func (s *stack) prepareBaseline(ctx context.Context) error {
	conn, err := s.superuser(ctx)
	if err != nil {
		return err
	}
	defer conn.Close(ctx)
	_, err = conn.Exec(ctx, prepareSQL)
	return err
}

var (
	tps     = regexp.MustCompile(`tps = ([0-9.]+)`)
	average = regexp.MustCompile(`latency average = ([0-9.]+) ms`)
)

// pgbench runs a script. A rate other than 0 limits the transactions per second. The result has the
// average latency in place of the median, which pgbench does not report.
func (b *bench) pgbench(
	ctx context.Context, target *stack, script string, clients int, rate float64,
) (result, error) {
	dir, err := os.MkdirTemp(b.dir, "pgbench-")
	if err != nil {
		return result{}, err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	name := filepath.Join(dir, "script.sql")
	if err := os.WriteFile(name, []byte(script), 0o600); err != nil {
		return result{}, err
	}
	// -n skips the vacuum of pgbench's own tables, which do not exist here. -l writes the latency
	// of each transaction to the logs.
	args := []string{
		"-n", "-M", "prepared", "-f", name, "-c", strconv.Itoa(min(clients, maxClients)), "-j", "2",
		"-T", strconv.Itoa(int(max(b.length, connecting).Seconds())), "-l", "--log-prefix",
		filepath.Join(dir, "log"),
	}
	if rate > 0 {
		args = append(args, "-R", strconv.Itoa(int(rate)))
	}
	cmd := exec.CommandContext(ctx, "pgbench", append(args, target.Databases[""])...)
	cmd.Env = append(os.Environ(), "PGOPTIONS=-c search_path=ledger")
	out, err := cmd.CombinedOutput()
	if err != nil {
		return result{}, fmt.Errorf("pgbench: %w\n%s", err, out)
	}
	perSecond, latency := tps.FindSubmatch(out), average.FindSubmatch(out)
	if perSecond == nil || latency == nil {
		return result{}, fmt.Errorf("pgbench printed no rate or latency:\n%s", out)
	}
	a := result{}
	if a.perSecond, err = strconv.ParseFloat(string(perSecond[1]), 64); err != nil {
		return result{}, err
	}
	if a.median, err = strconv.ParseFloat(string(latency[1]), 64); err != nil {
		return result{}, err
	}
	a.p99, err = percentile99(dir)
	return a, err
}

// percentile99 returns the 99th percentile of the latencies in pgbench's logs, in milliseconds. A
// line has client, number, latency in microseconds, script and time. With a limited rate, it also
// has the time before the scheduled transaction could begin. This time is subtracted.
func percentile99(dir string) (float64, error) {
	logs, err := filepath.Glob(filepath.Join(dir, "log.*"))
	if err != nil {
		return 0, err
	}
	var took []float64
	for _, name := range logs {
		text, err := os.ReadFile(name)
		if err != nil {
			return 0, err
		}
		for line := range strings.Lines(string(text)) {
			columns := strings.Fields(line)
			if len(columns) < 6 {
				continue
			}
			micros, err := strconv.ParseFloat(columns[2], 64)
			if err != nil {
				return 0, err
			}
			// The column with the wait exists only with a limited rate.
			if len(columns) > 6 {
				waited, err := strconv.ParseFloat(columns[6], 64)
				if err != nil {
					return 0, err
				}
				micros -= waited
			}
			took = append(took, micros/1000)
		}
	}
	if len(took) == 0 {
		return 0, fmt.Errorf("pgbench logged nothing")
	}
	slices.Sort(took)
	return took[len(took)*99/100], nil
}

// baselineScript returns pgbench's script of a create for a random one of the owners. Its event has
// the size of Coffer's.
func baselineScript(owners int) (string, error) {
	// The size of the event matters, and not its content.
	const day = "2026-03-14T00:00:00.000Z"
	transaction := &ledgerv1.Transaction{
		Id: someID, Amount: "-12.30", Description: "Lunch", Date: day, Currency: "EUR",
		WalletId: someID, CategoryId: someID, Type: "expense", CreatedAt: day, UpdatedAt: day,
	}
	event, err := anypb.New(&ledgerv1.TransactionCreated{OwnerId: someID, Transaction: transaction})
	if err != nil {
		return "", err
	}
	data, err := proto.Marshal(event)
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("\\set n random(1, %d)\n"+createSQL, owners, data), nil
}
