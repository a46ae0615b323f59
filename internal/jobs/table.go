package jobs

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/coffer-budget/coffer/internal/pg"
)

// Table is a table of jobs. Its key is owner_id and ID, and it has the columns status, lease,
// leased_until and attempts. A statement that ends a job sets lease and leased_until to NULL, and
// one that stores progress sets attempts to 0.
type Table struct {
	Name, ID string
	// Unfinished is the condition on a job that has not ended.
	Unfinished string
	// QueuedAt is the time at which a job was queued, and Remaining the number of its rows that are
	// not processed.
	QueuedAt, Remaining string
	// Endless is the status of jobs that never fail, and are tried again until they end.
	Endless string
}

func (t Table) waiting() string {
	return t.Unfinished + ` AND (leased_until IS NULL OR leased_until < now())`
}

// leased is the condition on a job whose owner is $1, whose id is $2 and whose lease is $3.
func (t Table) leased() string { return `owner_id = $1 AND ` + t.ID + ` = $2 AND lease = $3` }

// Lease reads minCandidates waiting jobs. If other replicas take or lock all of them, it reads
// twice as many, up to maxCandidates.
const (
	minCandidates = 16
	maxCandidates = 256
)

// candidate is a job that waited when it was read.
type candidate struct {
	OwnerID uuid.UUID `db:"owner_id"`
	ID      uuid.UUID
}

// Lease leases the next job for duration and counts the attempt, so that a job that kills its
// replicas fails, too (ADR 89). It returns pgx.ErrNoRows if none waits.
//
// On a distributed database a statement that locks must name its owner (ADR 124), so Lease first
// reads the next jobs of all owners without a lock, and then leases one of them. The first one is
// next, unless another replica takes it.
func (t Table) Lease(ctx context.Context, q pg.Querier, duration time.Duration) (Job, error) {
	for limit := minCandidates; limit <= maxCandidates; limit *= 2 {
		waiting, err := t.selectWaiting(ctx, q, limit)
		if err != nil {
			return Job{}, fmt.Errorf("reading the waiting jobs of %s: %w", t.Name, err)
		}
		for _, c := range spread(waiting) {
			j, err := t.lease(ctx, q, c, duration)
			if err == nil || !errors.Is(err, pgx.ErrNoRows) {
				return j, err
			}
		}
		if len(waiting) < limit {
			break
		}
	}
	return Job{}, fmt.Errorf("leasing a job of %s: %w", t.Name, pgx.ErrNoRows)
}

// selectWaiting returns up to limit waiting jobs in the order in which they are leased. A job waits
// a second longer per thousand rows, up to 20 seconds, so that small jobs do not wait for the large
// ones of other users, and these wait no longer than that.
func (t Table) selectWaiting(ctx context.Context, q pg.Querier, limit int) ([]candidate, error) {
	return pg.All[candidate](ctx, q, `
		SELECT owner_id, `+t.ID+` AS id
		FROM `+t.Name+`
		WHERE `+t.waiting()+`
		ORDER BY coalesce(leased_until, `+t.QueuedAt+`)
			+ make_interval(secs => least(greatest(`+t.Remaining+`, 0), 20000) / 1000.0)
		LIMIT $1`, limit)
}

// spread returns the candidates in the order in which a replica tries them. After the first one
// follow the first jobs of the other owners in random order, so that replicas that have lost the
// first job do not all try the second. The other jobs of these owners are last, each behind the
// earlier ones of its owner.
func spread(waiting []candidate) []candidate {
	var first, rest []candidate
	seen := map[uuid.UUID]bool{}
	for _, c := range waiting {
		if seen[c.OwnerID] {
			rest = append(rest, c)
			continue
		}
		seen[c.OwnerID] = true
		first = append(first, c)
	}
	if len(first) > 1 {
		others := first[1:]
		rand.Shuffle(len(others), func(i, j int) {
			others[i], others[j] = others[j], others[i]
		})
	}
	return append(first, rest...)
}

// lease leases a job for duration if it still waits, and returns pgx.ErrNoRows otherwise. It skips
// a locked row instead of waiting for it: a chunk that takes longer than its lease keeps the lock.
func (t Table) lease(
	ctx context.Context, q pg.Querier, candidate candidate, duration time.Duration,
) (Job, error) {
	job, err := pg.One[Job](ctx, q, `
		UPDATE `+t.Name+`
		SET lease = $4, leased_until = now() + make_interval(secs => $3),
			attempts = attempts + 1
		WHERE owner_id = $1 AND `+t.ID+` = (
			SELECT `+t.ID+`
			FROM `+t.Name+`
			WHERE owner_id = $1 AND `+t.ID+` = $2 AND `+t.waiting()+`
			FOR UPDATE SKIP LOCKED)
		RETURNING owner_id, `+t.ID+` AS id, lease, status, attempts`,
		candidate.OwnerID, candidate.ID, duration.Seconds(), uuid.New())
	job.LeaseTime = duration
	return job, err
}

// Release ends a lease early, so that the job can be tried again after a pause. An attempt that
// does not count was subtracted from j.Attempts. A chunk that made progress has reset the column,
// which then stays 0.
func (t Table) Release(ctx context.Context, q pg.Querier, j Job, pause time.Duration) error {
	return pg.Exec(ctx, q, `
		UPDATE `+t.Name+`
		SET leased_until = now() + make_interval(secs => $4), attempts = least(attempts, $5)
		WHERE `+t.leased(), j.OwnerID, j.ID, j.Lease, pause.Seconds(), j.Attempts)
}

// Yield ends the lease of a job if another one waits, and reports whether it did. The attempt does
// not count: the job has not failed, also if its chunks only read what it needs for the next ones.
// If another replica takes the other job meanwhile, the job is leased again.
func (t Table) Yield(ctx context.Context, q pg.Querier, j Job) (bool, error) {
	waiting, err := t.selectWaiting(ctx, q, 1)
	if err != nil || len(waiting) == 0 {
		return false, err
	}
	return pg.Affected(ctx, q, `
		UPDATE `+t.Name+`
		SET leased_until = now(), attempts = least(attempts, $4)
		WHERE `+t.leased(), j.OwnerID, j.ID, j.Lease, j.Attempts-1)
}

// Renew renews the lease of a job and returns columns of its row. It returns ErrLostLease if
// another replica has taken the job. The row stays locked until the transaction ends, so a chunk of
// a replica that has lost its lease cannot commit beside a chunk of the new one.
func Renew[T any](ctx context.Context, q pg.Querier, t Table, job Job, columns string) (T, error) {
	row, err := pg.One[T](ctx, q, `
		UPDATE `+t.Name+`
		SET leased_until = now() + make_interval(secs => $4)
		WHERE `+t.leased()+` AND `+t.Unfinished+`
		RETURNING `+columns, job.OwnerID, job.ID, job.Lease, job.LeaseTime.Seconds())
	if errors.Is(err, pgx.ErrNoRows) {
		return row, ErrLostLease
	}
	return row, err
}
