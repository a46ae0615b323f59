-- +goose Up
-- The category that a merged category ended up in, so that a budget written with the old id can follow.
CREATE TABLE merged_categories (
    owner_id    uuid NOT NULL,
    id          uuid NOT NULL,
    category_id uuid NOT NULL,
    CONSTRAINT merged_categories_pkey PRIMARY KEY (owner_id, id),
    CONSTRAINT merged_categories_category_fkey FOREIGN KEY (owner_id, category_id) REFERENCES categories ON DELETE CASCADE
);
CREATE INDEX merged_categories_category ON merged_categories (owner_id, category_id);
