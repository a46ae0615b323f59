package main

import (
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"time"
)

const (
	// closedLoopClients is the number of clients that measure the capacity. Each sends its next
	// request after a response.
	closedLoopClients = 64
	// maxInFlight limits the requests in flight when they are sent at a fixed rate, regardless of
	// responses.
	maxInFlight    = 2000
	overloadRounds = 3
	noResponse     = -1
	// minShare is the goal for the throughput at the highest rate, as a share of the maximum
	// throughput.
	minShare = 0.8
)

// outcome is the result of one run of the load generator. rejected counts 503 and 429, and failed
// any other status than 201.
type outcome struct {
	// Requests per second. late requests had no response when the run ended.
	sent, created, rejected, late, failed float64
	// Latencies of the successful creates, in milliseconds.
	p50, p99 float64
}

// overload measures the capacity of the stack, sends multiples of it, and returns an error if the
// throughput at the highest rate is less than minShare of the maximum.
func (b *bench) overload(ctx context.Context) error {
	s, err := b.stack(ctx, "overload")
	if err != nil {
		return err
	}
	if err := b.writeTargets(s); err != nil {
		return err
	}
	// Its result is discarded.
	if _, err := b.attack(ctx, 0, closedLoopClients); err != nil {
		return err // The first run fills caches and connection pools.
	}
	// Other load on the machine changes over time, so each round measures the capacity again, as
	// multiple 0. 0 measures the capacity. The other rates are sent regardless of responses.
	multiples := []float64{0, 0.5, 1, 2, 3}
	byMultiple := map[float64][]outcome{}
	for range min(b.rounds, overloadRounds) {
		capacity := 0.0
		for _, multiple := range multiples {
			workers := maxInFlight
			if multiple == 0 {
				workers = closedLoopClients
			}
			o, err := b.attack(ctx, int(capacity*multiple), workers)
			if err != nil {
				return err
			}
			if multiple == 0 {
				capacity = o.created
			}
			byMultiple[multiple] = append(byMultiple[multiple], o)
		}
	}
	// best is the maximum throughput, at any rate.
	best := 0.0
	for _, outcomes := range byMultiple {
		best = max(best, medianOf(outcomes, func(o outcome) float64 { return o.created }))
	}
	fmt.Println("| arrivals / capacity | sent/s | created/s | share of the maximum | rejected/s " +
		"| unanswered/s | failed/s | p50 of creates | p99 |\n|---|---|---|---|---|---|---|---|---|")
	share := 0.0
	for _, multiple := range multiples {
		arrivals := fmt.Sprintf("%.1f", multiple)
		if multiple == 0 {
			arrivals = fmt.Sprintf("%d clients, closed loop", closedLoopClients)
		}
		share = medianOf(byMultiple[multiple], func(o outcome) float64 { return o.created }) / best
		fmt.Printf("| %s | %.0f | %.0f | %.2f | %.0f | %.0f | %.0f | %.0f ms | %.0f ms |\n",
			arrivals,
			medianOf(byMultiple[multiple], func(o outcome) float64 { return o.sent }),
			share*best, share,
			medianOf(byMultiple[multiple], func(o outcome) float64 { return o.rejected }),
			medianOf(byMultiple[multiple], func(o outcome) float64 { return o.late }),
			medianOf(byMultiple[multiple], func(o outcome) float64 { return o.failed }),
			medianOf(byMultiple[multiple], func(o outcome) float64 { return o.p50 }),
			medianOf(byMultiple[multiple], func(o outcome) float64 { return o.p99 }))
	}
	if share < minShare {
		return fmt.Errorf(
			"the throughput at %[2]g times the capacity is less than %[1]g %% of the maximum",
			100*minShare, multiples[len(multiples)-1],
		)
	}
	return nil
}

func medianOf(outcomes []outcome, figure func(outcome) float64) float64 {
	values := make([]float64, 0, len(outcomes))
	for _, o := range outcomes {
		values = append(values, figure(o))
	}
	return median(values)
}

// attack runs vegeta, which creates transactions at the rate per second. With rate 0, each worker
// sends its next request after a response.
func (b *bench) attack(ctx context.Context, rate, workers int) (outcome, error) {
	results := filepath.Join(b.dir, "results")
	// vegeta may be a command with arguments, such as taskset to select a core.
	vegeta := func(arguments ...string) *exec.Cmd {
		command := slices.Concat(b.vegeta, arguments)
		return exec.CommandContext(ctx, command[0], command[1:]...)
	}
	out, err := vegeta("attack", "-format=json", "-targets="+b.targets(), "-output="+results,
		"-rate="+strconv.Itoa(rate), "-duration="+b.length.String(),
		"-workers="+strconv.Itoa(min(closedLoopClients, workers)),
		"-max-workers="+strconv.Itoa(workers), "-connections="+strconv.Itoa(workers),
		"-timeout=10s", "-max-body=0").CombinedOutput()
	if err != nil {
		return outcome{}, fmt.Errorf("vegeta: %w\n%s", err, out)
	}
	// The summary that vegeta can print does not exclude late responses, so the single results are
	// counted here.
	table, err := vegeta("encode", "-to=csv", results).Output()
	if err != nil {
		return outcome{}, fmt.Errorf("vegeta: %w", err)
	}
	rows, err := csv.NewReader(bytes.NewReader(table)).ReadAll()
	if err != nil {
		return outcome{}, fmt.Errorf("parsing the output of vegeta: %w", err)
	}
	return parseResults(rows, b.length)
}

// parseResults counts the rows of vegeta: time, status and latency, both times in nanoseconds. A
// response after the end of the run counts as missing, because it belongs to a queue that the
// server should not have.
func parseResults(rows [][]string, length time.Duration) (outcome, error) {
	codes, latencies, end := map[int]float64{}, []int{}, math.MaxInt
	for _, row := range rows {
		at, err1 := strconv.Atoi(row[0])
		code, err2 := strconv.Atoi(row[1])
		took, err3 := strconv.Atoi(row[2])
		if err := errors.Join(err1, err2, err3); err != nil {
			return outcome{}, fmt.Errorf("parsing the output of vegeta: %w", err)
		}
		// The first row is the earliest request.
		end = min(end, at+int(length))
		if at+took > end {
			code = noResponse
		}
		codes[code]++
		if code == http.StatusCreated {
			latencies = append(latencies, took)
		}
	}
	if len(latencies) == 0 {
		return outcome{}, fmt.Errorf("no request succeeded; responses by status: %v", codes)
	}
	slices.Sort(latencies)
	outcome := outcome{
		p50: float64(latencies[len(latencies)/2]) / 1e6,
		p99: float64(latencies[len(latencies)*99/100]) / 1e6,
	}
	seconds := length.Seconds()
	// Every request is counted as sent, and in one of the other figures.
	for code, count := range codes {
		outcome.sent += count / seconds
		switch code {
		case http.StatusCreated:
			outcome.created += count / seconds
		// Both are rejections by a limit, which clients may retry after Retry-After.
		case http.StatusServiceUnavailable, http.StatusTooManyRequests:
			outcome.rejected += count / seconds
		case noResponse:
			outcome.late += count / seconds
		default:
			outcome.failed += count / seconds
		}
	}
	return outcome, nil
}

// writeTargets writes the requests that vegeta sends in turn: one create of each user.
func (b *bench) writeTargets(target *stack) error {
	var targets bytes.Buffer
	encoder := json.NewEncoder(&targets)
	for _, u := range target.writers {
		r := u.creates()
		err := encoder.Encode(map[string]any{
			"method": r.method, "url": target.URL + r.path, "body": []byte(r.body),
			"header": http.Header{
				"Content-Type": {"application/json"}, "Authorization": {"Bearer " + r.token},
			},
		})
		if err != nil {
			return err
		}
	}
	return os.WriteFile(b.targets(), targets.Bytes(), 0o600)
}

func (b *bench) targets() string { return filepath.Join(b.dir, "targets.json") }
