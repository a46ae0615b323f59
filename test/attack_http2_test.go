package test

import (
	"bytes"
	"io"
	"net"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"
)

// floods send frames that HTTP/2 allows in any number. A flood ends when a write fails because the
// server closed or stopped reading the connection, or after a number of frames whose memory the
// test would notice.
var floods = map[string]func(*http2Client) error{
	"streams reset immediately": func(client *http2Client) error {
		for range 10_000 {
			if err := client.begin(); err != nil {
				return err
			}
			if err := client.framer.WriteRSTStream(client.stream, http2.ErrCodeCancel); err != nil {
				return err
			}
		}
		return nil
	},
	"streams never closed": func(c *http2Client) error {
		for range 10_000 {
			if err := c.begin(); err != nil {
				return err
			}
		}
		return nil
	},
	"endless headers": func(client *http2Client) error {
		client.stream = 1
		err := client.framer.WriteHeaders(http2.HeadersFrameParam{
			StreamID: client.stream, BlockFragment: client.call,
		})
		for range 1000 {
			if err != nil {
				return err
			}
			client.block.Reset()
			_ = client.hpack.WriteField(hpack.HeaderField{
				Name: "x-more", Value: strings.Repeat("x", 10_000), Sensitive: true,
			})
			err = client.framer.WriteContinuation(client.stream, false, client.block.Bytes())
		}
		return err
	},
	"pings": func(c *http2Client) error {
		for range 30_000 {
			if err := c.framer.WritePing(false, [8]byte{}); err != nil {
				return err
			}
		}
		return nil
	},
	"settings": func(c *http2Client) error {
		for range 30_000 {
			if err := c.framer.WriteSettings(http2.Setting{
				ID: http2.SettingInitialWindowSize, Val: 1,
			}); err != nil {
				return err
			}
		}
		return nil
	},
	"empty data": func(c *http2Client) error {
		err := c.begin()
		for range 30_000 {
			if err != nil {
				return err
			}
			err = c.framer.WriteData(c.stream, false, nil)
		}
		return err
	},
}

// disconnected names the floods after which the server closes the connection. The memory for the
// others is limited per connection.
var disconnected = []string{"endless headers", "pings"}

const (
	// maxStreams is a service's limit on the streams of a connection, and streamMemory the memory
	// allowed for each.
	maxStreams   = 5000
	streamMemory = 12 << 10
)

// floodTime is the write deadline of a flood. It ends floods on connections that the server keeps
// open but no longer reads.
const floodTime = 3 * time.Second

// TestHTTP2Floods sends all floods to each service at the same time, each on a connection whose
// responses are read and on one whose responses are not read. Another user's requests must succeed
// meanwhile.
//
//nolint:paralleltest // Its load would slow down the other tests.
func TestHTTP2Floods(t *testing.T) {
	own := ownStack(t, os.Getenv("TEST_DATABASE_URL"), map[string]string{"RATE_LIMIT": "0"})
	me := newUserAt(t, own.URL, "Ada")
	heap := heapInUse()
	var attack sync.WaitGroup
	for service, addr := range own.GRPC {
		for what, flood := range floods {
			for _, reads := range []bool{true, false} {
				c := newHTTP2Client(t, addr, floodTime, reads)
				attack.Go(func() {
					// A failed write proves nothing, because the kernel buffers writes.
					_ = flood(c)
					if reads && slices.Contains(disconnected, what) && !c.ended() {
						t.Errorf("%s: %s: the connection is still open", service, what)
					}
				})
			}
		}
	}
	me.requireServedDuring(&attack)
	// Two connections to each service still have the maximum of open streams.
	open := uint64(2*len(own.GRPC)) * maxStreams
	require.Less(t, heapInUse(), heap+maxGrowth+open*streamMemory)
}

// requireServedDuring sends requests until the attack ends, and requires that each one succeeds
// before its timeout.
func (u *user) requireServedDuring(attack *sync.WaitGroup) {
	over := make(chan struct{})
	go func() { attack.Wait(); close(over) }()
	for {
		u.get("/api/v1/wallet").ok("WALLETS_FETCHED")
		u.get("/api/v1/budgets").ok("BUDGETS_FETCHED")
		select {
		case <-over:
			return
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// http2Client writes HTTP/2 frames without the checks of a real client.
type http2Client struct {
	framer *http2.Framer
	hpack  *hpack.Encoder
	block  bytes.Buffer
	stream uint32
	// closed is closed when the server ends the connection, if the client reads.
	closed chan struct{}
	// call is the header block of an RPC that needs no token.
	call []byte
}

func newHTTP2Client(t *testing.T, addr string, writes time.Duration, reads bool) *http2Client {
	t.Helper()
	conn, err := net.Dial("tcp", addr)
	require.NoError(t, err)
	t.Cleanup(func() { _ = conn.Close() })
	require.NoError(t, conn.SetWriteDeadline(time.Now().Add(writes)))
	_, err = io.WriteString(conn, http2.ClientPreface)
	require.NoError(t, err)
	client := &http2Client{framer: http2.NewFramer(conn, conn), closed: make(chan struct{})}
	client.hpack = hpack.NewEncoder(&client.block)
	require.NoError(t, client.framer.WriteSettings())
	for _, f := range [][2]string{
		{":method", "POST"},
		{":scheme", "http"},
		{":path", healthpb.Health_Check_FullMethodName},
		{":authority", "x"},
		{"content-type", "application/grpc"},
		{"te", "trailers"},
	} {
		// Sensitive fields are not added to the HPACK table, so the block can be sent repeatedly.
		require.NoError(t,
			client.hpack.WriteField(hpack.HeaderField{Name: f[0], Value: f[1], Sensitive: true}))
	}
	client.call = bytes.Clone(client.block.Bytes())
	if reads {
		go func() {
			_, _ = io.Copy(io.Discard, conn)
			close(client.closed)
		}()
	}
	return client
}

// ended reports whether the server ends the connection within a minute.
func (c *http2Client) ended() bool {
	select {
	case <-c.closed:
		return true
	case <-time.After(5 * time.Minute):
		return false
	}
}

// begin opens a stream without sending a message.
func (c *http2Client) begin() error {
	c.stream = (c.stream + 2) | 1
	return c.framer.WriteHeaders(http2.HeadersFrameParam{
		StreamID: c.stream, BlockFragment: c.call, EndHeaders: true,
	})
}
