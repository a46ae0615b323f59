package test

import (
	"bytes"
	"errors"
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

// floods are what an HTTP/2 client may send without end. Each ends when the server has had enough, or when as much was sent as
// would hurt if it were kept.
var floods = map[string]func(*http2Client) error{
	"streams that are reset at once": func(c *http2Client) error {
		for range 10_000 {
			if err := errors.Join(c.begin(), c.framer.WriteRSTStream(c.stream, http2.ErrCodeCancel)); err != nil {
				return err
			}
		}
		return nil
	},
	"streams without an end": func(c *http2Client) error {
		for range 10_000 {
			if err := c.begin(); err != nil {
				return err
			}
		}
		return nil
	},
	"headers without an end": func(c *http2Client) error {
		c.stream = 1
		err := c.framer.WriteHeaders(http2.HeadersFrameParam{StreamID: c.stream, BlockFragment: c.call})
		for range 1000 {
			if err != nil {
				return err
			}
			c.block.Reset()
			_ = c.hpack.WriteField(hpack.HeaderField{Name: "x-more", Value: strings.Repeat("x", 10_000), Sensitive: true})
			err = c.framer.WriteContinuation(c.stream, false, c.block.Bytes())
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
			if err := c.framer.WriteSettings(http2.Setting{ID: http2.SettingInitialWindowSize, Val: 1}); err != nil {
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

// ended are the floods that the server answers by closing the connection. Of the others it keeps nothing, or no more than a
// connection may have.
var ended = []string{"headers without an end", "pings"}

const (
	// streamsOfConnection is how many a service lets a connection have, and streamMemory what one may cost.
	streamsOfConnection = 5000
	streamMemory        = 12 << 10
)

// floodTime is how long a flood may last that the server neither ends nor drinks up: it has stopped reading then.
const floodTime = 3 * time.Second

// TestAnHTTP2FloodIsCutOffAndHoldsUpNobody floods each service directly, in all ways at once, over connections whose answers are
// read and over others where they pile up.
//
//nolint:paralleltest // What it does to the machine is not the others' concern.
func TestAnHTTP2FloodIsCutOffAndHoldsUpNobody(t *testing.T) {
	own := ownStack(t, os.Getenv("TEST_DATABASE_URL"), map[string]string{"RATE_LIMIT": "0"})
	p := newPersonAt(t, own.URL, "Ada")
	heap := heapInUse()
	var attack sync.WaitGroup
	for service, addr := range own.GRPC {
		for what, flood := range floods {
			for _, reads := range []bool{true, false} {
				c := newHTTP2Client(t, addr, floodTime, reads)
				attack.Go(func() {
					_ = flood(c) // whether it could be sent is the kernel's doing, too
					if reads && slices.Contains(ended, what) && !c.ended() {
						t.Errorf("%s: %s: the connection is still open", service, what)
					}
				})
			}
		}
	}
	p.whileServed(&attack)
	// Two connections to each service have all the streams that they may, which wait for messages that never come.
	open := uint64(2*len(own.GRPC)) * streamsOfConnection
	require.Less(t, heapInUse(), heap+memory+open*streamMemory)
}

// whileServed asks for this and that until an attack is over, and requires that all is answered in time.
func (p *person) whileServed(attack *sync.WaitGroup) {
	over := make(chan struct{})
	go func() { attack.Wait(); close(over) }()
	for {
		p.get("/api/v1/wallet").ok("WALLETS_FETCHED")
		p.get("/api/v1/budgets").ok("BUDGETS_FETCHED")
		select {
		case <-over:
			return
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// http2Client speaks HTTP/2 as it likes.
type http2Client struct {
	framer *http2.Framer
	hpack  *hpack.Encoder
	block  bytes.Buffer
	stream uint32
	// closed tells that the server has ended the connection, to a client that reads.
	closed chan struct{}
	// call is the headers of an RPC that anybody may call.
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
	c := &http2Client{framer: http2.NewFramer(conn, conn), closed: make(chan struct{})}
	c.hpack = hpack.NewEncoder(&c.block)
	require.NoError(t, c.framer.WriteSettings())
	for _, f := range [][2]string{
		{":method", "POST"},
		{":scheme", "http"},
		{":path", healthpb.Health_Check_FullMethodName},
		{":authority", "x"},
		{"content-type", "application/grpc"},
		{"te", "trailers"},
	} {
		// Sensitive fields stay out of the table, so that the block can be sent again.
		require.NoError(t, c.hpack.WriteField(hpack.HeaderField{Name: f[0], Value: f[1], Sensitive: true}))
	}
	c.call = bytes.Clone(c.block.Bytes())
	if reads {
		go func() {
			_, _ = io.Copy(io.Discard, conn)
			close(c.closed)
		}()
	}
	return c
}

// ended waits for the server to end the connection.
func (c *http2Client) ended() bool {
	select {
	case <-c.closed:
		return true
	case <-time.After(5 * time.Minute):
		return false
	}
}

// begin opens a stream and sends no message on it.
func (c *http2Client) begin() error {
	c.stream = (c.stream + 2) | 1
	return c.framer.WriteHeaders(http2.HeadersFrameParam{StreamID: c.stream, BlockFragment: c.call, EndHeaders: true})
}
