-- +goose Up
-- The table is small. The previous release ignores both columns: it begins with the first row again.
ALTER TABLE imports
    -- The number of steps after the last row that a derivation has done: rows derived once more because of transfers, and
    -- pairs of rows. It is only valid of the derivation that amended_by names.
    ADD COLUMN amended integer NOT NULL DEFAULT 0,
    ADD COLUMN amended_by uuid;
-- A constant default does not write the rows. The previous release stages pending payments without a day without one.
ALTER TABLE import_rows ADD COLUMN date_assumed boolean NOT NULL DEFAULT false;
