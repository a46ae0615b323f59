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
	// writers is how many users create transactions, here and on the yardstick's side.
	writers = 64
	// mostClients is what Postgres takes beside the services.
	mostClients = 90
	// connecting is in pgbench's time.
	connecting = 5 * time.Second
	someID     = "0199f0c5-0000-7000-8000-000000000000"
)

// createSQL is the work of one create: ownership, row, balance, totals, event. Its owners are prepareSQL's.
//
//go:embed create.sql
var createSQL string

//go:embed prepare.sql
var prepareSQL string

func (s *stack) prepareYardstick(ctx context.Context) error {
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

// pgbench runs a script; rate limits the transactions per second unless it is zero. It answers as wrk does, with the average
// for the median.
func (b *bench) pgbench(ctx context.Context, s *stack, script string, clients int, rate float64) (answered, error) {
	dir, err := os.MkdirTemp(b.dir, "pgbench-")
	if err != nil {
		return answered{}, err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	name := filepath.Join(dir, "script.sql")
	if err := os.WriteFile(name, []byte(script), 0o600); err != nil {
		return answered{}, err
	}
	args := []string{
		"-n", "-M", "prepared", "-f", name, "-c", strconv.Itoa(min(clients, mostClients)), "-j", "2",
		"-T", strconv.Itoa(int(max(b.length, connecting).Seconds())), "-l", "--log-prefix", filepath.Join(dir, "log"),
	}
	if rate > 0 {
		args = append(args, "-R", strconv.Itoa(int(rate)))
	}
	cmd := exec.CommandContext(ctx, "pgbench", append(args, s.Databases[""])...)
	cmd.Env = append(os.Environ(), "PGOPTIONS=-c search_path=ledger")
	out, err := cmd.CombinedOutput()
	if err != nil {
		return answered{}, fmt.Errorf("pgbench: %w\n%s", err, out)
	}
	perSecond, latency := tps.FindSubmatch(out), average.FindSubmatch(out)
	if perSecond == nil || latency == nil {
		return answered{}, fmt.Errorf("pgbench told no rate:\n%s", out)
	}
	a := answered{}
	if a.perSecond, err = strconv.ParseFloat(string(perSecond[1]), 64); err != nil {
		return answered{}, err
	}
	if a.median, err = strconv.ParseFloat(string(latency[1]), 64); err != nil {
		return answered{}, err
	}
	a.p99, err = slowest(dir)
	return a, err
}

// slowest is the 99th percentile in milliseconds of what pgbench logged: client, number, microseconds, script, time, and
// with a limited rate how much of it was waiting for its turn.
func slowest(dir string) (float64, error) {
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

// yardstick is the script of a create for as many of its owners, with an event of the size of ours.
func yardstick(owners int) (string, error) {
	event, err := anypb.New(&ledgerv1.TransactionCreated{OwnerId: someID, Transaction: &ledgerv1.Transaction{
		Id: someID, Amount: "-12.30", Description: "Lunch", Date: "2026-03-14T00:00:00.000Z", Currency: "EUR", WalletId: someID,
		CategoryId: someID, Type: "expense", CreatedAt: "2026-03-14T00:00:00.000Z", UpdatedAt: "2026-03-14T00:00:00.000Z",
	}})
	if err != nil {
		return "", err
	}
	data, err := proto.Marshal(event)
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("\\set n random(1, %d)\n"+createSQL, owners, data), nil
}
