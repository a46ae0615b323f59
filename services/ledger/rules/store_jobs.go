package rules

import (
	"context"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/coffer-budget/coffer/internal/jobs"
	"github.com/coffer-budget/coffer/internal/pg"
	"github.com/coffer-budget/coffer/services/ledger/posting"
	"github.com/coffer-budget/coffer/services/ledger/rules/matching"
)

const (
	queued  = "queued"
	running = "running"
	done    = "done"
	failed  = "failed"
	undoing = "undoing"
	undone  = "undone"
)

// window selects the transactions to which a rule is applied: those with a date from Start to
// before End, in a wallet. A nil field is no limit.
type window struct {
	Start  *time.Time `db:"window_start"`
	End    *time.Time `db:"window_end"`
	Wallet *uuid.UUID `db:"wallet_id"`
}

// inWindow is the condition on a transaction t of owner $1. Its arguments are $2 to $4.
const inWindow = `t.owner_id = $1 AND t.transfer_id IS NULL AND NOT t.adjustment
	AND ($2::timestamptz IS NULL OR t.date >= $2) AND ($3::timestamptz IS NULL OR t.date < $3)
	AND ($4::uuid IS NULL OR t.wallet_id = $4)`

// place is the position of a job in its window: the date and the id of the last transaction that it
// processed. The order of dates and ids does not depend on the rule's changes, so the job skips no
// transaction and processes none twice, except those whose date is edited meanwhile.
type place struct {
	window
	AfterDate time.Time `db:"after_date"`
	AfterID   uuid.UUID `db:"after_id"`
}

const placeColumns = `window_start, window_end, wallet_id, after_date, after_id`

// jobTable has a row for each rule that was applied. The partial index rule_jobs_waiting contains
// only jobs that have not ended.
var jobTable = jobs.Table{
	Name: "rule_jobs", ID: "rule_id", Unfinished: `status IN ('queued', 'running', 'undoing')`,
	QueuedAt: "queued_at", Remaining: "total - done",
}

// upsertJob queues the application of a rule, in place of an earlier one. The total is only for the
// progress: the number of transactions in the window at this moment. The job holds the values that
// the rule writes, because the rule may be changed before an undo.
func upsertJob(ctx context.Context, q pg.Querier, rule Rule, window window, at time.Time) error {
	values := map[string]*string{}
	for _, a := range rule.Actions {
		values[a.Kind] = &a.Value
	}
	return pg.Exec(ctx, q, `
		INSERT INTO rule_jobs (owner_id, rule_id, status, total,
			window_start, window_end, wallet_id, after_date, queued_at, applied_at, wrote_category,
			wrote_payee, wrote_description, wrote_notes, wrote_tag)
		SELECT $1, $5, 'queued', (SELECT count(*) FROM transactions t WHERE `+inWindow+`),
			$2, $3, $4, '0001-01-01Z', $6, $6, $7, $8, $9, $10, `+posting.TagKeySQL("$11::text")+`
		ON CONFLICT (owner_id, rule_id) DO UPDATE
		SET status = EXCLUDED.status, done = 0, total = EXCLUDED.total, problem = '',
			window_start = EXCLUDED.window_start, window_end = EXCLUDED.window_end,
			wallet_id = EXCLUDED.wallet_id, after_date = EXCLUDED.after_date,
			after_id = '00000000-0000-0000-0000-000000000000', attempts = 0,
			lease = NULL, leased_until = NULL, queued_at = EXCLUDED.queued_at,
			applied_at = EXCLUDED.applied_at, changed = 0, restored = 0, kept = 0,
			wrote_category = EXCLUDED.wrote_category, wrote_payee = EXCLUDED.wrote_payee,
			wrote_description = EXCLUDED.wrote_description, wrote_notes = EXCLUDED.wrote_notes,
			wrote_tag = EXCLUDED.wrote_tag`,
		rule.OwnerID, window.Start, window.End, window.Wallet, rule.ID, at, rule.CategoryID,
		values[matching.SetPayee],
		values[matching.SetDescription], values[matching.SetNotes], values[matching.AddTag])
}

// advance moves the position of a job behind the last transaction of a chunk, sets the status
// running, and resets the attempts. total grows with transactions that were created meanwhile. It
// needs no check of the lease: jobs.Renew has locked the row in the same database transaction.
func advance(
	ctx context.Context, q pg.Querier, j jobs.Job, last posting.Transaction,
	processed, changed int,
) error {
	return pg.Exec(ctx, q, `
		UPDATE rule_jobs
		SET status = 'running', after_date = $3, after_id = $4, done = done + $5,
			total = greatest(total, done + $5), changed = changed + $6, attempts = 0
		WHERE owner_id = $1 AND rule_id = $2`,
		j.OwnerID, j.ID, last.Date, last.ID, processed, changed)
}

// endJob ends a job and its lease. It returns jobs.ErrLostLease if another replica has taken it.
func endJob(ctx context.Context, q pg.Querier, job jobs.Job, status, problem string) error {
	held, err := pg.Affected(ctx, q, `
		UPDATE rule_jobs
		SET status = $4, problem = $5, lease = NULL, leased_until = NULL,
			total = CASE WHEN $5 = '' THEN done ELSE total END
		WHERE owner_id = $1 AND rule_id = $2 AND lease = $3`,
		job.OwnerID, job.ID, job.Lease, status, problem)
	if err == nil && !held {
		err = jobs.ErrLostLease
	}
	return err
}

// lockNext locks up to limit transactions of a job after its position until tx ends, and returns
// them without their splits. Rows are locked in the order of dates and not of ids. That cannot
// deadlock: writes of one owner wait for each other at the row of owners, which the chunk has
// locked (ADR 83).
func lockNext(
	ctx context.Context, tx pgx.Tx, owner uuid.UUID, p place, limit int,
) ([]posting.Transaction, error) {
	return pg.All[posting.Transaction](ctx, tx, `
		SELECT `+posting.TransactionColumns+`
		FROM transactions t
		WHERE `+inWindow+` AND (t.date, t.id) > ($5, $6)
		ORDER BY t.date, t.id
		LIMIT $7
		FOR UPDATE`, owner, p.Start, p.End, p.Wallet, p.AfterDate, p.AfterID, limit)
}

// selectBefore returns up to limit transactions of a window before a place, newest first, without
// their splits.
func selectBefore(
	ctx context.Context, q pg.Querier, owner uuid.UUID, w window,
	date time.Time, id uuid.UUID, limit int,
) ([]posting.Transaction, error) {
	return pg.All[posting.Transaction](ctx, q, `
		SELECT `+posting.TransactionColumns+`
		FROM transactions t
		WHERE `+inWindow+` AND (t.date, t.id) < ($5, $6)
		ORDER BY t.date DESC, t.id DESC
		LIMIT $7`, owner, w.Start, w.End, w.Wallet, date, id, limit)
}

// updateTransactions writes the fields of transactions that a rule may change, and their versions,
// with one statement. The caller corrects the totals with posting.Replace. An array of arrays
// cannot have rows of different lengths, so the keys of tags are joined by commas, which keys do
// not contain. It sets seq itself, which skips the trigger for each row (ADR 83).
func updateTransactions(
	ctx context.Context, q pg.Querier, owner uuid.UUID, ts []posting.Transaction,
) error {
	var ids []uuid.UUID
	var categories []*uuid.UUID
	var payees, descriptions, notes, tags []string
	for _, t := range ts {
		ids = append(ids, t.ID)
		categories = append(categories, t.CategoryID)
		payees = append(payees, t.Payee)
		descriptions = append(descriptions, t.Description)
		notes = append(notes, t.Notes)
		tags = append(tags, strings.Join(t.Tags, ","))
	}
	return pg.Exec(ctx, q, `
		UPDATE transactions t
		SET category_id = c.category_id, payee = c.payee, description = c.description,
			notes = c.notes, tags = string_to_array(c.tags, ','), version = t.version + 1,
			updated_at = $8, seq = (SELECT taken_seq($1))
		FROM unnest($2::uuid[], $3::uuid[], $4::text[], $5::text[], $6::text[], $7::text[])
			AS c (id, category_id, payee, description, notes, tags)
		WHERE t.id = c.id AND t.owner_id = $1`,
		owner, ids, categories, payees, descriptions, notes, tags, ts[0].UpdatedAt)
}

// CountApplied counts the rows that rules have changed. counts has the number of rows for each
// rule. The caller shares the owner's lock. An import calls it once per chunk, and a receipt once.
// The version stays, because no field changes that a PATCH can change. The number ends at the
// maximum of its column instead of failing.
func CountApplied(
	ctx context.Context, q pg.Querier, owner uuid.UUID,
	rules []uuid.UUID, counts []int32, at time.Time,
) error {
	if len(rules) == 0 {
		return nil
	}
	return pg.Exec(ctx, q, `
		UPDATE rules r
		SET applied_count = least(r.applied_count::bigint + a.count, 2147483647)::integer,
			last_applied_at = $4
		FROM unnest($2::uuid[], $3::integer[]) AS a (id, count)
		WHERE r.owner_id = $1 AND r.id = a.id AND a.count > 0`, owner, rules, counts, at)
}
