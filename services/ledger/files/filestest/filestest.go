// Package filestest provides tests with a real S3 server: versitygw, which stores objects in a
// folder. The tests of package files use it.
//
// `make s3-test` compiles the server, which takes about a minute of processor time, and sets
// VERSITYGW to its path. Without the variable, New skips the test.
package filestest

import (
	"context"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

const (
	bucket = "coffer-files"
	// key and secret are the credentials of the server and, after SetCredentials, of the process.
	key, secret = "coffer-test", "a secret of the tests"
)

// SetCredentials sets the environment of the process, so that stores have the credentials of the
// servers. TestMain calls it, because tests run in parallel.
func SetCredentials() error {
	if err := os.Setenv("AWS_ACCESS_KEY_ID", key); err != nil {
		return err
	}
	return os.Setenv("AWS_SECRET_ACCESS_KEY", secret)
}

// Server is a server with an empty bucket. It can be killed and started again.
type Server struct {
	t       *testing.T
	folder  string
	address string
	// Secret is the secret that the server expects after the next Start.
	Secret string
	// MaxFile is the size of the largest file in KiB that the server can write after the next
	// Start, and 0 for no limit.
	MaxFile string
	process *exec.Cmd
}

// New returns a running server. The test kills it at its end.
func New(t *testing.T) *Server {
	t.Helper()
	if os.Getenv("VERSITYGW") == "" { //nolint:forbidigo // A test has no Config.
		t.Skip("VERSITYGW is not set: make s3-test runs this test")
	}
	s := &Server{t: t, folder: t.TempDir(), Secret: secret, address: freeAddress(t)}
	require.NoError(t, os.Mkdir(filepath.Join(s.folder, bucket), 0o700))
	t.Cleanup(s.Kill)
	s.Start()
	return s
}

// freeAddress returns an address where nothing listens.
func freeAddress(t *testing.T) string {
	t.Helper()
	lis, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer func() { require.NoError(t, lis.Close()) }()
	return lis.Addr().String()
}

// URL returns the FILES_URL of the server, with further parameters.
func (s *Server) URL(parameters string) string { return URL(s.address, parameters) }

// Address returns the host and port of the server.
func (s *Server) Address() string { return s.address }

// URL returns the FILES_URL of the bucket at an address without TLS, with further parameters.
func URL(address, parameters string) string {
	return "s3://" + address + "/" + bucket + "?http=true" + parameters
}

// Start starts the server, and waits until it accepts connections.
func (s *Server) Start() {
	s.t.Helper()
	limit := s.MaxFile
	if limit == "" {
		limit = "unlimited"
	}
	// A limit on the size of files makes writes fail like a full disk does.
	s.process = exec.CommandContext(context.Background(), "sh", "-c",
		`ulimit -f "$1"; exec "$VERSITYGW" --quiet --health /health posix "$2"`, "sh", limit,
		s.folder)
	s.process.Env = append(os.Environ(), //nolint:forbidigo // A test has no Config.
		"ROOT_ACCESS_KEY="+key, "ROOT_SECRET_KEY="+s.Secret, "VGW_PORT="+s.address)
	s.process.Stdout, s.process.Stderr = s.t.Output(), s.t.Output()
	require.NoError(s.t, s.process.Start())
	require.Eventually(s.t, func() bool {
		conn, err := (&net.Dialer{Timeout: time.Second}).DialContext(s.t.Context(), "tcp",
			s.address)
		if err == nil {
			_ = conn.Close()
		}
		return err == nil
	}, time.Minute, 10*time.Millisecond)
}

// Kill ends the server with SIGKILL.
func (s *Server) Kill() {
	_ = s.process.Process.Kill()
	_ = s.process.Wait()
}

// Keys returns the keys of all objects. It reads the folder, so it does not need the server.
func (s *Server) Keys() []string {
	s.t.Helper()
	keys := []string{}
	root := filepath.Join(s.folder, bucket)
	require.NoError(s.t, filepath.WalkDir(root,
		func(path string, d os.DirEntry, err error) error {
			name := strings.TrimPrefix(path, root+"/")
			if err == nil && !d.IsDir() && !strings.HasPrefix(name, ".") {
				keys = append(keys, name)
			}
			return err
		}))
	return keys
}

// Path returns the file with the content of an object.
func (s *Server) Path(key string) string { return filepath.Join(s.folder, bucket, key) }
