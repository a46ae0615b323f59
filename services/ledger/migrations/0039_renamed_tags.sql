-- +goose Up
-- Earlier releases deleted and inserted the row of a tag whose new name differs only in case. Devices may have received the tombstone
-- after the tag, and have the previous name in the tagged transactions. Rows without a number are numbered and sent again (ADR 83).
UPDATE transactions t
SET seq = -1, version = t.version + 1, updated_at = now()
FROM (
    SELECT owner_id, array_agg(key) AS keys
    FROM tags
    WHERE EXISTS (SELECT FROM tombstones d WHERE d.owner_id = tags.owner_id AND d.kind = 'tag' AND d.id = tags.key AND d.seq >= tags.seq)
    GROUP BY owner_id
) AS lost
WHERE t.owner_id = lost.owner_id AND t.tags <> '{}' AND t.tags && lost.keys;
UPDATE tags
SET seq = -1
WHERE EXISTS (SELECT FROM tombstones d WHERE d.owner_id = tags.owner_id AND d.kind = 'tag' AND d.id = tags.key AND d.seq >= tags.seq);
