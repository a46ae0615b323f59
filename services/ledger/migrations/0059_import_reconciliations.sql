-- +goose Up
-- The reconciliations in exports of Coffer, in the order of the file. The previous release stages none, and its commits restore none.
CREATE TABLE import_reconciliations (
    owner_id          uuid      NOT NULL,
    import_id         uuid      NOT NULL,
    n                 integer   NOT NULL,
    -- The account of the file whose wallet it belongs to.
    account           text      NOT NULL,
    currency          text      NOT NULL,
    date              date      NOT NULL,
    balance_minor     bigint    NOT NULL,
    locked            integer   NOT NULL,
    differs           boolean   NOT NULL,
    -- The numbers of the rows whose transactions it locks.
    row_numbers       integer[] NOT NULL,
    -- The reconciliation that the commit has created and no undo has deleted, or NULL.
    reconciliation_id uuid,
    CONSTRAINT import_reconciliations_pkey PRIMARY KEY (owner_id, import_id, n),
    CONSTRAINT import_reconciliations_import_fkey FOREIGN KEY (owner_id, import_id) REFERENCES imports ON DELETE CASCADE
);
