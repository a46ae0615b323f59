package rules

import (
	"context"
	"time"

	"github.com/google/uuid"

	"github.com/coffer-budget/coffer/internal/pg"
	"github.com/coffer-budget/coffer/services/ledger/posting"
	"github.com/coffer-budget/coffer/services/ledger/rules/matching"
)

const ruleColumns = `r.owner_id, r.id, r.name, r.enabled, r.position, r.match_any, r.stop,
	r.sources, r.conditions, r.actions, r.category_id, r.applied_count, r.last_applied_at,
	r.version, r.created_at, r.updated_at, j.status AS job_status, coalesce(j.done, 0) AS job_done,
	coalesce(j.total, 0) AS job_total, coalesce(j.problem, '') AS job_problem, j.applied_at,
	coalesce(j.changed, 0) AS changed, coalesce(j.restored, 0) AS restored,
	coalesce(j.kept, 0) AS kept, r.seq`

const ruleTables = `rules r LEFT JOIN rule_jobs j ON j.owner_id = r.owner_id AND j.rule_id = r.id`

// selectRule returns a rule, or pgx.ErrNoRows if the id is unknown or the rule belongs to another
// owner.
func selectRule(ctx context.Context, q pg.Querier, owner, id uuid.UUID) (Rule, error) {
	return pg.One[Rule](ctx, q,
		`SELECT `+ruleColumns+` FROM `+ruleTables+` WHERE r.owner_id = $1 AND r.id = $2`, owner, id)
}

func selectRules(ctx context.Context, q pg.Querier, owner uuid.UUID) ([]Rule, error) {
	return pg.All[Rule](ctx, q, `SELECT `+ruleColumns+` FROM `+ruleTables+
		` WHERE r.owner_id = $1 ORDER BY r.position, r.id`, owner)
}

// Changed returns up to limit of an owner's rules that follow a place in the order of
// synchronization. Package sync calls it. The index rules_seq has this order.
func Changed(
	ctx context.Context, q pg.Querier, owner uuid.UUID, after posting.Place, limit int,
) ([]Rule, error) {
	return pg.All[Rule](ctx, q, `
		SELECT `+ruleColumns+`
		FROM `+ruleTables+`
		WHERE r.owner_id = $1 AND (r.seq, r.id) > ($2, $3)
		ORDER BY r.seq, r.id
		LIMIT $4`, owner, after.Seq, after.ID, limit)
}

type last struct {
	Count    int64
	Position int32
}

// selectLast returns the number of an owner's rules and the position of the last one. The caller
// shares the owner's lock, so that no other rule is created until its transaction ends.
func selectLast(ctx context.Context, q pg.Querier, owner uuid.UUID) (last, error) {
	return pg.One[last](ctx, q,
		`SELECT count(*), coalesce(max(position), 0) AS position FROM rules WHERE owner_id = $1`,
		owner)
}

type patterns struct{ Conditions []matching.Condition }

func selectPatterns(
	ctx context.Context, q pg.Querier, owner, except uuid.UUID,
) ([]patterns, error) {
	return pg.All[patterns](ctx, q, `
		SELECT conditions
		FROM rules
		WHERE owner_id = $1 AND id <> $2 AND conditions @> '[{"op": "matches"}]'`, owner, except)
}

// insertRule inserts a rule. It violates transactions_category_fkey or transactions_wallet_fkey if
// the owner has no such category or wallet.
func insertRule(ctx context.Context, q pg.Querier, rule Rule) error {
	err := pg.Exec(ctx, q, `
		INSERT INTO rules (owner_id, id, name, enabled, position, match_any, stop, sources,
			conditions, actions, category_id, version, created_at, updated_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)`,
		rule.OwnerID, rule.ID, rule.Name, rule.Enabled, rule.Position, rule.MatchAny, rule.Stop,
		rule.Sources, rule.Conditions,
		rule.Actions, rule.CategoryID, rule.Version, rule.CreatedAt, rule.UpdatedAt)
	if err != nil {
		return err
	}
	return replaceWallets(ctx, q, rule)
}

// updateRule writes the fields of a rule that its owner can change, and the version. It violates
// the same constraints as insertRule.
func updateRule(ctx context.Context, q pg.Querier, rule Rule) error {
	err := pg.Exec(ctx, q, `
		UPDATE rules
		SET name = $3, enabled = $4, match_any = $5, stop = $6, sources = $7, conditions = $8,
			actions = $9, category_id = $10, version = $11,
			updated_at = $12
		WHERE owner_id = $1 AND id = $2`,
		rule.OwnerID, rule.ID, rule.Name, rule.Enabled, rule.MatchAny, rule.Stop, rule.Sources,
		rule.Conditions, rule.Actions, rule.CategoryID, rule.Version, rule.UpdatedAt)
	if err != nil {
		return err
	}
	return replaceWallets(ctx, q, rule)
}

// replaceWallets stores the wallets that a rule names in rule_wallets, whose foreign key prevents
// their deletion (ADR 82). The slice is never nil, because a nil slice would be NULL, and a
// comparison with NULL would delete no row.
func replaceWallets(ctx context.Context, q pg.Querier, rule Rule) error {
	return pg.Exec(ctx, q, `
		WITH removed AS (DELETE FROM rule_wallets
			WHERE owner_id = $1 AND rule_id = $2 AND wallet_id <> ALL($3))
		INSERT INTO rule_wallets (owner_id, rule_id, wallet_id)
		SELECT $1, $2, w.id
		FROM unnest($3::uuid[]) AS w (id)
		ORDER BY w.id
		ON CONFLICT (owner_id, rule_id, wallet_id) DO NOTHING`,
		rule.OwnerID, rule.ID, append([]uuid.UUID{}, rule.wallets()...))
}

// updatePositions numbers rules in the order of ids. It does not write rules whose position stays,
// so that devices receive only the moved ones. The version stays, too: a PATCH cannot change the
// position. Positions start at 1, as in CreateRule.
func updatePositions(
	ctx context.Context, q pg.Querier, owner uuid.UUID, ids []uuid.UUID, at time.Time,
) error {
	return pg.Exec(ctx, q, `
		UPDATE rules r
		SET position = p.position, updated_at = $3
		FROM unnest($2::uuid[]) WITH ORDINALITY AS p (id, position)
		WHERE r.owner_id = $1 AND r.id = p.id AND r.position <> p.position`, owner, ids, at)
}

// deleteRule deletes a rule. Its wallets and its job are deleted by ON DELETE CASCADE.
func deleteRule(ctx context.Context, q pg.Querier, owner, id uuid.UUID) error {
	return pg.Exec(ctx, q, `DELETE FROM rules WHERE owner_id = $1 AND id = $2`, owner, id)
}
