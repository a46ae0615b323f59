// Package pgserver runs a PostgreSQL server of one's own: a private cluster under a folder, on a loopback port, with the
// binaries that the machine has. It needs no rights: started as root, it hands the server to an unprivileged account.
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
)

const (
	superuser = "postgres"
	// readyTime is for recovery after a crash; a clean start takes a tenth of a second.
	readyTime = 2 * time.Minute
	// stopTime is for the closing checkpoint.
	stopTime = 20 * time.Second
)

// Options say what server is wanted.
type Options struct {
	// Dir is the folder for the cluster, its log and the superuser's password; it is made when missing.
	Dir string
	// Bin is the folder of initdb and postgres; empty: they are looked for.
	Bin string
	// Durable is whether a commit survives a power cut. Without it the server is quick, and for tests only.
	Durable bool
	// Port is the only port that the server may take; 0: the port that it had before, or any free one.
	Port int
}

// Server is a running server.
type Server struct {
	// URL connects as the superuser to the database postgres.
	URL string
	// Dir is where the cluster is: not Options.Dir when the server's account could not reach that.
	Dir string
	// Port is the one that the server listens on, at 127.0.0.1.
	Port int

	cluster cluster
	process *process
	// temporary is a folder that goes with the server.
	temporary string
}

// Start runs the cluster in a folder, and makes it first when there is none. Errors are sentences for the person who
// started the program. The server ends with Stop, and on Linux also when this process dies.
func Start(ctx context.Context, o Options) (*Server, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	c, err := locate(o)
	if err != nil {
		return nil, err
	}
	if err := c.refuseRunning(ctx); err != nil {
		return nil, err
	}
	bin, err := find(ctx, o.Bin, c.version())
	if err != nil {
		return nil, err
	}
	password, err := c.create(ctx, bin)
	if err != nil {
		return nil, err
	}
	// Between choosing a port and the server's taking it, another program may come first.
	for range 3 {
		port := o.Port
		if port == 0 {
			if port, err = c.port(ctx); err != nil {
				return nil, err
			}
		}
		s := &Server{URL: address(password, port), Dir: c.dir, Port: port, cluster: c}
		if s.process, err = c.serve(ctx, bin, port); err != nil {
			return nil, err
		}
		err = s.await(ctx)
		if err == nil {
			return s, nil
		}
		s.process.stop()
		if ctx.Err() != nil || o.Port != 0 || isFree(ctx, port) {
			return nil, fmt.Errorf("PostgreSQL did not start: %w%s", err, c.lastLog())
		}
	}
	return nil, errors.New("PostgreSQL found no free port on 127.0.0.1 in three tries")
}

// StartTemporary runs a throw-away server, for tests; Stop deletes it. bin is Options.Bin.
func StartTemporary(ctx context.Context, bin string) (*Server, error) {
	parent := os.TempDir()
	if closed := closedTo(ownAccount(), parent); closed != "" {
		parent = shared
	}
	dir, err := os.MkdirTemp(parent, "coffer-postgres-")
	if err != nil {
		return nil, fmt.Errorf("making a folder for a throw-away PostgreSQL: %w", err)
	}
	// Another account may run the server; what is inside is closed to all but it.
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

// LastLog returns the last lines of the server's log, on separate lines, and the path of the whole log.
func (s *Server) LastLog() string { return s.cluster.lastLog() }

// Stop ends all connections and the server, and returns when it is down. All committed data is on disk by then.
func (s *Server) Stop() error {
	s.process.stop()
	if s.temporary == "" {
		return nil
	}
	return os.RemoveAll(s.temporary)
}

// Kill ends the server as a crash would, for tests of what happens then.
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
			return errors.New("it ended at once")
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

// port is the one that the cluster had before, or else any that is free.
func (c cluster) port(ctx context.Context) (int, error) {
	remembered := filepath.Join(c.dir, "port")
	if text, err := os.ReadFile(remembered); err == nil {
		if port, err := strconv.Atoi(strings.TrimSpace(string(text))); err == nil && isFree(ctx, port) {
			return port, nil
		}
	}
	lis, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return 0, fmt.Errorf("looking for a free port on 127.0.0.1: %w", err)
	}
	port := lis.Addr().(*net.TCPAddr).Port
	if err := errors.Join(lis.Close(), os.WriteFile(remembered, []byte(strconv.Itoa(port)+"\n"), 0o600)); err != nil {
		return 0, fmt.Errorf("choosing a port: %w", err)
	}
	return port, nil
}

func isFree(ctx context.Context, port int) bool {
	lis, err := (&net.ListenConfig{}).Listen(ctx, "tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
	if err != nil {
		return false
	}
	return lis.Close() == nil
}
