package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
)

// comparison is a row of the table: the measurements of both sides of a ratio, and the goal for the
// ratio.
type comparison struct {
	// The first column has the text what, and unit follows each figure.
	what, unit string
	// atLeast or atMost is the goal for the ratio of ours to theirs. If both are 0, there is no
	// goal.
	atLeast, atMost float64
	// absolute applies the goal to our figure instead of the ratio.
	absolute bool
	ours     func(context.Context) (float64, error)
	// theirs measures the baseline once. If it is nil, the goal applies to our figure.
	theirs func(context.Context) (float64, error)
}

// heading has an empty last column: the verdict.
const heading = "| measurement | Coffer | baseline | ratio | goal | |\n|---|---|---|---|---|---|\n"

// compare measures both sides in turn, so that other load on the machine affects both. It prints
// the row, adds it to the table, and returns the median of our side.
func (b *bench) compare(ctx context.Context, comparison comparison) (float64, error) {
	rounds := b.rounds
	// Without a baseline, ours runs for as long as it needs.
	if comparison.theirs == nil {
		rounds = 1
	}
	var ours, theirs []float64
	for range rounds {
		our, err := comparison.ours(ctx)
		if err != nil {
			return 0, err
		}
		ours = append(ours, our)
		if comparison.theirs == nil {
			continue
		}
		their, err := comparison.theirs(ctx)
		if err != nil {
			return 0, err
		}
		theirs = append(theirs, their)
	}
	b.add(comparison, ours, theirs)
	return median(ours), nil
}

// add prints the row of measurements that were made in turn, and adds it to the table. Without a
// baseline, theirs is empty.
func (b *bench) add(c comparison, ours, theirs []float64) {
	row := c.row(ours, theirs)
	fmt.Print(row)
	b.table.WriteString(row)
}

func (c comparison) row(ours, theirs []float64) string {
	// Columns that do not apply remain empty.
	against, ratio, goal, met := "", "", "", ""
	value := median(ours)
	if len(theirs) > 0 {
		// The median of the rounds' ratios is not the ratio of the medians: both sides of a round
		// had the same conditions.
		var ratios []float64
		for i, our := range ours {
			ratios = append(ratios, our/theirs[i])
		}
		value = median(ratios)
		against = fmt.Sprintf("%s %s", short(median(theirs)), c.unit)
		ratio = fmt.Sprintf("**%.2f** (%.2f to %.2f)",
			value, slices.Min(ratios), slices.Max(ratios))
	}
	if c.absolute {
		value = median(ours)
	}
	switch {
	case c.atLeast > 0:
		goal, met = fmt.Sprintf("≥ %g", c.atLeast), verdict(value >= c.atLeast)
	case c.atMost > 0:
		goal, met = fmt.Sprintf("≤ %g", c.atMost), verdict(value <= c.atMost)
	}
	return fmt.Sprintf("| %s | %s %s | %s | %s | %s | %s |\n",
		c.what, short(median(ours)), c.unit, against, ratio, goal, met)
}

func verdict(met bool) string {
	if met {
		return "met"
	}
	return "**missed**"
}

func short(v float64) string {
	if v >= 100 {
		return fmt.Sprintf("%.0f", v)
	}
	return fmt.Sprintf("%.3g", v)
}

// median returns the upper median of values, which must not be empty.
func median(values []float64) float64 {
	sorted := slices.Sorted(slices.Values(values))
	return sorted[len(sorted)/2]
}

// The marks enclose the part of the page that is replaced.
const (
	marksStart = "<!-- written by make bench -->\n"
	marksEnd   = "<!-- end of the figures of make bench -->"
)

// write writes the table, and the machine and the commit that were measured, between the marks of
// the page.
func (b *bench) write(ctx context.Context, page string) error {
	text, err := os.ReadFile(page)
	if err != nil {
		return err
	}
	before, rest, found := strings.Cut(string(text), marksStart)
	_, after, ended := strings.Cut(rest, marksEnd)
	if !found || !ended {
		return fmt.Errorf("%s has no marks for the figures", page)
	}
	commit, err := exec.CommandContext(ctx, "git", "describe", "--always", "--dirty",
		"--abbrev=10").Output()
	if err != nil {
		return fmt.Errorf("determining the commit: %w", err)
	}
	server, err := exec.CommandContext(ctx, "pgbench", "--version").Output()
	if err != nil {
		return err
	}
	// The setting changes the results, so it is part of their origin.
	shared := "processes"
	if sessionsShare() {
		shared = "sessions"
	}
	origin := fmt.Sprintf("%d cores, shared among %s, %s/%s, %s, %s; commit %s; %d rounds of %s; "+
		"%d transactions in the large ledger.\n\n",
		runtime.NumCPU(), shared, runtime.GOOS, runtime.GOARCH, runtime.Version(),
		strings.TrimSpace(string(server)),
		strings.TrimSpace(string(commit)), b.rounds, b.length, b.rows)
	// The text before and after the marks is written by hand and remains.
	return os.WriteFile(page,
		[]byte(before+marksStart+origin+heading+b.table.String()+marksEnd+after), 0o600)
}
