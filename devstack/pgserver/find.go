package pgserver

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// oldest is the oldest major version that supports Coffer's SQL.
const oldest = 14

var errNotFound = errors.New(
	"PostgreSQL's server was not found: install it with `apt-get install postgresql` " +
		"(Debian, Ubuntu) or `brew install postgresql@17` (macOS), " +
		"or set PG_BIN to the folder with initdb and postgres",
)

type binaries struct {
	dir   string
	major int
}

// Programs returns the folder with PostgreSQL's programs of a major version: given (see
// Options.Bin), or the first one found. An empty major means any supported version. The error names
// the missing package.
func Programs(ctx context.Context, given, major string) (string, error) {
	return find(ctx, given, major)
}

// find returns the folder of the binaries: given, or the first one found. It must have the version
// of the existing cluster, because PostgreSQL does not open the data of another major version.
// version is empty if there is no cluster yet.
func find(ctx context.Context, given, version string) (string, error) {
	if given != "" {
		b, ok := inspect(ctx, given)
		if !ok {
			return "", fmt.Errorf("PG_BIN=%s contains no working initdb and postgres", given)
		}
		return choose([]binaries{b}, version)
	}
	var found []binaries
	for _, dir := range candidates(ctx) {
		if b, ok := inspect(ctx, dir); ok && !slices.Contains(found, b) {
			found = append(found, b)
		}
	}
	return choose(found, version)
}

// choose returns the first folder with the version, or with a supported version if version is
// empty.
func choose(found []binaries, version string) (string, error) {
	if len(found) == 0 {
		return "", errNotFound
	}
	wanted := func(b binaries) bool { return b.major >= oldest }
	if version != "" {
		wanted = func(b binaries) bool { return strconv.Itoa(b.major) == version }
	}
	if i := slices.IndexFunc(found, wanted); i >= 0 {
		return found[i].dir, nil
	}
	has := make([]string, len(found))
	for i, b := range found {
		has[i] = fmt.Sprintf("%d (%s)", b.major, b.dir)
	}
	if version != "" {
		return "", fmt.Errorf("PostgreSQL %s created the data, but this machine has only %s: "+
			"install PostgreSQL %s, or set DATA_DIR to another folder",
			version, strings.Join(has, ", "), version)
	}
	return "", fmt.Errorf("PostgreSQL %d or later is required, but this machine has only %s",
		oldest, strings.Join(has, ", "))
}

// candidates returns the folders that may contain the binaries, the preferred ones first.
func candidates(ctx context.Context) []string {
	var dirs []string
	if name, err := exec.LookPath("initdb"); err == nil {
		// initdb may be a link. The folder of its target contains postgres too; the folder of the
		// link may not.
		if target, err := filepath.EvalSymlinks(name); err == nil {
			dirs = append(dirs, filepath.Dir(target))
		}
	}
	if out, err := exec.CommandContext(ctx, "pg_config", "--bindir").Output(); err == nil {
		dirs = append(dirs, strings.TrimSpace(string(out)))
	}
	for _, pattern := range []string{
		"/usr/lib/postgresql/*/bin", "/usr/pgsql-*/bin",
		"/opt/homebrew/opt/postgresql*/bin", "/usr/local/opt/postgresql*/bin",
		"/home/linuxbrew/.linuxbrew/opt/postgresql*/bin",
		"/Applications/Postgres.app/Contents/Versions/*/bin",
		"/usr/libexec/postgresql*", "/usr/local/pgsql/bin",
	} {
		matches, _ := filepath.Glob(pattern)
		slices.SortFunc(matches, newestFirst)
		dirs = append(dirs, matches...)
	}
	return dirs
}

// number finds the major version: it is the first number in a folder's path and in the output of
// postgres --version.
var number = regexp.MustCompile(`\d+`)

func newestFirst(a, b string) int {
	version := func(s string) int {
		n, _ := strconv.Atoi(number.FindString(s))
		return n
	}
	return version(b) - version(a)
}

// inspect returns the version of the binaries in a folder, and false if it does not contain working
// ones.
func inspect(ctx context.Context, dir string) (binaries, bool) {
	if _, err := os.Stat(filepath.Join(dir, "initdb")); err != nil {
		return binaries{}, false
	}
	// Some systems install wrapper scripts under this name, which start another program as another
	// user. Only the server itself prints this line.
	out, err := exec.CommandContext(ctx, filepath.Join(dir, "postgres"), "--version").Output()
	if err != nil || !strings.HasPrefix(string(out), "postgres (PostgreSQL) ") {
		return binaries{}, false
	}
	major, err := strconv.Atoi(number.FindString(string(out)))
	if err != nil {
		return binaries{}, false
	}
	return binaries{dir: dir, major: major}, true
}
