package gateway

import (
	"context"
	"io"
	"net"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestReadinessDependsOnRequiredServices(t *testing.T) {
	t.Parallel()
	gate := newAPI(t, nil)
	got := gate.send("GET", "/readyz", "")
	require.Equal(t, http.StatusOK, got.StatusCode)
	require.JSONEq(t, `{"status":"ok","services":{"auth":"ok","ledger":"ok","budget":"ok"},
		"receipts":"unavailable","storage":"unknown"}`, got.text)

	conns, err := dial(Config{
		AuthAddr: "127.0.0.1:1", LedgerAddr: "127.0.0.1:1", BudgetAddr: "127.0.0.1:1",
		ServiceKey: "k",
	})
	require.NoError(t, err)
	defer conns.close()
	got = gate.withLedger(conns).send("GET", "/readyz", "")
	require.Equal(t, http.StatusServiceUnavailable, got.StatusCode)
	require.JSONEq(t, `{"status":"unavailable",
		"services":{"auth":"ok","ledger":"unavailable","budget":"ok"},
		"receipts":"unavailable","storage":"unknown"}`, got.text)
	require.Equal(t, http.StatusOK, gate.send("GET", "/livez", "").StatusCode)
}

func TestServeDrainsRequests(t *testing.T) {
	t.Parallel()
	lis, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	ctx, stop := context.WithCancel(t.Context())
	entered := make(chan struct{})
	done := make(chan error, 1)
	finish := func(w http.ResponseWriter, _ *http.Request) {
		close(entered)
		<-ctx.Done()
		_, _ = w.Write([]byte("finished"))
	}
	go func() {
		done <- serve(ctx, lis, &http.Server{
			ReadHeaderTimeout: time.Second, Handler: http.HandlerFunc(finish),
		})
	}()
	got := make(chan string, 1)
	go func() {
		req, _ := http.NewRequestWithContext(context.WithoutCancel(ctx),
			"GET", "http://"+lis.Addr().String(), nil)
		resp, err := http.DefaultTransport.RoundTrip(req)
		if err != nil {
			got <- err.Error()
			return
		}
		body, _ := io.ReadAll(resp.Body)
		_ = resp.Body.Close()
		got <- string(body)
	}()
	<-entered
	stop()
	require.Equal(t, "finished", <-got)
	require.NoError(t, <-done)
}

func TestRunServesAndStops(t *testing.T) {
	t.Parallel()
	lis, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() {
		done <- Run(ctx, Config{
			AuthAddr: "127.0.0.1:1", LedgerAddr: "127.0.0.1:1", BudgetAddr: "127.0.0.1:1",
			ServiceKey: "k",
		}, lis)
	}()
	a := &api{T: t, backend: &backend{}, url: "http://" + lis.Addr().String()}
	require.Equal(t, http.StatusOK, a.send("GET", "/livez", "").StatusCode)
	a.token = newBackend(t, nil).newToken(t, time.Hour)
	a.requireFailure(a.send("GET", "/api/v1/wallet", ""),
		http.StatusServiceUnavailable, "SERVICE_UNAVAILABLE")
	stop()
	require.NoError(t, <-done)
}
