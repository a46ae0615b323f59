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
	require.True(t, l.idle())
	require.NoError(t, l.admit(t.Context(), 100), "no deadline")

	slow := l.start()
	require.False(t, l.idle())
	now = now.Add(time.Minute)
	require.NoError(t, l.admit(within(3*time.Second), 0), "a worker is free")
	other := l.start()
	require.NoError(t, l.admit(within(3*time.Second), 0), "one of two receipts is slow")
	slow()
	other()
	l.mean = firstEstimate

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

// TestRecognizeRejectsReceiptThatWaitedTooLong requires that a receipt that was admitted is not
// started if the only worker becomes free too late.
func TestRecognizeRejectsReceiptThatWaitedTooLong(t *testing.T) {
	t.Parallel()
	srv := newTestServer(t, recognition.Config{})
	srv.gate, srv.load = rpc.NewGate(1, 8, errBusy), newLoad(1, time.Now)
	leave, err := srv.gate.Enter(t.Context())
	require.NoError(t, err)
	done := srv.load.start()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	rejected := make(chan error, 1)
	go func() {
		_, err := srv.Recognize(ctx, request(fixture.Small(t)))
		rejected <- err
	}()
	waits := func() bool { return srv.gate.Waiting() == 1 }
	require.Eventually(t, waits, 20*time.Second, time.Millisecond)
	done()
	srv.load.mu.Lock()
	srv.load.mean = time.Minute
	srv.load.mu.Unlock()
	leave()
	require.ErrorIs(t, <-rejected, apierr.Unavailable)
	require.NoError(t, ctx.Err())
}
