package erasure

import (
	"context"

	"github.com/google/uuid"

	"github.com/coffer-budget/coffer/internal/pg"
)

// tables are the tables with rows of owners, except those whose rows the last transaction of an
// erasure deletes, and unreferenced_objects, see files.Store.Erase. A table precedes the tables
// that it references. Triggers on splits and transactions write totals and tombstones, so those are
// later.
var tables = []string{
	"import_rows", "import_creations", "import_reconciliations", "imports", "import_profiles",
	"import_accounts",
	"rule_changes", "rule_jobs", "rule_wallets", "rules",
	"attachment_chunks", "attachments", "splits", "transactions", "reconciliations",
	"monthly_transfers", "monthly_totals", "receipt_images", "receipts",
	"budget_references", "referencing_budgets", "merged_categories", "settings", "tags",
	"views",
	"wallet_balances", "wallets", "categories", "idempotency_keys", "tombstones",
}

// insertErasure queues an erasure. A repeated event has no effect while it is queued.
func insertErasure(ctx context.Context, q pg.Querier, owner, deletion uuid.UUID) error {
	return pg.Exec(ctx, q, `
		INSERT INTO erasures (owner_id, deletion_id)
		VALUES ($1, $2)
		ON CONFLICT ON CONSTRAINT erasures_pkey DO NOTHING`, owner, deletion)
}

// selectDue returns owners whose erasure no replica has leased.
func selectDue(ctx context.Context, q pg.Querier) ([]uuid.UUID, error) {
	return pg.Values[uuid.UUID](ctx, q, `
		SELECT DISTINCT owner_id
		FROM erasures
		WHERE leased_until < now()
		LIMIT 100`)
}

// lease leases an erasure for a minute, and returns false if another replica has leased it.
func lease(ctx context.Context, q pg.Querier, owner uuid.UUID) (bool, error) {
	return pg.Affected(ctx, q, `
		UPDATE erasures
		SET leased_until = now() + interval '1 minute'
		WHERE owner_id = $1 AND leased_until < now()`, owner)
}

// renew renews the lease of an erasure, and returns false if it is complete.
func renew(ctx context.Context, q pg.Querier, owner uuid.UUID) (bool, error) {
	return pg.Affected(ctx, q, `
		UPDATE erasures
		SET leased_until = now() + interval '1 minute'
		WHERE owner_id = $1`, owner)
}

// release ends the lease of an erasure.
func release(ctx context.Context, q pg.Querier, owner uuid.UUID) error {
	return pg.Exec(ctx, q, `
		UPDATE erasures
		SET leased_until = '-infinity'
		WHERE owner_id = $1`, owner)
}

// deleteRows deletes up to 5000 rows of an owner from a table, and reports whether there were any.
// An owner's rows of a table are in one partition, so ctid identifies them.
func deleteRows(ctx context.Context, q pg.Querier, table string, owner uuid.UUID) (bool, error) {
	return pg.Affected(ctx, q, `
		DELETE FROM `+table+`
		WHERE owner_id = $1 AND ctid = ANY(ARRAY(
			SELECT ctid
			FROM `+table+`
			WHERE owner_id = $1
			LIMIT 5000
		))`, owner)
}

// selectPublishing reports whether the outbox has events of a user.
func selectPublishing(ctx context.Context, q pg.Querier, user uuid.UUID) (bool, error) {
	return pg.Value[bool](ctx, q,
		`SELECT EXISTS (SELECT FROM outbox WHERE user_id = $1)`, user)
}

// deleteOwner deletes the number of the owner's last write, which each transaction of an erasure
// takes again.
func deleteOwner(ctx context.Context, q pg.Querier, owner uuid.UUID) error {
	return pg.Exec(ctx, q, `DELETE FROM owners WHERE owner_id = $1`, owner)
}

// deleteErasures deletes the erasures of an owner, and returns the ids of the deletions.
func deleteErasures(ctx context.Context, q pg.Querier, owner uuid.UUID) ([]uuid.UUID, error) {
	return pg.Values[uuid.UUID](ctx, q, `
		DELETE FROM erasures
		WHERE owner_id = $1
		RETURNING deletion_id`, owner)
}
