package gateway

import (
	"context"
	"net/http"
	"sync"
	"time"

	"google.golang.org/grpc"

	"github.com/coffer-budget/coffer/gateway/internal/response"
	"github.com/coffer-budget/coffer/internal/caller"
	"github.com/coffer-budget/coffer/internal/rpc"
)

const probeTime = time.Second

// readiness handles the readiness probe. The gateway is ready without budget, because the other
// operations still work, but not without auth or the ledger. The response also names the engine
// that reads receipts, and states whether the database has space for files. All checks run at once
// within probeTime.
func readiness(conns connections, verifier *caller.Verifier) http.HandlerFunc {
	services := map[string]grpc.ClientConnInterface{
		"auth": conns.auth, "ledger": conns.ledger, "budget": conns.budget,
	}
	return func(w http.ResponseWriter, r *http.Request) {
		ctx, cancel := context.WithTimeout(r.Context(), probeTime)
		defer cancel()
		states := map[string]string{}
		var mu sync.Mutex
		var probes sync.WaitGroup
		for name, conn := range services {
			probes.Go(func() {
				state := "ok"
				if !rpc.Serving(ctx, conn, "") {
					state = "unavailable"
				}
				mu.Lock()
				defer mu.Unlock()
				states[name] = state
			})
		}
		reader, space := "", ""
		probes.Go(func() { space = storage(ctx, conns.ledger) })
		probes.Go(func() { reader = receiptReader(ctx, conns.ledger) })
		probes.Wait()
		status, httpStatus := "ok", http.StatusOK
		if states["auth"] != "ok" || states["ledger"] != "ok" || verifier.Ready() != nil {
			status, httpStatus = "unavailable", http.StatusServiceUnavailable
		}
		response.WriteJSON(w, httpStatus, map[string]any{
			"status": status, "services": states, "receipts": reader, "storage": space,
		})
	}
}

// receiptReader returns the engine that reads receipts, as the ledger reports it: "neural",
// "fallback" (Tesseract or a vision endpoint) or "unavailable".
func receiptReader(ctx context.Context, ledger grpc.ClientConnInterface) string {
	switch {
	case rpc.Serving(ctx, ledger, rpc.HealthNeuralReceipts):
		return "neural"
	case rpc.Serving(ctx, ledger, rpc.HealthReceipts):
		return "fallback"
	}
	return "unavailable"
}

// storage returns the free space of the database's volume, as the ledger reports it: "ok", "low"
// (less than 5 %: files are rejected) or "unknown".
func storage(ctx context.Context, ledger grpc.ClientConnInterface) string {
	switch free, known := rpc.Reported(ctx, ledger, rpc.HealthStorage); {
	case !known:
		return "unknown"
	case !free:
		return "low"
	}
	return "ok"
}
