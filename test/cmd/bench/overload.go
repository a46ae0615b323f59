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
	// calm is how many clients it takes to use a stack fully, each asking again when it is answered.
	calm = 64
	// crowd is how many requests may be under way when they come at a rate, whatever becomes of those before.
	crowd          = 2000
	overloadRounds = 3
	// unanswered is no status of HTTP.
	unanswered = -1
	// kept is the least that may be left of the best throughput at the highest rate.
	kept = 0.8
)

// outcome is what came of requests.
type outcome struct {
	sent, good, shed, late, lost float64 // a second
	p50, p99                     float64 // of those that were created, in milliseconds
}

// overload finds out what the stack can do, sends multiples of it, and fails when less than kept is left of the best.
func (b *bench) overload(ctx context.Context) error {
	s, err := b.stack(ctx, "overload", true)
	if err != nil {
		return err
	}
	if err := b.aim(s); err != nil {
		return err
	}
	if _, err := b.attack(ctx, 0, calm); err != nil {
		return err // the first run fills caches and pools
	}
	// What else the machine does changes from minute to minute: each round has a capacity of its own, which is row 0.
	multiples := []float64{0, 0.5, 1, 2, 3}
	met := map[float64][]outcome{}
	for range min(b.rounds, overloadRounds) {
		capacity := 0.0
		for _, m := range multiples {
			workers := crowd
			if m == 0 {
				workers = calm
			}
			o, err := b.attack(ctx, int(capacity*m), workers)
			if err != nil {
				return err
			}
			if m == 0 {
				capacity = o.good
			}
			met[m] = append(met[m], o)
		}
	}
	best := 0.0
	for _, outcomes := range met {
		best = max(best, of(outcomes, func(o outcome) float64 { return o.good }))
	}
	fmt.Println("| arrivals, of capacity | sent/s | created/s | of the best | refused/s | not yet answered/s | failed/s | p50 of those created | p99 |\n|---|---|---|---|---|---|---|---|---|")
	left := 0.0
	for _, m := range multiples {
		arrivals := fmt.Sprintf("%.1f", m)
		if m == 0 {
			arrivals = fmt.Sprintf("%d clients in turn", calm)
		}
		left = of(met[m], func(o outcome) float64 { return o.good }) / best
		fmt.Printf("| %s | %.0f | %.0f | %.2f | %.0f | %.0f | %.0f | %.0f ms | %.0f ms |\n", arrivals,
			of(met[m], func(o outcome) float64 { return o.sent }), left*best, left, of(met[m], func(o outcome) float64 { return o.shed }),
			of(met[m], func(o outcome) float64 { return o.late }),
			of(met[m], func(o outcome) float64 { return o.lost }), of(met[m], func(o outcome) float64 { return o.p50 }), of(met[m], func(o outcome) float64 { return o.p99 }))
	}
	if left < kept {
		return fmt.Errorf("less than %.0f %% of the best is left at %.0f times the capacity", 100*kept, multiples[len(multiples)-1])
	}
	return nil
}

// of is the median of one figure.
func of(outcomes []outcome, figure func(outcome) float64) float64 {
	values := make([]float64, 0, len(outcomes))
	for _, o := range outcomes {
		values = append(values, figure(o))
	}
	return median(values)
}

// attack has vegeta post transactions at a rate a second, or for 0 as fast as so many workers are answered.
func (b *bench) attack(ctx context.Context, rate, workers int) (outcome, error) {
	results := filepath.Join(b.dir, "results")
	vegeta := func(arguments ...string) *exec.Cmd {
		command := slices.Concat(b.vegeta, arguments)
		return exec.CommandContext(ctx, command[0], command[1:]...)
	}
	out, err := vegeta("attack", "-format=json", "-targets="+b.targets(), "-output="+results, "-rate="+strconv.Itoa(rate), "-duration="+b.length.String(),
		"-workers="+strconv.Itoa(min(calm, workers)), "-max-workers="+strconv.Itoa(workers), "-connections="+strconv.Itoa(workers), "-timeout=10s", "-max-body=0").CombinedOutput()
	if err != nil {
		return outcome{}, fmt.Errorf("vegeta: %w\n%s", err, out)
	}
	table, err := vegeta("encode", "-to=csv", results).Output()
	if err != nil {
		return outcome{}, fmt.Errorf("vegeta: %w", err)
	}
	rows, err := csv.NewReader(bytes.NewReader(table)).ReadAll()
	if err != nil {
		return outcome{}, fmt.Errorf("reading vegeta's table: %w", err)
	}
	return judge(rows, b.length)
}

// judge reads rows of time, code and latency, both times in nanoseconds. What was answered after the time of the attack does
// not count: under overload it is the past.
func judge(rows [][]string, length time.Duration) (outcome, error) {
	codes, latencies, end := map[int]float64{}, []int{}, math.MaxInt
	for _, row := range rows {
		at, err1 := strconv.Atoi(row[0])
		code, err2 := strconv.Atoi(row[1])
		took, err3 := strconv.Atoi(row[2])
		if err := errors.Join(err1, err2, err3); err != nil {
			return outcome{}, fmt.Errorf("reading vegeta's table: %w", err)
		}
		end = min(end, at+int(length))
		if at+took > end {
			code = unanswered
		}
		codes[code]++
		if code == http.StatusCreated {
			latencies = append(latencies, took)
		}
	}
	if len(latencies) == 0 {
		return outcome{}, fmt.Errorf("nothing was created: %v", codes)
	}
	slices.Sort(latencies)
	o := outcome{p50: float64(latencies[len(latencies)/2]) / 1e6, p99: float64(latencies[len(latencies)*99/100]) / 1e6}
	seconds := length.Seconds()
	for code, count := range codes {
		o.sent += count / seconds
		switch code {
		case http.StatusCreated:
			o.good += count / seconds
		case http.StatusServiceUnavailable, http.StatusTooManyRequests:
			o.shed += count / seconds
		case unanswered:
			o.late += count / seconds
		default:
			o.lost += count / seconds
		}
	}
	return o, nil
}

// aim writes what vegeta sends, one request after the other: a create of each user.
func (b *bench) aim(s *stack) error {
	var targets bytes.Buffer
	encoder := json.NewEncoder(&targets)
	for _, u := range s.writers {
		r := u.creates()
		err := encoder.Encode(map[string]any{
			"method": r.method, "url": s.URL + r.path, "body": []byte(r.body),
			"header": http.Header{"Content-Type": {"application/json"}, "Authorization": {"Bearer " + r.token}},
		})
		if err != nil {
			return err
		}
	}
	return os.WriteFile(b.targets(), targets.Bytes(), 0o600)
}

func (b *bench) targets() string { return filepath.Join(b.dir, "targets.json") }
