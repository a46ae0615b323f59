package files_test

import (
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"net"
	"os/exec"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/coffer-budget/coffer/internal/apierr"
	"github.com/coffer-budget/coffer/services/ledger/files"
	"github.com/coffer-budget/coffer/services/ledger/files/filestest"
)

// TestMoveKilled kills the command at random points, in both directions, while files are uploaded,
// downloaded and deleted.
func TestMoveKilled(t *testing.T) {
	t.Parallel()
	bucket := filestest.New(t)
	store := openStore(t, bucket.URL(""))
	s := setup(t, store)
	p := newPerson(t, s)
	for range 60 {
		p.attach(t, 1+rand.N(600<<10))
		p.keep(t, 2+rand.N(50<<10))
	}
	for _, to := range []string{"s3", "postgres"} {
		url := bucket.URL("")
		if to == "postgres" {
			url = bucket.URL("&readonly=true")
		}
		ended := 0
		for round := range 40 {
			c := s.command(t, to, url, io.Discard)
			require.NoError(t, c.Start())
			killed := time.AfterFunc(rand.N(400*time.Millisecond), func() {
				_ = c.Process.Kill()
			})
			id := p.attach(t, 1+rand.N(10_000))
			if round%2 == 0 {
				p.detach(t, id)
			}
			err := c.Wait()
			killed.Stop()
			var exit *exec.ExitError
			if err == nil {
				ended++
			} else {
				require.ErrorAs(t, err, &exit)
				require.Equal(t, -1, exit.ExitCode(), "the command failed by itself")
			}
			if round%10 == 0 {
				p.requireWhole(t)
				s.requireConsistent(t, bucket)
			}
		}
		t.Logf("to %s: %d of 40 runs ended by themselves; %d files are in the store", to, ended,
			s.stored(t))
		var out strings.Builder
		c := s.command(t, to, url, &out)
		require.NoError(t, c.Run(), out.String())
		require.Contains(t, out.String(), ", 0 not")
		want := 0
		if to == "s3" {
			want = len(p.attached) + len(p.images)
		}
		require.Equal(t, want, s.stored(t))
		p.requireWhole(t)
		s.requireConsistent(t, bucket)
	}
	require.NoError(t, store.Sweep(t.Context(), s.DB, time.Now().Add(files.Retention+time.Minute)))
	require.Empty(t, bucket.Keys())
	p.requireWhole(t)
}

// TestStoreKilled kills the server at random points while two ledgers move new files and a user
// uploads and downloads. Uploads always succeed.
func TestStoreKilled(t *testing.T) {
	t.Parallel()
	bucket := filestest.New(t)
	store := openStore(t, bucket.URL(""))
	s := setup(t, store)
	p := newPerson(t, s)
	moving, stop := context.WithCancel(t.Context())
	movers := make(chan error, 2)
	var moves atomic.Int64
	for range 2 {
		go func() {
			for moving.Err() == nil {
				moved, failed, err := store.ToStore(moving, s.DB)
				moves.Add(int64(moved))
				if failed > 0 || err != nil && moving.Err() == nil &&
					!errors.Is(err, apierr.Unavailable) {
					movers <- errors.Join(errors.New("a file was not moved"), err)
					return
				}
				time.Sleep(time.Millisecond)
			}
			movers <- nil
		}()
	}
	unavailable, first := 0, p.attach(t, 3<<20)
	for range 12 {
		killed := make(chan struct{})
		time.AfterFunc(rand.N(time.Second), func() {
			bucket.Kill()
			close(killed)
		})
		for down := false; !down; {
			select {
			case <-killed:
				down = true
			default:
			}
			id := p.attach(t, 1+rand.N(1<<20))
			p.keep(t, 2+rand.N(50<<10))
			for _, id := range []string{id, first} {
				got, err := p.download(id)
				if err != nil {
					require.ErrorIs(t, err, apierr.Unavailable)
					unavailable++
					continue
				}
				requireSame(t, p.attached[id], got)
			}
		}
		bucket.Start()
	}
	stop()
	require.NoError(t, <-movers)
	require.NoError(t, <-movers)
	_, _, err := store.ToStore(t.Context(), s.DB)
	require.NoError(t, err)
	t.Logf("%d files moved, %d downloads unavailable", moves.Load(), unavailable)
	require.Equal(t, len(p.attached)+len(p.images), s.stored(t))
	p.requireWhole(t)
	s.requireConsistent(t, bucket)
	require.NoError(t, store.Sweep(t.Context(), s.DB, time.Now().Add(files.Retention+time.Minute)))
	require.Len(t, bucket.Keys(), s.stored(t))
	p.requireWhole(t)
}

// TestStoreWrongCredentials restarts the server with another secret.
func TestStoreWrongCredentials(t *testing.T) {
	t.Parallel()
	bucket := filestest.New(t)
	store := openStore(t, bucket.URL(""))
	s := setup(t, store)
	p := newPerson(t, s)
	id := p.attach(t, 100)
	_, _, err := store.ToStore(t.Context(), s.DB)
	require.NoError(t, err)
	right := bucket.Secret
	bucket.Kill()
	bucket.Secret = "another secret"
	bucket.Start()
	p.attach(t, 100)
	_, err = p.download(id)
	require.ErrorIs(t, err, apierr.Unavailable)
	_, _, err = store.ToStore(t.Context(), s.DB)
	require.ErrorIs(t, err, apierr.Unavailable)
	require.Equal(t, 1, s.stored(t))
	bucket.Kill()
	bucket.Secret = right
	bucket.Start()
	_, _, err = store.ToStore(t.Context(), s.DB)
	require.NoError(t, err)
	require.Equal(t, 2, s.stored(t))
	p.requireWhole(t)
	s.requireConsistent(t, bucket)
}

// TestStoreFull restarts the server so that it cannot write large files. Those stay in PostgreSQL
// until it can.
func TestStoreFull(t *testing.T) {
	t.Parallel()
	bucket := filestest.New(t)
	bucket.Kill()
	bucket.MaxFile = "100"
	bucket.Start()
	store := openStore(t, bucket.URL(""))
	s := setup(t, store)
	p := newPerson(t, s)
	p.attach(t, 1<<20)
	_, _, err := store.ToStore(t.Context(), s.DB)
	require.ErrorIs(t, err, apierr.Unavailable)
	require.Zero(t, s.stored(t))
	p.requireWhole(t)
	s.requireConsistent(t, bucket)
	bucket.Kill()
	bucket.MaxFile = ""
	bucket.Start()
	_, _, err = store.ToStore(t.Context(), s.DB)
	require.NoError(t, err)
	require.Equal(t, 1, s.stored(t))
	p.requireWhole(t)
	s.requireConsistent(t, bucket)
}

// TestStoreStalls puts a connection between that stops in the middle of a download.
func TestStoreStalls(t *testing.T) {
	t.Parallel()
	bucket := filestest.New(t)
	var stalled atomic.Bool
	address := relay(t, bucket.Address(), func(client io.Writer, server io.Reader) {
		if !stalled.Load() {
			_, _ = io.Copy(client, server)
			return
		}
		_, _ = io.CopyN(client, server, 1<<20)
		<-t.Context().Done()
	})
	store := openStore(t, filestest.URL(address, ""))
	store.Wait(300 * time.Millisecond)
	s := setup(t, store)
	p := newPerson(t, s)
	id := p.attach(t, 10<<20)
	_, _, err := openStore(t, bucket.URL("")).ToStore(t.Context(), s.DB)
	require.NoError(t, err)
	stalled.Store(true)
	whole := p.Ctx
	var cancel context.CancelFunc
	p.Ctx, cancel = context.WithTimeout(whole, 30*time.Second)
	defer cancel()
	_, err = p.download(id)
	require.ErrorIs(t, err, apierr.Unavailable)
	stalled.Store(false)
	p.Ctx = whole
	p.requireWhole(t)
}

// TestStoreDamages puts a connection between that changes what the store returns. The content stays
// in PostgreSQL.
func TestStoreDamages(t *testing.T) {
	t.Parallel()
	bucket := filestest.New(t)
	address := relay(t, bucket.Address(), func(client io.Writer, server io.Reader) {
		_, _ = io.CopyN(client, server, 100<<10)
		_, _ = io.CopyN(io.Discard, server, 1)
		_, _ = client.Write([]byte{0})
		_, _ = io.Copy(client, server)
	})
	store := openStore(t, filestest.URL(address, ""))
	s := setup(t, store)
	p := newPerson(t, s)
	p.attach(t, 200<<10)
	_, _, err := store.ToStore(t.Context(), s.DB)
	require.ErrorIs(t, err, apierr.Unavailable)
	require.Zero(t, s.stored(t))
	require.Empty(t, bucket.Keys())
	p.requireWhole(t)
	s.requireConsistent(t, bucket)
}

// relay forwards connections to an address. answer forwards what the server sends.
func relay(t *testing.T, to string, answer func(client io.Writer, server io.Reader)) string {
	t.Helper()
	lis, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { _ = lis.Close() })
	go func() {
		for {
			client, err := lis.Accept()
			if err != nil {
				return
			}
			server, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", to)
			if err != nil {
				_ = client.Close()
				continue
			}
			go func() { _, _ = io.Copy(server, client); _ = server.Close() }()
			go func() { answer(client, server); _ = client.Close() }()
		}
	}()
	return lis.Addr().String()
}
