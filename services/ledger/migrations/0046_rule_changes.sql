-- +goose Up
-- The table is small. The previous release runs no undo, and records no changes of its chunks.
ALTER TABLE rule_jobs
    DROP CONSTRAINT rule_jobs_status,
    -- undoing: a job takes the changes of the latest application back.
    ADD CONSTRAINT rule_jobs_status CHECK (status IN ('queued', 'running', 'done', 'failed', 'undoing', 'undone')),
    -- The time of the latest application, which identifies its changes.
    ADD COLUMN applied_at timestamptz,
    -- Numbers of transactions: changed by the application, restored and kept by its undo.
    ADD COLUMN changed bigint NOT NULL DEFAULT 0,
    ADD COLUMN restored bigint NOT NULL DEFAULT 0,
    ADD COLUMN kept bigint NOT NULL DEFAULT 0,
    -- The values that the application writes. A tag is its key: it follows a new name, and is null after a merge or a deletion of the tag.
    ADD COLUMN wrote_category uuid,
    ADD COLUMN wrote_payee text,
    ADD COLUMN wrote_description text,
    ADD COLUMN wrote_notes text,
    ADD COLUMN wrote_tag text;
DROP INDEX rule_jobs_waiting;
CREATE INDEX rule_jobs_waiting ON rule_jobs (queued_at) WHERE status IN ('queued', 'running', 'undoing');

-- The values of transactions before an application changed them. A field that it did not change is null. There are no foreign keys: an
-- undo ignores deleted transactions and categories, and a sweep deletes the rows after 30 days.
CREATE TABLE rule_changes (
    owner_id       uuid        NOT NULL,
    rule_id        uuid        NOT NULL,
    transaction_id uuid        NOT NULL,
    applied_at     timestamptz NOT NULL,
    category_id    uuid,
    payee          text,
    description    text,
    notes          text,
    -- The application added its tag.
    tagged         boolean     NOT NULL,
    CONSTRAINT rule_changes_pkey PRIMARY KEY (owner_id, rule_id, transaction_id)
);
-- For an undo, and for the sweep.
CREATE INDEX rule_changes_applied_at ON rule_changes (applied_at, owner_id, rule_id, transaction_id);
