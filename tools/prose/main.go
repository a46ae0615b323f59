// Command prose checks the language of comments and documents.
//
//	prose [-v] FOLDER
//
// reads the files that git tracks in FOLDER: comments of Go, proto, SQL, TypeScript, YAML and shell
// files, and paragraphs of Markdown files. It skips generated files, and migrations, because a
// merged migration is never changed. It counts the lines with one of the idioms listed in idioms.
// Readers of English as a second language find them hard to understand. It prints the share of such
// lines for each group of files, and the share of comment lines in hand-written Go without tests.
// It exits with 1 if more than 3 % of a group's lines contain an idiom. Small groups may have one
// such line. -v prints each line found. `make lint` runs it.
//
// The check is a thermometer: a sentence that passes can still be hard to read. CONTRIBUTING.md has
// the rules.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// maxShare is the allowed share of lines with an idiom in a group of files.
const maxShare = 0.03

// idioms are regular expressions. CONTRIBUTING.md names the words to use instead.
var idioms = regexp.MustCompile(strings.Join([]string{
	`\b(tell|tells|told|telling)\b`,
	`\b(seldom|anew|dear|heir|nor|thus|hence|whoever|whosever)\b`,
	`\b(whatever becomes|somebody|nobody|whose is)\b`,
	`\b(who|what|which) (is|are|was|were|comes|came|has|have|had|sends|stops|waits|cannot|may) `,
	`(^|[.:;] )(What|Who|Whoever|Whatever) `,
	`\b(has|have|had|having|lets|let) (the|a|an|it|them|somebody|nobody|each|all|` +
		`events|requests) [a-z ]{0,30}(be|know|wait|look|answer|begin|go|write|read|take)\b`,
	`\b(is|are) (none|no [a-z]+) (of|by)\b`,
	`\b(that|those) of (the|a|an|one|others|those|it)\b`,
	`, for (it|they|he|the|a|an|nobody|each|what|this|that|these|there|no) `,
	`\b(done without|by itself|for good|in vain|of its own|of their own|at hand|as well as ever)\b`,
	`\b(he|him|his|himself)\b`,
	`\b(goes on|go on|going on)\b`,
}, "|"))

// comments find the text of a comment by a file's ending.
var comments = map[string]*regexp.Regexp{
	".go":    regexp.MustCompile(`(?:^|\s)//\s?(.*)`),
	".proto": regexp.MustCompile(`//\s?(.*)`),
	".ts":    regexp.MustCompile(`//\s?(.*)`),
	".sql":   regexp.MustCompile(`--\s?(.*)`),
	".yaml":  regexp.MustCompile(`#\s?(.*)`),
	".sh":    regexp.MustCompile(`#\s?(.*)`),
}

// code matches a code span of Markdown, whose words are identifiers.
var code = regexp.MustCompile("`[^`]*`")

func main() {
	verbose := flag.Bool("v", false, "print each line found")
	flag.Parse()
	if err := run(context.Background(), flag.Arg(0), *verbose); err != nil {
		fmt.Fprintln(os.Stderr, "prose:", err)
		os.Exit(1)
	}
}

// count holds numbers of lines.
type count struct{ found, lines int }

func (c count) share() float64 { return float64(c.found) / float64(max(1, c.lines)) }

// run counts the lines of all tracked files, by group. all is their total, and commented has the
// comment lines and all lines of Go.
func run(ctx context.Context, folder string, verbose bool) error {
	out, err := exec.CommandContext(ctx, "git", "-C", folder, "ls-files").Output()
	if err != nil {
		return fmt.Errorf("listing files: %w", err)
	}
	groups, all, commented := map[string]count{}, count{}, count{}
	for _, name := range strings.Fields(string(out)) {
		text, err := os.ReadFile(filepath.Join(folder, name))
		if err != nil || generated(name, string(text)) || strings.Contains(name, "/migrations/") {
			continue
		}
		var c count
		for n, line := range prose(name, string(text)) {
			c.lines++
			if idioms.MatchString(line) {
				c.found++
				if verbose {
					fmt.Printf("%s:%d: %s\n", name, n, line)
				}
			}
		}
		g := groups[group(name)]
		groups[group(name)] = count{g.found + c.found, g.lines + c.lines}
		all = count{all.found + c.found, all.lines + c.lines}
		if strings.HasSuffix(name, ".go") && !strings.HasSuffix(name, "_test.go") {
			commented.lines += strings.Count(string(text), "\n")
			commented.found += len(regexp.MustCompile(`(?m)^\s*//`).FindAllString(string(text), -1))
		}
	}
	return report(groups, all, commented)
}

// report prints the groups above maxShare and the totals, and returns an error if there is such a
// group.
func report(groups map[string]count, all, commented count) error {
	var failed []string
	for _, name := range slices.Sorted(maps.Keys(groups)) {
		g := groups[name]
		if g.found > 1 && g.share() > maxShare {
			failed = append(failed, name)
			fmt.Printf("%5.1f %%  %4d of %5d  %s\n", 100*g.share(), g.found, g.lines, name)
		}
	}
	fmt.Printf("%5.1f %%  %4d of %5d  lines of prose with an idiom to avoid\n", 100*all.share(),
		all.found, all.lines)
	fmt.Printf("%5.1f %%  of the lines of Go without tests are comments\n", 100*commented.share())
	if failed != nil {
		return errors.New("too many idioms; `make prose` lists the lines, " +
			"and CONTRIBUTING.md says what to write instead")
	}
	return nil
}

// group returns the first two folders of a file's path, or the name of a file that is in none.
func group(name string) string {
	parts := strings.Split(name, "/")
	if len(parts) < 3 {
		return parts[0]
	}
	return parts[0] + "/" + parts[1]
}

// generated reports whether a file is generated, by its folder or the standard comment near its
// start.
func generated(name, text string) bool {
	return strings.Contains(name, "/gen/") ||
		strings.Contains(text[:min(400, len(text))], "Code generated")
}

// prose returns the lines of at least four words, by line number.
func prose(name, text string) map[int]string {
	lines, fenced := map[int]string{}, false
	comment, markdown := comments[filepath.Ext(name)], filepath.Ext(name) == ".md"
	for i, line := range strings.Split(text, "\n") {
		switch {
		case markdown && strings.HasPrefix(line, "```"):
			fenced = !fenced
			continue
		case markdown && !fenced:
			line = code.ReplaceAllString(line, "")
		case comment != nil && comment.MatchString(line):
			line = comment.FindStringSubmatch(line)[1]
		default:
			continue
		}
		if len(strings.Fields(line)) >= 4 {
			lines[i+1] = strings.TrimSpace(line)
		}
	}
	return lines
}
