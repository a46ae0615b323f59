// Command mutants changes one check, lock, limit or expiry of a package at a time and reports the
// changes that no test of the package notices.
//
//	go run ./test/cmd/mutants [flags] services/auth gateway/internal/admission=gateway ...
//
// The tests of a package are its own, or those of the packages after the equals sign, separated by
// plus signs.
//
// It finds the changes in the syntax tree and in the SQL of the package, so that there is no list
// to maintain:
//
//   - check removed, case removed: a condition whose branch returns is never true
//   - lock removed, row lock dropped, advisory lock shared: simultaneous transactions do not wait
//     for each other
//   - condition dropped: a condition of a statement, such as that of ownership, is always true
//   - limit moved: < becomes <=, and so on
//   - expiry reversed: Before becomes After
//
// The source tree stays as it is: the compiler gets the changed file as an overlay. The tests need
// TEST_DATABASE_URL where the package needs PostgreSQL. A survivor is a missing test, or a check
// that another one makes redundant. A mutant that only the time limit ends is reported, too: no
// test names its cause.
package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"strings"
	"time"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	survivors, err := run(ctx, os.Args[1:])
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "mutants:", err)
		os.Exit(2)
	}
	if survivors > 0 {
		os.Exit(1)
	}
}

type runner struct {
	dir, temp, tests string
	// testers are the folders whose tests run.
	testers []string
	// limit is a multiple of the time that the tests need without a mutation.
	limit time.Duration
}

func run(ctx context.Context, args []string) (survivors int, err error) {
	flags := flag.NewFlagSet("mutants", flag.ContinueOnError)
	list := flags.Bool("list", false, "print the mutants and test none")
	match := flags.String("match", "",
		"test only mutants whose line in the list matches this `regexp`, such as store_sessions")
	tests := flags.String("run", "", "run only tests that match this `regexp`")
	if err := flags.Parse(args); err != nil {
		return 0, err
	}
	wanted, err := regexp.Compile(*match)
	if err != nil {
		return 0, err
	}
	temp, err := os.MkdirTemp("", "mutants")
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(temp)) }()
	// The packages are tested one after the other, because their tests use all processors.
	for _, arg := range flags.Args() {
		dir, testers, _ := strings.Cut(arg, "=")
		mutants, err := find(dir)
		if err != nil {
			return survivors, err
		}
		selected := mutants[:0]
		for _, m := range mutants {
			if wanted.MatchString(m.String()) {
				selected = append(selected, m)
			}
		}
		if *list {
			for _, m := range selected {
				fmt.Println(m)
			}
			continue
		}
		r := &runner{
			dir: dir, temp: temp, tests: *tests, testers: strings.Split(cmp.Or(testers, dir), "+"),
		}
		n, err := r.all(ctx, selected)
		survivors += n
		if err != nil {
			return survivors, fmt.Errorf("%s: %w", dir, err)
		}
	}
	return survivors, nil
}

// all tests the mutants and prints the survivors. The tests must pass without a mutation, because
// otherwise each mutant would seem to be killed.
func (r *runner) all(ctx context.Context, mutants []mutant) (survivors int, err error) {
	if len(mutants) == 0 {
		return 0, nil
	}
	start := time.Now()
	r.limit = 10 * time.Minute
	verdict, _, err := r.test(ctx, nil)
	if err != nil {
		return 0, err
	}
	if verdict != survived {
		return 0, fmt.Errorf("the tests fail without a mutation: %s", verdict)
	}
	// The measured time includes the compilation. So a mutant is not stopped too early on a slow
	// machine, but a mutant that hangs is.
	r.limit = 3*time.Since(start) + time.Minute
	counts := map[verdictOf]int{}
	for i, mutant := range mutants {
		verdict, failed, err := r.test(ctx, &mutant)
		if err != nil {
			return survivors, err
		}
		counts[verdict]++
		if verdict == survived || verdict == timedOut {
			survivors++
			fmt.Printf("%s  %s\n", strings.ToUpper(string(verdict)), mutant)
		}
		fmt.Fprintf(os.Stderr, "%d of %d: %s  %s  %s\n", i+1, len(mutants), verdict, mutant, failed)
	}
	fmt.Printf("%s: %d mutants, %d killed, %d survived, %d ended by the time limit, %d did not "+
		"compile\n",
		r.dir, len(mutants), counts[killed], counts[survived], counts[timedOut], counts[invalid])
	return survivors, nil
}

// verdictOf is the result of the tests of a mutant.
type verdictOf string

const (
	killed   verdictOf = "killed"
	survived verdictOf = "survived"
	timedOut verdictOf = "timed out"
	invalid  verdictOf = "does not compile"
)

var failure = regexp.MustCompile(`--- FAIL: (\S+)`)

// test tests a mutant, or the package without one, until the tests of a folder notice it. failed is
// the name of the test that killed the mutant, or empty if the whole test program ended.
func (r *runner) test(ctx context.Context, mutant *mutant) (v verdictOf, failed string, err error) {
	for _, tester := range r.testers {
		v, failed, err = r.testIn(ctx, tester, mutant)
		if err != nil || v != survived {
			break
		}
	}
	return v, failed, err
}

// testIn builds the tests of a folder with a mutant, or without one, and runs them.
func (r *runner) testIn(
	ctx context.Context, tester string, mutant *mutant,
) (v verdictOf, failed string, err error) {
	program := filepath.Join(r.temp, "package.test")
	build := []string{"test", "-c", "-o", program}
	if mutant != nil {
		overlay, err := r.overlay(*mutant)
		if err != nil {
			return "", "", err
		}
		build = append(build, "-overlay", overlay)
	}
	build = append(build, "./"+tester)
	if out, err := exec.CommandContext(ctx, "go", build...).CombinedOutput(); err != nil {
		if mutant == nil || ctx.Err() != nil {
			return "", "", fmt.Errorf("building the tests: %w\n%s", err, out)
		}
		// A mutant that does not compile proves nothing about the tests.
		return invalid, "", nil
	}
	limited, cancel := context.WithTimeout(ctx, r.limit)
	defer cancel()
	tests := exec.CommandContext(limited, program, "-test.failfast", "-test.run="+r.tests)
	// The delay applies to processes that the tests have started and that still hold the output.
	tests.Dir, tests.WaitDelay = tester, 5*time.Second
	out, err := tests.CombinedOutput()
	switch {
	case ctx.Err() != nil:
		return "", "", ctx.Err()
	case limited.Err() != nil:
		return timedOut, "", nil
	case err != nil && mutant == nil:
		return killed, "", fmt.Errorf("testing without a mutation: %w\n%s", err, out)
	case err != nil:
		if match := failure.FindSubmatch(out); match != nil {
			failed = string(match[1])
		}
		return killed, failed, nil
	}
	return survived, "", nil
}

// overlay writes the mutated file, and the description of it that the go command reads.
func (r *runner) overlay(mutant mutant) (string, error) {
	source, err := os.ReadFile(mutant.file)
	if err != nil {
		return "", err
	}
	mutated := filepath.Join(r.temp, "mutated.go")
	description := filepath.Join(r.temp, "overlay.json")
	if err := os.WriteFile(mutated, mutant.apply(source), 0o600); err != nil {
		return "", err
	}
	original, err := filepath.Abs(mutant.file)
	if err != nil {
		return "", err
	}
	text, err := json.Marshal(map[string]any{"Replace": map[string]string{original: mutated}})
	if err != nil {
		return "", err
	}
	return description, os.WriteFile(description, text, 0o600)
}
