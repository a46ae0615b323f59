package ocr

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/coffer-budget/coffer/internal/apierr"
	"github.com/coffer-budget/coffer/internal/rpc"
	"github.com/coffer-budget/coffer/services/ocr/fixture"
	"github.com/coffer-budget/coffer/services/ocr/recognition"
)

func TestLoadAdmit(t *testing.T) {
	t.Parallel()
	now := time.Now()
	l := newLoad(2, func() time.Time { return now })
	within := func(d time.Duration) context.Context {
		ctx, cancel := context.WithDeadline(t.Context(), now.Add(d))
		t.Cleanup(cancel)
		return ctx
	}
	require.NoError(t, l.admit(within(time.Second), 0), "idle")
	require.NoError(t, l.admit(t.Context(), 100), "no deadline")

	// Two receipts take 8 s each, so the mean is 2 + 6/4 + 4.5/4 s.
	first, second := l.start(), l.start()
	now = now.Add(8 * time.Second)
	require.Error(t, l.admit(within(9*time.Second), 0), "running receipts are slow")
	first()
	second()
	third := l.start()
	require.NoError(t, l.admit(within(4700*time.Millisecond), 0))
	require.Error(t, l.admit(within(4600*time.Millisecond), 0))
	third()
	l.mean = 4625 * time.Millisecond

	// Four queued receipts before this one, with both workers occupied, are five half rounds.
	l.start()
	l.start()
	err := l.admit(within(16*time.Second), 4)
	require.ErrorIs(t, err, apierr.Unavailable)
	require.Equal(t, 12*time.Second, apierr.From(err).RetryAfter)
	require.NoError(t, l.admit(within(17*time.Second), 4))
	require.Equal(t, maxRetry, apierr.From(l.admit(within(time.Minute), 100)).RetryAfter)
}

// TestRecognizeRejectsReceiptThatWouldBeLate requires an answer within a second, and not at the
// deadline, if the worker is occupied for longer.
func TestRecognizeRejectsReceiptThatWouldBeLate(t *testing.T) {
	t.Parallel()
	srv := newTestServer(t, recognition.Config{})
	srv.gate, srv.load = rpc.NewGate(1, 8, errBusy), newLoad(1, time.Now)
	leave, err := srv.gate.Enter(t.Context())
	require.NoError(t, err)
	defer leave()
	defer srv.load.start()()
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
	defer cancel()
	_, err = srv.Recognize(ctx, request(fixture.Small(t)))
	require.ErrorIs(t, err, apierr.Unavailable)
	require.Equal(t, 2*time.Second, apierr.From(err).RetryAfter)
	require.NoError(t, ctx.Err())
}
