-- +goose Up
-- The constraints are not validated, because the default of each new column fulfills them and a validation would block writes
-- while it reads the table.
ALTER TABLE transactions
    ADD COLUMN payee            text     NOT NULL DEFAULT '',
    ADD COLUMN notes            text     NOT NULL DEFAULT '',
    -- The keys of the tags: their names in lower case.
    ADD COLUMN tags             text[]   NOT NULL DEFAULT '{}',
    -- Both legs of a transfer have its id, and no category.
    ADD COLUMN transfer_id      uuid,
    -- The number of rows in splits. A transaction with splits has no category.
    ADD COLUMN split_count      smallint NOT NULL DEFAULT 0,
    -- The client's or the bank's id, unique in the wallet.
    ADD COLUMN external_id      text,
    ADD COLUMN import_id        uuid,
    ADD COLUMN attachment_count smallint NOT NULL DEFAULT 0,
    -- The place among the writes of the owner, for synchronization. 0 is a row that has not been written since this migration.
    ADD COLUMN seq              bigint   NOT NULL DEFAULT 0,
    ADD CONSTRAINT transactions_payee_length CHECK (char_length(payee) <= 200) NOT VALID,
    ADD CONSTRAINT transactions_notes_length CHECK (char_length(notes) <= 4000) NOT VALID,
    ADD CONSTRAINT transactions_tag_count CHECK (cardinality(tags) <= 20) NOT VALID,
    ADD CONSTRAINT transactions_external_id_length CHECK (char_length(external_id) BETWEEN 1 AND 255) NOT VALID;

-- The parts of split transactions. wallet_id, currency and date repeat the transaction's, so that sums read parts alone.
CREATE TABLE splits (
    owner_id       uuid        NOT NULL,
    transaction_id uuid        NOT NULL,
    -- From 0, in the order of the request.
    position       smallint    NOT NULL,
    category_id    uuid        NOT NULL,
    wallet_id      uuid        NOT NULL,
    currency       text        NOT NULL,
    date           timestamptz NOT NULL,
    -- In minor units with the sign of an expense or an income. A refund within an expense is positive.
    amount_minor   bigint      NOT NULL CONSTRAINT splits_amount_not_zero CHECK (amount_minor <> 0),
    description    text        NOT NULL CONSTRAINT splits_description_length CHECK (char_length(description) <= 1000),
    CONSTRAINT splits_pkey PRIMARY KEY (owner_id, transaction_id, position),
    CONSTRAINT splits_transaction_fkey FOREIGN KEY (transaction_id, owner_id) REFERENCES transactions ON DELETE CASCADE,
    -- The name is the one of the constraint on transactions: the previous release answers CATEGORY_IN_USE to its violation.
    CONSTRAINT transactions_category_fkey FOREIGN KEY (owner_id, category_id) REFERENCES categories
);
CREATE INDEX splits_category_date ON splits (owner_id, category_id, date, transaction_id);
CREATE INDEX splits_date ON splits (owner_id, date, transaction_id);

-- What transfers moved into and out of a wallet per calendar month (UTC). monthly_totals excludes transfers.
CREATE TABLE monthly_transfers (
    owner_id       uuid   NOT NULL,
    month          date   NOT NULL,
    wallet_id      uuid   NOT NULL,
    currency       text   NOT NULL,
    -- Not negative, although the part of a change that is added to them may be; minor units.
    in_minor       bigint NOT NULL,
    out_minor      bigint NOT NULL,
    -- The number of legs.
    transfer_count bigint NOT NULL,
    CONSTRAINT monthly_transfers_pkey PRIMARY KEY (owner_id, month, wallet_id, currency),
    CONSTRAINT monthly_transfers_amount_range CHECK (
        in_minor BETWEEN -1000000000000000000 AND 1000000000000000000
        AND out_minor BETWEEN -1000000000000000000 AND 1000000000000000000)
) WITH (fillfactor = 70);
