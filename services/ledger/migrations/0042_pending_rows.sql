-- +goose Up
-- The statuses of payments in files. The previous release stages pending and void rows like booked ones.
ALTER TABLE import_rows
    -- '', pending or void.
    ADD COLUMN file_status text NOT NULL DEFAULT '',
    -- What the matched transaction of a pending payment had before this row replaced it.
    ADD COLUMN replaced jsonb,
    DROP CONSTRAINT import_rows_status,
    -- Not validated: all rows have the statuses of the former constraint, and a scan would hold up imports.
    ADD CONSTRAINT import_rows_status
        CHECK (status IN ('hidden', 'ready', 'duplicate', 'matched', 'pending', 'invalid', 'skipped', 'booked', 'undone')) NOT VALID;
ALTER TABLE imports ADD COLUMN pending integer NOT NULL DEFAULT 0;
