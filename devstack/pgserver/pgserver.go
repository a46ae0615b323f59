// Package pgserver runs a private PostgreSQL server: a cluster in one folder, on a loopback port,
// with the binaries installed on the machine. `make run` keeps its data in such a cluster, and the
// tests use a temporary one.
//
// The package guarantees that a server never uses the data of another one, that a cluster keeps its
// port and password across restarts, and that an interrupted creation is repeated. On Linux the
// server also stops when this process is killed. It needs no privileges. PostgreSQL does not run as
// root, so root runs the server as the user postgres or nobody. If that user may not enter the
// folder, the cluster is under /var/tmp.
//
// Start runs a cluster and creates it first if necessary. StartTemporary deletes its cluster at
// Stop. Programs finds the folder of client programs such as pg_dump. Read Start first: locate and
// create in cluster.go and find in find.go are its steps. account.go selects the user.
package pgserver

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/coffer-budget/coffer/devstack/ports"
)

const (
	superuser = "postgres"
	// readyTime limits a start. Recovery after a crash can take long; a clean start takes a tenth
	// of a second.
	readyTime = 2 * time.Minute
	// stopTime limits each kind of shutdown, which includes a checkpoint.
	stopTime = 20 * time.Second
)

// Options configure a server.
type Options struct {
	// Dir is the folder for the cluster, its log and the superuser's password. It is created if it
	// does not exist.
	Dir string
	// Bin is the folder of initdb and postgres. If it is empty, find.go searches for them.
	Bin string
	// Durable makes commits survive a power failure. Without it the server is faster, and only
	// suitable for tests.
	Durable bool
	// Port is the only port that the server may use. 0 selects the cluster's previous port, or a
	// free one.
	Port int
}

// Server is a running server.
type Server struct {
	// URL connects as the superuser to the database postgres.
	URL string
	// Dir is the folder of the cluster. It differs from Options.Dir if the server's account may not
	// enter that.
	Dir string
	// Port is the server's port on 127.0.0.1.
	Port int

	cluster cluster
	process *process
	// temporary is the folder to delete at Stop, or empty.
	temporary string
}

// Start runs the cluster in a folder, creates it first if there is none, and returns when the
// server accepts connections. Its errors are messages for the user at the terminal. The server runs
// until Stop, on Linux at most as long as this process.
func Start(ctx context.Context, options Options) (*Server, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	found, err := locate(options)
	if err != nil {
		return nil, err
	}
	if err := found.refuseRunning(ctx); err != nil {
		return nil, err
	}
	bin, err := find(ctx, options.Bin, found.version())
	if err != nil {
		return nil, err
	}
	password, err := found.create(ctx, bin)
	if err != nil {
		return nil, err
	}
	// Another program may open the chosen port before the server does.
	for range 3 {
		port := options.Port
		if port == 0 {
			if port, err = found.port(ctx); err != nil {
				return nil, err
			}
		}
		started := &Server{URL: address(password, port), Dir: found.dir, Port: port, cluster: found}
		if started.process, err = found.serve(ctx, bin, port); err != nil {
			return nil, err
		}
		err = started.await(ctx)
		if err == nil {
			return started, nil
		}
		started.process.stop()
		if ctx.Err() != nil || options.Port != 0 || isFree(ctx, port) {
			return nil, fmt.Errorf("PostgreSQL did not start: %w%s", err, found.lastLog())
		}
	}
	return nil, errors.New("PostgreSQL found no free port on 127.0.0.1 in three attempts")
}

// StartTemporary runs a server for tests with a new cluster, which Stop deletes. bin is
// Options.Bin. The cluster is in memory if there is space for it: tests create and delete many
// thousands of files, which takes most of PostgreSQL's processor time on some disks.
func StartTemporary(ctx context.Context, bin string) (*Server, error) {
	parent := memory()
	if parent == "" {
		parent = os.TempDir()
	}
	if closed := closedTo(ownAccount(), parent); closed != "" {
		parent = shared
	}
	dir, err := os.MkdirTemp(parent, "coffer-postgres-")
	if err != nil {
		return nil, fmt.Errorf("creating a folder for a temporary PostgreSQL: %w", err)
	}
	// Another account may run the server, and must be able to enter. Only that account can read the
	// cluster in the folder.
	err = os.Chmod(dir, folderMode())
	var s *Server
	if err == nil {
		s, err = Start(ctx, Options{Dir: filepath.Join(dir, "cluster"), Bin: bin})
	}
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	s.temporary = dir
	return s, nil
}

// Done is closed when the server has ended, for any reason.
func (s *Server) Done() <-chan struct{} { return s.process.done }

// LastLog returns the last lines of the server's log, on separate lines, and the path of the whole
// log.
func (s *Server) LastLog() string { return s.cluster.lastLog() }

// Stop closes all connections, stops the server and returns when it has ended. A durable server's
// commits are on disk by then.
func (s *Server) Stop() error {
	s.process.stop()
	if s.temporary == "" {
		return nil
	}
	return os.RemoveAll(s.temporary)
}

// Kill ends the server without a checkpoint, like a crash. Tests use it.
func (s *Server) Kill() {
	s.process.signal(syscall.SIGQUIT)
	<-s.process.done
}

func (s *Server) await(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, readyTime)
	defer cancel()
	for {
		err := ping(ctx, s.URL)
		if err == nil {
			return nil
		}
		select {
		case <-s.process.done:
			return errors.New("it ended during the start")
		case <-ctx.Done():
			return errors.Join(ctx.Err(), err)
		case <-time.After(10 * time.Millisecond):
		}
	}
}

func ping(ctx context.Context, url string) error {
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	conn, err := pgx.Connect(ctx, url)
	if err != nil {
		return err
	}
	return conn.Close(ctx)
}

// address returns the URL of the superuser on a port of this machine.
func address(password string, port int) string {
	u := url.URL{
		Scheme:   "postgres",
		User:     url.UserPassword(superuser, password),
		Host:     net.JoinHostPort("127.0.0.1", strconv.Itoa(port)),
		Path:     "/postgres",
		RawQuery: "sslmode=disable",
	}
	return u.String()
}

// port returns the cluster's previous port if it is free, otherwise any free one. Programs can then
// store the server's URL.
func (c cluster) port(ctx context.Context) (int, error) {
	remembered := filepath.Join(c.dir, "port")
	if text, err := os.ReadFile(remembered); err == nil {
		port, err := strconv.Atoi(strings.TrimSpace(string(text)))
		if err == nil && isFree(ctx, port) {
			return port, nil
		}
	}
	lis, err := ports.Listen(ctx, "127.0.0.1:0")
	if err != nil {
		return 0, fmt.Errorf("searching for a free port on 127.0.0.1: %w", err)
	}
	port := lis.Addr().(*net.TCPAddr).Port
	text := []byte(strconv.Itoa(port) + "\n")
	if err := errors.Join(lis.Close(), os.WriteFile(remembered, text, 0o600)); err != nil {
		return 0, fmt.Errorf("choosing a port: %w", err)
	}
	ports.AwaitClosed(ctx, lis.Addr().String())
	return port, nil
}

func isFree(ctx context.Context, port int) bool {
	addr := net.JoinHostPort("127.0.0.1", strconv.Itoa(port))
	lis, err := ports.Listen(ctx, addr)
	if err != nil {
		return false
	}
	err = lis.Close()
	ports.AwaitClosed(ctx, addr)
	return err == nil
}
