package jobs

import (
	"context"
	"time"

	"github.com/coffer-budget/coffer/internal/apierr"
)

const (
	// maxWait is the longest time that a request waits for a job. It is within the deadline of an
	// ordinary request.
	maxWait = 8 * time.Second
	// waitStep is the interval at which a waiting request reads the row again.
	waitStep = 200 * time.Millisecond
	// answerTime is the time for the last read of a waiting request and its response.
	answerTime = time.Second
)

// ParseWait returns the time for which a request waits for a job, or usual without one.
func ParseWait(seconds *int32, usual time.Duration) (time.Duration, error) {
	if seconds == nil {
		return usual, nil
	}
	wait := time.Duration(*seconds) * time.Second
	if wait < 0 || wait > maxWait {
		return 0, apierr.Invalid("wait", "must be 0 to 8")
	}
	return wait, nil
}

// Wait reads a row again until a condition is met or a time has passed, and returns it. It polls
// the database, because the job may run on another replica. It returns answerTime before the
// deadline of the request: the gateway repeats a read whose replica was killed, and then less time
// is left than the client wants to wait.
func Wait[T any](
	ctx context.Context, duration time.Duration, row T, read func() (T, error),
	met func(now T) bool,
) (T, error) {
	if deadline, ok := ctx.Deadline(); ok {
		duration = min(duration, time.Until(deadline)-answerTime)
	}
	for passed := time.After(duration); duration > 0 && !met(row); {
		select {
		case <-ctx.Done():
			return row, ctx.Err()
		case <-passed:
			return row, nil
		case <-time.After(waitStep):
		}
		var err error
		if row, err = read(); err != nil {
			return row, err
		}
	}
	return row, nil
}
