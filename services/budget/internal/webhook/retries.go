package webhook

import (
	"time"

	"github.com/coffer-budget/coffer/internal/jobs"
)

const (
	// deliveryLife is the time after which a delivery that was not successful is failed.
	deliveryLife = 24 * time.Hour
	// A delivery is retried after firstBackoff, which doubles up to lastBackoff.
	firstBackoff = 10 * time.Second
	lastBackoff  = 2 * time.Hour
	// A failing webhook is paused for firstPause, which doubles up to lastPause. So an address
	// that hangs costs a worker 10 seconds of each 70, and a repaired one waits a minute at most.
	firstPause = time.Second
	lastPause  = time.Minute
	// A webhook is disabled after failingAttempts failures without a success, over at least
	// failingTime. A single delivery has about 25 attempts, so it cannot disable a webhook.
	failingTime     = 5 * 24 * time.Hour
	failingAttempts = 50
	statusGone      = 410
)

// attempted returns the delivery after an attempt. problem is empty if it succeeded. jitter, from 0
// to 1, spreads the retries of deliveries that failed together.
func (d delivery) attempted(now time.Time, status int, problem string, jitter float64) delivery {
	d.Attempts++
	d.LastAttemptAt, d.ResponseStatus, d.Error = &now, nil, nil
	if status != 0 {
		d.ResponseStatus = new(int32(status))
	}
	if problem == "" {
		d.Status = delivered
		return d
	}
	d.Error = &problem
	d.NextAttemptAt = now.Add(backoff(d.Attempts, jitter))
	if status == statusGone || d.NextAttemptAt.After(d.CreatedAt.Add(deliveryLife)) {
		d.Status = failed
	}
	return d
}

// backoff returns the time before the next attempt. It doubles with each attempt up to a limit;
// jitter selects a time between half of that and all of it.
func backoff(attempts int32, jitter float64) time.Duration {
	wait := jobs.Backoff(int(attempts), firstBackoff, lastBackoff)
	return wait/2 + time.Duration(jitter*float64(wait/2))
}

// attempted returns the webhook after an attempt, and the end of its pause. problem is empty if the
// attempt succeeded. The count belongs to the webhook and not to a delivery, so it shows for how
// long the address has failed altogether.
func (w webhook) attempted(now time.Time, problem string) (after webhook, pausedUntil time.Time) {
	if problem == "" {
		w.Failures, w.FailingSince = 0, nil
		return w, now
	}
	if w.FailingSince == nil {
		w.FailingSince = &now
	}
	w.Failures++
	return w, now.Add(jobs.Backoff(int(w.Failures), firstPause, lastPause))
}

// disables reports whether an attempt disables the webhook, and the reason. It must be called on
// the result of attempted, because that includes the failure.
func (w webhook) disables(now time.Time, responseStatus int) (disabledReason, bool) {
	switch {
	case responseStatus == statusGone:
		return gone, true
	case w.Failures >= failingAttempts && !now.Before(w.FailingSince.Add(failingTime)):
		return failing, true
	}
	return "", false
}
