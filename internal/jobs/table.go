package jobs

import (
	"context"
	"errors"
	"fmt"
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

// Lease leases the next job for d and counts the attempt, so that a job that kills its replicas
// fails, too (ADR 89). It returns pgx.ErrNoRows if none waits. A job waits a second longer per
// thousand rows, up to 20 seconds, so that small jobs do not wait for the large ones of other
// users, and these wait no longer than that.
func (t Table) Lease(ctx context.Context, q pg.Querier, d time.Duration) (Job, error) {
	key := `owner_id, ` + t.ID
	j, err := pg.One[Job](ctx, q, `
		UPDATE `+t.Name+`
		SET lease = $2, leased_until = now() + make_interval(secs => $1),
			attempts = attempts + 1
		WHERE (`+key+`) = (
			SELECT `+key+`
			FROM `+t.Name+`
			WHERE `+t.waiting()+`
			ORDER BY coalesce(leased_until, `+t.QueuedAt+`)
				+ make_interval(secs => least(greatest(`+t.Remaining+`, 0), 20000) / 1000.0)
			LIMIT 1
			FOR UPDATE SKIP LOCKED)
		RETURNING owner_id, `+t.ID+` AS id, lease, status, attempts`, d.Seconds(), uuid.New())
	if err != nil {
		return Job{}, fmt.Errorf("leasing a job of %s: %w", t.Name, err)
	}
	j.LeaseTime = d
	return j, nil
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
func (t Table) Yield(ctx context.Context, q pg.Querier, j Job) (bool, error) {
	return pg.Affected(ctx, q, `
		UPDATE `+t.Name+`
		SET leased_until = now(), attempts = least(attempts, $4)
		WHERE `+t.leased()+` AND EXISTS (SELECT FROM `+t.Name+` WHERE `+t.waiting()+`)`,
		j.OwnerID, j.ID, j.Lease, j.Attempts-1)
}

// Renew renews the lease of a job and returns columns of its row. It returns ErrLostLease if
// another replica has taken the job. The row stays locked until the transaction ends, so a chunk of
// a replica that has lost its lease cannot commit beside a chunk of the new one.
func Renew[T any](ctx context.Context, q pg.Querier, t Table, j Job, columns string) (T, error) {
	row, err := pg.One[T](ctx, q, `
		UPDATE `+t.Name+`
		SET leased_until = now() + make_interval(secs => $4)
		WHERE `+t.leased()+` AND `+t.Unfinished+`
		RETURNING `+columns, j.OwnerID, j.ID, j.Lease, j.LeaseTime.Seconds())
	if errors.Is(err, pgx.ErrNoRows) {
		return row, ErrLostLease
	}
	return row, err
}
