package budget

import "time"

const (
	// deliveryLife is how long a delivery is tried.
	deliveryLife = 24 * time.Hour
	firstBackoff = 10 * time.Second
	lastBackoff  = 2 * time.Hour
	// firstPause doubles up to lastPause: an address that hangs costs a worker 10 seconds of each 70, and one that is well
	// again waits for a minute at most.
	firstPause = time.Second
	lastPause  = time.Minute
	// failingTime and failingTries are after how much of failing alone a webhook is switched off. A delivery is tried some 25
	// times, so no single event does that.
	failingTime  = 5 * 24 * time.Hour
	failingTries = 50
	// statusGone is HTTP's for an address that does not come back.
	statusGone = 410
)

// after is the delivery after an attempt. chance, from 0 to 1, spreads the retries of many.
func (d delivery) after(now time.Time, responseStatus int, problem string, chance float64) delivery {
	d.Attempts++
	d.LastAttemptAt, d.ResponseStatus, d.Error = &now, nil, nil
	if responseStatus != 0 {
		d.ResponseStatus = new(int32(responseStatus))
	}
	if problem == "" {
		d.Status = delivered
		return d
	}
	d.Error = &problem
	d.NextAttemptAt = now.Add(retryAfter(d.Attempts, chance))
	if responseStatus == statusGone || d.NextAttemptAt.After(d.CreatedAt.Add(deliveryLife)) {
		d.Status = failed
	}
	return d
}

// retryAfter doubles from try to try, up to a limit, and takes between half and all of that.
func retryAfter(attempts int32, chance float64) time.Duration {
	wait := lastBackoff
	if shift := attempts - 1; shift < 16 {
		wait = min(lastBackoff, firstBackoff<<shift)
	}
	return wait/2 + time.Duration(chance*float64(wait/2))
}

// after is the webhook after an attempt, and until when it is left alone. problem is empty for one that succeeded.
func (w webhook) after(now time.Time, problem string) (after webhook, pausedUntil time.Time) {
	if problem == "" {
		w.Failures, w.FailingSince = 0, nil
		return w, now
	}
	if w.FailingSince == nil {
		w.FailingSince = &now
	}
	w.Failures++
	pause := lastPause
	if shift := w.Failures - 1; shift < 6 {
		pause = min(lastPause, firstPause<<shift)
	}
	return w, now.Add(pause)
}

// hopeless tells whether a webhook is to be switched off after an attempt, and why.
func (w webhook) hopeless(now time.Time, responseStatus int) (disabledReason, bool) {
	switch {
	case responseStatus == statusGone:
		return gone, true
	case w.Failures >= failingTries && !now.Before(w.FailingSince.Add(failingTime)):
		return failing, true
	}
	return "", false
}
