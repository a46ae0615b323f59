package tags

import (
	"context"
	"time"

	"github.com/google/uuid"

	"github.com/coffer-budget/coffer/internal/pg"
	"github.com/coffer-budget/coffer/services/ledger/posting"
)

// tag is a row of tags with the number of its transactions. Key is unique per owner, and Name is as
// the owner wrote it.
type tag struct {
	Key, Name string
	Color     string
	CreatedAt time.Time `db:"created_at"`
	// Seq is the number of the write that last changed the row (ADR 83). It is also the version of
	// the tag: the number of transactions is not part of it, as the balance is not part of the
	// version of a wallet.
	Seq   int64
	Count int64
}

// selectTags returns the tags of an owner by name. It finds the tagged transactions with the index
// transactions_tags, and counts them once for all tags.
func selectTags(ctx context.Context, q pg.Querier, owner uuid.UUID) ([]tag, error) {
	return pg.All[tag](ctx, q, `
		SELECT t.key, t.name, t.color, t.created_at, t.seq, coalesce(c.count, 0) AS count
		FROM tags t
		LEFT JOIN (
			SELECT u.key, count(*) AS count
			FROM transactions x, unnest(x.tags) AS u (key)
			WHERE x.owner_id = $1 AND x.tags <> '{}'
			GROUP BY u.key
		) AS c ON c.key = t.key
		WHERE t.owner_id = $1
		ORDER BY t.key COLLATE "und-x-icu", t.key`, owner)
}

// selectTag returns the tag of a name, ignoring case, or pgx.ErrNoRows. The query repeats the
// condition tags <> '{}' of the partial index transactions_tags. Otherwise PostgreSQL would not use
// the index.
func selectTag(ctx context.Context, q pg.Querier, owner uuid.UUID, name string) (tag, error) {
	return pg.One[tag](ctx, q, `
		SELECT t.key, t.name, t.color, t.created_at, t.seq,
			(SELECT count(*) FROM transactions x
				WHERE x.owner_id = $1 AND x.tags <> '{}' AND x.tags @> ARRAY[t.key]) AS count
		FROM tags t
		WHERE t.owner_id = $1 AND t.key = `+posting.TagKeySQL("$2::text"), owner, name)
}

// newTag returns t with another name, and with the key of that name. PostgreSQL derives the key,
// because only its own lower() gives the same result as posting.UseTags for all letters.
func newTag(ctx context.Context, q pg.Querier, name string, t tag) (tag, error) {
	key, err := pg.Value[string](ctx, q, `SELECT `+posting.TagKeySQL("$1::text"), name)
	if err != nil {
		return tag{}, err
	}
	t.Key, t.Name = key, name
	return t, nil
}

// insertTag inserts a tag, or changes the name and the color of the tag with its key.
func insertTag(ctx context.Context, q pg.Querier, owner uuid.UUID, t tag) error {
	return pg.Exec(ctx, q, `
		INSERT INTO tags (owner_id, key, name, color, created_at)
		VALUES ($1, $2, $3, $4, $5)
		ON CONFLICT (owner_id, key) DO UPDATE SET name = EXCLUDED.name, color = EXCLUDED.color`,
		owner, t.Key, t.Name, t.Color, t.CreatedAt)
}

func deleteTag(ctx context.Context, q pg.Querier, owner uuid.UUID, key string) error {
	return pg.Exec(ctx, q, `DELETE FROM tags WHERE owner_id = $1 AND key = $2`, owner, key)
}

// replaceKey replaces a tag of all transactions by another one. A transaction that has both keeps
// the other one once. If both keys are equal, only the name has changed: the transactions keep
// their keys and get a new version, because they show the name. The caller holds the owner's lock,
// so the order in which rows are locked does not matter. The statement sets seq itself, which skips
// the trigger for each row (ADR 83).
func replaceKey(
	ctx context.Context, q pg.Querier, owner uuid.UUID, from, to string, at time.Time,
) error {
	return pg.Exec(ctx, q, `
		UPDATE transactions
		SET tags = CASE WHEN $2 <> $3 AND tags @> ARRAY[$3::text] THEN array_remove(tags, $2)
			ELSE array_replace(tags, $2, $3) END,
			version = version + 1, updated_at = $4, seq = (SELECT taken_seq($1))
		WHERE owner_id = $1 AND tags <> '{}' AND tags @> ARRAY[$2::text]`, owner, from, to, at)
}

// removeKey removes a tag from all transactions. The caller holds the owner's lock.
func removeKey(ctx context.Context, q pg.Querier, owner uuid.UUID, key string, at time.Time) error {
	return pg.Exec(ctx, q, `
		UPDATE transactions
		SET tags = array_remove(tags, $2), version = version + 1, updated_at = $3,
			seq = (SELECT taken_seq($1))
		WHERE owner_id = $1 AND tags <> '{}' AND tags @> ARRAY[$2::text]`, owner, key, at)
}

// addsTag is the SQL condition on an action a of a rule that adds the tag with key $2, and
// tagValues the one on a condition c that compares it. namesTag compares a name v.name. A rule has
// the name of a tag as its user typed it, so names are compared by their keys.
var (
	addsTag = `a.value ->> 'kind' = 'addTag'
		AND ` + posting.TagKeySQL("(a.value ->> 'value')") + ` = $2`
	namesTag  = posting.TagKeySQL("v.name") + ` = $2`
	tagValues = `c.value ->> 'field' = 'tag' AND EXISTS (
		SELECT FROM jsonb_array_elements_text(c.value -> 'values') AS v (name)
		WHERE ` + namesTag + `)`
)

// renameInRules replaces a tag in the actions and conditions of rules by the name of another one.
// The caller holds the owner's lock, so no rule is written with the previous name at the same time.
func renameInRules(
	ctx context.Context, q pg.Querier, owner uuid.UUID, from, name string, at time.Time,
) error {
	return pg.Exec(ctx, q, `
		UPDATE rules
		SET actions = (
				SELECT jsonb_agg(CASE WHEN `+addsTag+` THEN
						jsonb_set(a.value, '{value}', to_jsonb($3::text))
						ELSE a.value END ORDER BY a.n)
				FROM jsonb_array_elements(actions) WITH ORDINALITY AS a (value, n)),
			conditions = (
				SELECT jsonb_agg(CASE WHEN `+tagValues+` THEN jsonb_set(c.value, '{values}', (
						SELECT jsonb_agg(
							CASE WHEN `+namesTag+` THEN $3::text ELSE v.name END ORDER BY v.n)
						FROM jsonb_array_elements_text(c.value -> 'values')
							WITH ORDINALITY AS v (name, n))) ELSE c.value END ORDER BY c.n)
				FROM jsonb_array_elements(conditions) WITH ORDINALITY AS c (value, n)),
			version = version + 1, updated_at = $4
		WHERE owner_id = $1 AND (
			EXISTS (SELECT FROM jsonb_array_elements(actions) AS a WHERE `+addsTag+`)
			OR EXISTS (SELECT FROM jsonb_array_elements(conditions) AS c WHERE `+tagValues+`))`,
		owner, from, name, at)
}

// removeFromRules removes the action that adds a tag from rules. A rule needs an action: one
// without another action keeps it and is switched off. Conditions stay, because no transaction
// meets them any more. The caller holds the owner's lock.
func removeFromRules(
	ctx context.Context, q pg.Querier, owner uuid.UUID, key string, at time.Time,
) error {
	return pg.Exec(ctx, q, `
		UPDATE rules
		SET actions = coalesce((
				SELECT jsonb_agg(a.value ORDER BY a.n)
				FROM jsonb_array_elements(actions) WITH ORDINALITY AS a (value, n)
				WHERE (`+addsTag+`) IS NOT TRUE), actions),
			enabled = enabled AND jsonb_array_length(actions) > 1, version = version + 1,
			updated_at = $3
		WHERE owner_id = $1
			AND EXISTS (SELECT FROM jsonb_array_elements(actions) AS a WHERE `+addsTag+`)`,
		owner, key, at)
}

// rewriteApplied replaces the tag that applications of rules have added, so that an undo removes it
// under its new key. After a merge of the tag, a merge into it or its deletion, an undo removes no
// tag: a transaction may have had the other tag before, or have received the tag again since.
func rewriteApplied(
	ctx context.Context, q pg.Querier, owner uuid.UUID, from, to string, merged bool,
) error {
	return pg.Exec(ctx, q, `
		UPDATE rule_jobs
		SET wrote_tag = CASE WHEN $4 THEN NULL ELSE $3 END
		WHERE owner_id = $1 AND (wrote_tag = $2 OR $4 AND wrote_tag = $3)`,
		owner, from, to, merged)
}
