-- +goose Up
-- The tags that an owner's transactions have or had. transactions.tags holds their keys.
CREATE TABLE tags (
    owner_id   uuid        NOT NULL,
    -- The name in lower case (ICU).
    key        text        NOT NULL,
    -- The name as the owner first wrote it.
    name       text        NOT NULL CONSTRAINT tags_name_length CHECK (char_length(name) BETWEEN 1 AND 50),
    -- Empty, or #RRGGBB.
    color      text        NOT NULL DEFAULT '',
    -- The place among the writes of the owner, for synchronization.
    seq        bigint      NOT NULL DEFAULT -1,
    created_at timestamptz NOT NULL,
    CONSTRAINT tags_pkey PRIMARY KEY (owner_id, key)
);

CREATE TRIGGER tags_number_new BEFORE INSERT ON tags
    FOR EACH ROW WHEN (NEW.seq < 0) EXECUTE FUNCTION number_row();
CREATE TRIGGER tags_number_changed BEFORE UPDATE ON tags
    FOR EACH ROW WHEN (NEW.seq = OLD.seq) EXECUTE FUNCTION number_row();
CREATE TRIGGER tags_bury AFTER DELETE ON tags
    REFERENCING OLD TABLE AS deleted FOR EACH STATEMENT EXECUTE FUNCTION bury_rows('tag', 'name');
