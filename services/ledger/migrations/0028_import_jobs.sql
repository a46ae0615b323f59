-- +goose Up
-- The table is small, and the previous release does not use it.
ALTER TABLE imports
    -- The number of leases since the job last made progress. The job fails beyond a maximum.
    ADD COLUMN attempts integer NOT NULL DEFAULT 0,
    DROP CONSTRAINT imports_status,
    -- deleting: a job deletes the import and its rows, and its transactions lose their import id. Requests do not see the import.
    ADD CONSTRAINT imports_status
        CHECK (status IN ('uploading', 'preview', 'queued', 'running', 'done', 'failed', 'undoing', 'undone', 'deleting'));
DROP INDEX imports_jobs;
CREATE INDEX imports_jobs ON imports (updated_at) WHERE status IN ('queued', 'running', 'undoing', 'deleting');
