-- +goose Up
-- Owners whose rows are being erased, because their accounts are deleted. The last transaction of an erasure deletes its row.
CREATE TABLE erasures (
    owner_id     uuid        NOT NULL,
    deletion_id  uuid        NOT NULL,
    -- A replica erases until then.
    leased_until timestamptz NOT NULL DEFAULT '-infinity',
    CONSTRAINT erasures_pkey PRIMARY KEY (owner_id, deletion_id)
);
