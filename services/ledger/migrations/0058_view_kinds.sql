-- +goose Up
-- The previous release has views of lists and reports only, and lists those of other kinds. All rows fulfill the constraint.
ALTER TABLE views
    DROP CONSTRAINT views_kind,
    ADD CONSTRAINT views_kind CHECK (kind IN ('transactions', 'report', 'comparison', 'balances', 'calendar'));
