-- +goose Up
-- The wallets and categories that commits of imports have created and undos have not deleted. The previous release does not use the table.
CREATE TABLE import_creations (
    owner_id  uuid NOT NULL,
    import_id uuid NOT NULL,
    id        uuid NOT NULL,
    kind      text NOT NULL CONSTRAINT import_creations_kind CHECK (kind IN ('wallet', 'category')),
    CONSTRAINT import_creations_pkey PRIMARY KEY (owner_id, import_id, id),
    CONSTRAINT import_creations_import_fkey FOREIGN KEY (owner_id, import_id) REFERENCES imports ON DELETE CASCADE
);
-- The previous release marks them in the details.
INSERT INTO import_creations (owner_id, import_id, id, kind)
SELECT i.owner_id, i.id, (a ->> 'walletId')::uuid, 'wallet'
FROM imports i, jsonb_array_elements(i.details -> 'accounts') AS a
WHERE (a ->> 'create')::boolean AND a ->> 'walletId' <> ''
UNION
SELECT i.owner_id, i.id, (c ->> 'categoryId')::uuid, 'category'
FROM imports i, jsonb_array_elements(i.details -> 'categories') AS c
WHERE (c ->> 'create')::boolean AND c ->> 'categoryId' <> '';
-- Set if a commit has created wallets or categories and its rows have not been derived with them.
ALTER TABLE imports ADD COLUMN underived boolean NOT NULL DEFAULT false;
