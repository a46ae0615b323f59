-- +goose Up
-- The table is small. The previous release rejects changes, commits and undos of an import that is updating, and runs no job of it.
ALTER TABLE imports
    DROP CONSTRAINT imports_status,
    -- updating: a job derives the rows again after a change.
    ADD CONSTRAINT imports_status
        CHECK (status IN ('uploading', 'preview', 'updating', 'queued', 'running', 'done', 'failed', 'undoing', 'undone', 'deleting')),
    -- The import before the change, as long as it is updating.
    ADD COLUMN change jsonb,
    -- Identifies the derivation of the rows by a job, and the number of the last row that it has derived.
    ADD COLUMN derivation uuid,
    ADD COLUMN derived integer NOT NULL DEFAULT 0,
    -- The rows of an undone import were deleted.
    ADD COLUMN emptied boolean NOT NULL DEFAULT false;
DROP INDEX imports_jobs;
CREATE INDEX imports_jobs ON imports (updated_at) WHERE status IN ('queued', 'running', 'undoing', 'deleting', 'updating');
CREATE INDEX imports_undone ON imports (updated_at) WHERE status = 'undone' AND NOT emptied;
