package production

import (
	"bytes"
	"context"
	"encoding/hex"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	collectorv1 "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	tracev1 "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/grpc"
)

// collector is an OpenTelemetry collector that stores the spans it receives.
type collector struct {
	collectorv1.UnimplementedTraceServiceServer

	mu    sync.Mutex
	spans []span
}

// span is a span with the name of its service.
type span struct {
	*tracev1.Span
	service string
}

func (s span) String() string { return s.service + " " + s.GetName() }

// Export implements collectorv1.TraceServiceServer.
func (c *collector) Export(
	_ context.Context, req *collectorv1.ExportTraceServiceRequest,
) (*collectorv1.ExportTraceServiceResponse, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, resourceSpans := range req.GetResourceSpans() {
		service := ""
		for _, a := range resourceSpans.GetResource().GetAttributes() {
			if a.GetKey() == "service.name" {
				service = a.GetValue().GetStringValue()
			}
		}
		for _, s := range resourceSpans.GetScopeSpans() {
			for _, one := range s.GetSpans() {
				c.spans = append(c.spans, span{one, service})
			}
		}
	}
	return &collectorv1.ExportTraceServiceResponse{}, nil
}

// traces starts a collector. Instances that are started later send their spans to it.
func (c *cluster) traces() *collector {
	c.t.Helper()
	lis, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(c.t, err)
	spans, server := &collector{}, grpc.NewServer()
	collectorv1.RegisterTraceServiceServer(server, spans)
	go func() { _ = server.Serve(lis) }()
	c.t.Cleanup(server.Stop)
	c.environment["OTEL_EXPORTER_OTLP_ENDPOINT"] = "http://" + lis.Addr().String()
	c.environment["OTEL_BSP_SCHEDULE_DELAY"] = "100"
	return spans
}

// trace returns the newest trace with this root span: its id, and the path of each span from the
// root, "service name > ...".
func (c *collector) trace(root string) (id string, paths []string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, s := range slices.Backward(c.spans) {
		if s.String() == root {
			return hex.EncodeToString(s.GetTraceId()), c.below(s.GetTraceId(), nil, "")
		}
	}
	return "", nil
}

func (c *collector) below(trace, parent []byte, path string) []string {
	var paths []string
	for _, s := range c.spans {
		if bytes.Equal(s.GetTraceId(), trace) && bytes.Equal(s.GetParentSpanId(), parent) {
			own := strings.TrimPrefix(path+" > "+s.String(), " > ")
			paths = append(append(paths, own), c.below(trace, s.GetSpanId(), own)...)
		}
	}
	return paths
}

// TestTraceOfCreate follows a create through gateway, ledger, PostgreSQL and NATS to the consumer
// in the budget service. All spans must be in one trace.
func TestTraceOfCreate(t *testing.T) {
	t.Parallel()
	cluster := newCluster(t)
	spans := cluster.traces()
	running := cluster.startAll(1, cluster.spawn)
	user := cluster.newUser()

	const (
		request = "gateway POST /api/v1/transaction"
		rpc     = request +
			" > gateway coffer.ledger.v1.LedgerService/CreateTransaction > ledger " +
			"coffer.ledger.v1.LedgerService/CreateTransaction"
		publish = rpc + " > ledger publish ledger.v1.transaction.created"
	)
	// Events that are consumed together share statements, whose spans are in the trace of the first
	// event. The test repeats the create until its event is consumed alone.
	require.EventuallyWithT(t, func(t *assert.CollectT) {
		require.NoError(t, user.earn())
		require.EventuallyWithT(t, func(t *assert.CollectT) {
			_, paths := spans.trace(request)
			assert.Subset(t, paths, []string{
				rpc + " > ledger insert transactions > ledger WITH",
				publish + " > budget budget-events ledger.v1.transaction.created > budget COMMIT",
			})
		}, 3*time.Second, 50*time.Millisecond)
	}, 3*time.Minute, 10*time.Millisecond)

	requireExemplar(t, running["ledger"][0])
	id, _ := spans.trace(request)
	for _, service := range []string{"gateway", "ledger"} {
		cluster.stop(running[service][0])
		require.Contains(t, running[service][0].output.String(), `"trace_id":"`+id+`"`, service)
	}
}

// TestUnavailableCollector requires that requests succeed and every process stops in time if the
// collector cannot be reached.
func TestUnavailableCollector(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	c.environment["OTEL_EXPORTER_OTLP_ENDPOINT"] = "http://collector.coffer.test:4317"
	running := c.startAll(1, c.spawn)
	require.NoError(t, c.newUser().earn())
	for _, service := range services {
		began := time.Now()
		c.stop(running[service][0])
		require.Less(t, time.Since(began), preStop+10*time.Second, service)
	}
}

// requireExemplar requires that the histogram of RPC durations has exemplars with trace ids.
func requireExemplar(t *testing.T, i *instance) {
	t.Helper()
	metrics, err := i.metrics(t.Context())
	require.NoError(t, err)
	require.Regexp(t, `(?m)^rpc_server_call_duration_seconds_bucket.* # \{.*trace_id="`, metrics)
}

// metrics returns the metrics of an instance, with exemplars.
func (i *instance) metrics(ctx context.Context) (string, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet,
		"http://"+i.addr.String()+":9464/metrics", http.NoBody)
	if err != nil {
		return "", err
	}
	req.Header.Set("Accept", "application/openmetrics-text; version=1.0.0")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	return string(text), err
}
