package pgserver

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
)

// cluster is a folder with PostgreSQL's data in data/. Beside it are the superuser's password, the
// last port and the log.
type cluster struct {
	dir     string
	runsAs  account
	durable bool
}

// locate determines the folder of a cluster and the account that runs it. The folder is created if
// it does not exist. The folder is under /var/tmp if the account may not enter the wanted one, for
// example because root's home is closed to other users.
func locate(options Options) (cluster, error) {
	dir, err := filepath.Abs(options.Dir)
	if err != nil {
		return cluster{}, fmt.Errorf("finding the folder %s: %w", options.Dir, err)
	}
	found := cluster{dir: dir, runsAs: ownAccount(), durable: options.Durable}
	if found.runsAs.missing {
		return cluster{}, errors.New("PostgreSQL does not run as root, and there is no user " +
			"postgres or nobody to run it: create one with `useradd --system postgres`")
	}
	if err := found.adoptOwner(); err != nil {
		return cluster{}, err
	}
	if closed := closedTo(found.runsAs, dir); closed != "" {
		found.dir = elsewhere(dir)
		if err := claim(found.dir); err != nil {
			return cluster{}, fmt.Errorf("PostgreSQL's data cannot be in %s, because the user %s "+
				"that runs it may not enter %s, and not in %s: %w",
				dir, found.runsAs.name, closed, found.dir, err)
		}
		return found, found.adoptOwner()
	}
	return found, MakeDir(found.dir)
}

func (c cluster) data() string { return filepath.Join(c.dir, "data") }

// adoptOwner selects the owner of an existing cluster to run it, because PostgreSQL does not start
// as any other account.
func (c *cluster) adoptOwner() error {
	info, err := os.Stat(c.data())
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("PostgreSQL's data cannot be reached: %w", err)
	}
	owner, ok := ownerOf(info)
	if !ok || owner == c.runsAs.uid {
		return nil
	}
	if os.Geteuid() != 0 || owner == 0 {
		return fmt.Errorf("PostgreSQL's data in %s belong to the user %s: run this as that user "+
			"or root, or set DATA_DIR to another folder",
			c.data(), nameOf(owner))
	}
	c.runsAs = accountOf(owner)
	return nil
}

// version returns the major version of the PostgreSQL that created the cluster, or "" if there is
// no cluster yet.
func (c cluster) version() string {
	text, err := os.ReadFile(filepath.Join(c.data(), "PG_VERSION"))
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(text))
}

// refuseRunning returns an error if a running server has the cluster open. It removes the pid file
// of a killed server if another program has that process id now. PostgreSQL would refuse to start
// then, because it takes any process of its user for a server. In containers, where process ids
// start at 1, that is common.
func (c cluster) refuseRunning(ctx context.Context) error {
	trace := filepath.Join(c.data(), "postmaster.pid")
	text, err := os.ReadFile(trace)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("reading which process has PostgreSQL's data open: %w", err)
	}
	line, _, _ := strings.Cut(string(text), "\n")
	pid, _ := strconv.Atoi(strings.TrimSpace(line))
	if pid <= 0 || errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) {
		return nil
	}
	command, known := commandLine(ctx, pid)
	if strings.Contains(command, c.data()) {
		return fmt.Errorf("another PostgreSQL (process %d) has the data in %s open: "+
			"stop it with `kill -INT %d`, or set DATA_DIR to another folder",
			pid, c.data(), pid)
	}
	if known && !strings.Contains(command, "postgres") && !strings.Contains(command, "postmaster") {
		return os.Remove(trace)
	}
	return nil
}

func commandLine(ctx context.Context, pid int) (command string, known bool) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
	if err != nil && runtime.GOOS != "linux" {
		args := []string{"-ww", "-o", "command=", "-p", strconv.Itoa(pid)}
		text, err = exec.CommandContext(ctx, "ps", args...).Output()
	}
	return string(text), err == nil
}

// create keeps a cluster that exists, and returns the superuser's password.
func (c cluster) create(ctx context.Context, bin string) (string, error) {
	password, err := c.password()
	if err != nil || c.version() != "" {
		return password, err
	}
	// initdb writes to another folder, to be renamed at the end. An interrupted initdb then leaves
	// no cluster that looks complete.
	made := c.data() + ".new"
	pwfile := filepath.Join(c.dir, "password.new")
	defer os.Remove(pwfile)
	err = errors.Join(
		os.RemoveAll(made), os.Mkdir(made, 0o700), c.runsAs.give(made),
		os.RemoveAll(pwfile), os.WriteFile(pwfile, []byte(password), 0o600), c.runsAs.give(pwfile),
	)
	if err != nil {
		return "", fmt.Errorf("preparing the folder for PostgreSQL's data: %w", err)
	}
	args := []string{
		"-D", made, "-U", superuser, "--pwfile", pwfile, "-A", "scram-sha-256", "-E", "UTF8",
		// Indexes sorted by code point stay valid when the system's collations change. lower() and
		// upper() need a Unicode locale.
		"--locale=C", "--lc-ctype=" + unicodeLocale(), "--no-instructions",
	}
	if !c.durable {
		args = append(args, "--no-sync")
	}
	cmd := exec.CommandContext(ctx, filepath.Join(bin, "initdb"), args...)
	c.prepare(cmd)
	var output strings.Builder
	cmd.Stdout, cmd.Stderr = &output, &output
	p, err := start(cmd)
	if err == nil {
		<-p.done
		err = p.err
	}
	if err != nil {
		return "", fmt.Errorf("initdb failed to create a cluster in %s: %w%s", made, err,
			tail(output.String()))
	}
	if err := os.Rename(made, c.data()); err != nil {
		return "", fmt.Errorf("renaming the folder of the new cluster: %w", err)
	}
	return password, nil
}

// password returns the superuser's password, and creates one for a new cluster. A lost password of
// an existing cluster is an error, because a new one would not match the password in the cluster.
func (c cluster) password() (string, error) {
	name := filepath.Join(c.dir, "password")
	text, err := os.ReadFile(name)
	if err == nil {
		return string(text), nil
	}
	if !errors.Is(err, fs.ErrNotExist) || c.version() != "" {
		return "", fmt.Errorf("the password of PostgreSQL's superuser cannot be read: %w", err)
	}
	password := rand.Text()
	if err := os.WriteFile(name, []byte(password), 0o600); err != nil {
		return "", fmt.Errorf("storing the password of PostgreSQL's superuser: %w", err)
	}
	return password, nil
}

// serve starts the server on a port and returns without waiting for it to accept connections. The
// settings are arguments, so that they also apply to a cluster of an earlier release. The log
// starts empty, because lastLog must show this start.
func (c cluster) serve(ctx context.Context, bin string, port int) (*process, error) {
	settings := []string{
		"listen_addresses=127.0.0.1", "port=" + strconv.Itoa(port),
		// A path to the data may be too long for a Unix socket, so the server listens on loopback
		// only.
		"unix_socket_directories=",
		"timezone=UTC", "log_timezone=UTC",
		// Just-in-time compilation of a statement takes longer than the execution of Coffer's
		// statements.
		"jit=off",
	}
	if c.durable {
		settings = append(settings, "fsync=on", "synchronous_commit=on", "full_page_writes=on",
			"max_connections=200")
	} else {
		// Tests run in parallel, each with a separate pool.
		settings = append(settings, "fsync=off", "synchronous_commit=off", "full_page_writes=off",
			"max_connections=1000",
			// The cluster may be in memory, see StartTemporary.
			"max_wal_size=512MB")
	}
	args := []string{"-D", c.data()}
	for _, s := range settings {
		args = append(args, "-c", s)
	}
	log, err := os.OpenFile(c.log(), os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600)
	if err != nil {
		return nil, fmt.Errorf("opening PostgreSQL's log: %w", err)
	}
	defer log.Close()
	// The server runs until Stop, not until the context of Start ends.
	cmd := exec.CommandContext(context.WithoutCancel(ctx), filepath.Join(bin, "postgres"), args...)
	c.prepare(cmd)
	cmd.Stdout, cmd.Stderr = log, log
	p, err := start(cmd)
	if err != nil {
		return nil, fmt.Errorf("starting %s: %w", cmd.Path, err)
	}
	return p, nil
}

func (c cluster) log() string { return filepath.Join(c.dir, "server.log") }

// prepare makes a command run as the cluster's account, with a minimal environment. The user's PG*
// variables would change what PostgreSQL's programs do.
func (c cluster) prepare(cmd *exec.Cmd) {
	cmd.Dir = c.dir
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "LC_ALL=C", "TZ=UTC"}
	cmd.SysProcAttr = attributes(c.runsAs)
}

func (c cluster) lastLog() string {
	text, err := os.ReadFile(c.log())
	if err != nil {
		return ""
	}
	return tail(string(text)) + "\nmore in " + c.log()
}

func tail(text string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	return "\n  " + strings.Join(lines[max(0, len(lines)-4):], "\n  ")
}

// unicodeLocale returns the name of the locale that maps upper and lower case beyond ASCII.
func unicodeLocale() string {
	if runtime.GOOS == "darwin" {
		return "UTF-8"
	}
	return "C.UTF-8"
}
