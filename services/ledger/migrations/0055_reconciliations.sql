-- +goose Up
-- The statements of banks with which wallets agreed.
CREATE TABLE reconciliations (
    owner_id      uuid        NOT NULL,
    id            uuid        NOT NULL,
    wallet_id     uuid        NOT NULL,
    currency      text        NOT NULL,
    -- The last day of the statement, and the balance at its end, in minor units.
    date          date        NOT NULL,
    balance_minor bigint      NOT NULL,
    -- The number of transactions that it has locked.
    locked        integer     NOT NULL,
    -- A locked transaction was changed or deleted since.
    differs       boolean     NOT NULL DEFAULT false,
    created_at    timestamptz NOT NULL,
    CONSTRAINT reconciliations_pkey PRIMARY KEY (owner_id, id),
    CONSTRAINT reconciliations_wallet_fkey FOREIGN KEY (owner_id, wallet_id) REFERENCES wallets ON DELETE CASCADE
);
CREATE INDEX reconciliations_wallet ON reconciliations (owner_id, wallet_id, id);

-- The reconciliation that locks the transaction. There is no foreign key: the deletion of a reconciliation unlocks its transactions, and a
-- key would need an index. The constraint is not validated, because no row is locked yet.
ALTER TABLE transactions
    ADD COLUMN reconciliation_id uuid,
    ADD CONSTRAINT transactions_reconciled CHECK (reconciliation_id IS NULL OR cleared) NOT VALID;
