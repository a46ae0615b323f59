package posting

import (
	"context"
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/coffer-budget/coffer/internal/pg"
)

// maxTags is the maximum number of tags per owner.
const maxTags = 2000

// TagKeySQL returns the SQL expression for the key of a tag whose name is the given expression.
// Names that differ only in case have the same key, in any language.
func TagKeySQL(name string) string { return `lower(` + name + ` COLLATE "und-x-icu")` }

// usedTag is a tag that a request names.
type usedTag struct {
	// Given is the name in the request, Name the one that the owner wrote first, or empty if the
	// tag is new.
	Given, Key, Name string
}

// UseTags sets Tags and TagNames of transactions that are being written, from the names in
// TagNames. It inserts the tags that the owner did not have, and merges names that differ only in
// case. The caller shares the owner's lock, so that no tag is renamed or deleted until the
// transaction ends, and calls UseTags before it writes any of ts. Without tags it runs no query.
//
// It returns LIMIT_REACHED if the owner would have more than maxTags tags.
func UseTags(
	ctx context.Context, tx pgx.Tx, owner uuid.UUID, at time.Time, ts []Transaction,
) error {
	var names []string
	for i, t := range ts {
		names = append(names, t.TagNames...)
		if len(t.TagNames) == 0 {
			ts[i].Tags = []string{}
		}
	}
	if len(names) == 0 {
		return nil
	}
	slices.Sort(names)
	names = slices.Compact(names)
	used, err := selectUsedTags(ctx, tx, owner, names)
	if err != nil {
		return err
	}
	if slices.ContainsFunc(used, func(u usedTag) bool { return u.Name == "" }) {
		if err := addTags(ctx, tx, owner, at, firstWritten(ts)); err != nil {
			return err
		}
		if used, err = selectUsedTags(ctx, tx, owner, names); err != nil {
			return err
		}
	}
	byGiven := map[string]usedTag{}
	for _, u := range used {
		byGiven[u.Given] = u
	}
	for i, t := range ts {
		ts[i].setTags(byGiven, t.TagNames)
	}
	return nil
}

// TagKeys returns the keys of the tags with given names, whether the owner has them or not.
func TagKeys(
	ctx context.Context, q pg.Querier, owner uuid.UUID, names []string,
) (map[string]string, error) {
	used, err := selectUsedTags(ctx, q, owner, names)
	keys := map[string]string{}
	for _, u := range used {
		keys[u.Given] = u.Key
	}
	return keys, err
}

func (t *Transaction) setTags(used map[string]usedTag, given []string) {
	t.Tags, t.TagNames = []string{}, nil
	for _, name := range given {
		if u := used[name]; !slices.Contains(t.Tags, u.Key) {
			t.Tags, t.TagNames = append(t.Tags, u.Key), append(t.TagNames, u.Name)
		}
	}
}

// firstWritten returns the names of the tags of ts in the order in which the owner wrote them.
func firstWritten(ts []Transaction) []string {
	var names []string
	for _, t := range ts {
		names = append(names, t.TagNames...)
	}
	return names
}

// selectUsedTags returns the key of each name, and the name of the owner's tag with this key.
func selectUsedTags(
	ctx context.Context, q pg.Querier, owner uuid.UUID, names []string,
) ([]usedTag, error) {
	return pg.All[usedTag](ctx, q, `
		SELECT u.given, u.key, coalesce(t.name, '') AS name
		FROM (SELECT given, `+TagKeySQL("given")+` AS key FROM unnest($2::text[]) AS n (given)) AS u
		LEFT JOIN tags t ON t.owner_id = $1 AND t.key = u.key`, owner, names)
}

// addTags inserts the tags that an owner does not have. Of several names with one key, the first
// one is kept. A lock serializes the owner's new tags until tx ends, so that concurrent ones cannot
// exceed the limit. The count is a separate statement, so its snapshot includes the tags that the
// lock waited for.
func addTags(ctx context.Context, tx pgx.Tx, owner uuid.UUID, at time.Time, names []string) error {
	if err := pg.Lock(ctx, tx, "tags", owner); err != nil {
		return err
	}
	err := pg.Exec(ctx, tx, `
		INSERT INTO tags (owner_id, key, name, created_at)
		SELECT DISTINCT ON (key) $1::uuid, key, name, $3::timestamptz
		FROM (
			SELECT `+TagKeySQL("name")+` AS key, name, position
			FROM unnest($2::text[]) WITH ORDINALITY AS n (name, position)
		) AS u
		ORDER BY key, position
		ON CONFLICT (owner_id, key) DO NOTHING`, owner, names, at)
	if err != nil {
		return err
	}
	count, err := pg.Value[int](ctx, tx, `SELECT count(*) FROM tags WHERE owner_id = $1`, owner)
	if err != nil {
		return err
	}
	if count > maxTags {
		return errTagLimitReached
	}
	return nil
}

// addTagNames loads the names of the tags of ts. A key without a row is shown as it is.
func addTagNames(ctx context.Context, q pg.Querier, owner uuid.UUID, ts []Transaction) error {
	var keys []string
	for i := range ts {
		keys = append(keys, ts[i].Tags...)
	}
	if len(keys) == 0 {
		return nil
	}
	slices.Sort(keys)
	type row struct{ Key, Name string }
	rows, err := pg.All[row](ctx, q,
		`SELECT key, name FROM tags WHERE owner_id = $1 AND key = ANY($2)`,
		owner, slices.Compact(keys))
	if err != nil {
		return err
	}
	names := map[string]string{}
	for _, r := range rows {
		names[r.Key] = r.Name
	}
	for i, t := range ts {
		ts[i].TagNames = nil
		for _, key := range t.Tags {
			name, ok := names[key]
			if !ok {
				name = key
			}
			ts[i].TagNames = append(ts[i].TagNames, name)
		}
	}
	return nil
}
