package rules

// The values of a job's status.
const (
	queued  = "queued"
	running = "running"
	done    = "done"
	failed  = "failed"
)
