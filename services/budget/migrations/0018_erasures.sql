-- +goose Up
-- Users whose rows are being erased, because their accounts are deleted. The last transaction of an erasure deletes its row.
CREATE TABLE erasures (
    deletion_id  uuid        NOT NULL CONSTRAINT erasures_pkey PRIMARY KEY,
    user_id      uuid        NOT NULL,
    email        text        NOT NULL,
    seq          bigint      GENERATED ALWAYS AS IDENTITY,
    -- A replica erases until then.
    leased_until timestamptz NOT NULL DEFAULT '-infinity'
);
