-- +goose Up
-- Every key starts with the owner, so that the tables can be partitioned or sharded by it.
CREATE TABLE wallets (
    owner_id      uuid        NOT NULL,
    id            uuid        NOT NULL,
    name          text        NOT NULL CONSTRAINT wallets_name_length CHECK (char_length(name) BETWEEN 1 AND 100),
    currency      text        NOT NULL CONSTRAINT wallets_currency_code CHECK (currency ~ '^[A-Z]{3}$'),
    -- The opening balance, in the currency's minor unit.
    initial_minor bigint      NOT NULL,
    archived      boolean     NOT NULL DEFAULT false,
    -- Of what the owner set; the balance has no version.
    version       bigint      NOT NULL DEFAULT 1,
    created_at    timestamptz NOT NULL,
    updated_at    timestamptz NOT NULL,
    CONSTRAINT wallets_pkey PRIMARY KEY (owner_id, id)
);

-- What a wallet holds, a row per currency: its own from the start, others with their first transaction.
CREATE TABLE wallet_balances (
    owner_id     uuid   NOT NULL,
    wallet_id    uuid   NOT NULL,
    currency     text   NOT NULL,
    -- The bound leaves room in a bigint for any single amount to be added before it is checked.
    amount_minor bigint NOT NULL
        CONSTRAINT wallet_balances_amount_range CHECK (amount_minor BETWEEN -100000000000000000 AND 100000000000000000),
    CONSTRAINT wallet_balances_pkey PRIMARY KEY (owner_id, wallet_id, currency),
    CONSTRAINT wallet_balances_wallet_fkey FOREIGN KEY (owner_id, wallet_id) REFERENCES wallets ON DELETE CASCADE
) WITH (fillfactor = 70);

CREATE TABLE categories (
    owner_id   uuid        NOT NULL,
    id         uuid        NOT NULL,
    name       text        NOT NULL CONSTRAINT categories_name_length CHECK (char_length(name) BETWEEN 1 AND 100),
    version    bigint      NOT NULL DEFAULT 1,
    created_at timestamptz NOT NULL,
    updated_at timestamptz NOT NULL,
    CONSTRAINT categories_pkey PRIMARY KEY (owner_id, id)
);
-- The collation knows upper and lower case whatever the database's own.
CREATE UNIQUE INDEX categories_owner_name_key ON categories (owner_id, lower(name COLLATE "und-x-icu"));

CREATE TABLE receipts (
    owner_id    uuid        NOT NULL,
    id          uuid        NOT NULL,
    file_sha256 bytea       NOT NULL,
    -- The coffer.ocr.v1.Receipt that was answered.
    content     bytea       NOT NULL,
    created_at  timestamptz NOT NULL,
    CONSTRAINT receipts_pkey PRIMARY KEY (owner_id, id)
);
-- Whether the same file was uploaded before.
CREATE INDEX receipts_owner_file ON receipts (owner_id, file_sha256, id);

CREATE TABLE transactions (
    id           uuid        NOT NULL,
    owner_id     uuid        NOT NULL,
    wallet_id    uuid        NOT NULL,
    category_id  uuid        NOT NULL,
    receipt_id   uuid,
    currency     text        NOT NULL CONSTRAINT transactions_currency_code CHECK (currency ~ '^[A-Z]{3}$'),
    -- In the currency's minor unit; negative for an expense.
    amount_minor bigint      NOT NULL CONSTRAINT transactions_amount_not_zero CHECK (amount_minor <> 0),
    -- In ten-thousandths of the major unit, so that amounts of different currencies can be sorted and bounded.
    amount_e4    bigint      NOT NULL,
    description  text        NOT NULL CONSTRAINT transactions_description_length CHECK (char_length(description) <= 1000),
    date         timestamptz NOT NULL,
    version      bigint      NOT NULL DEFAULT 1,
    created_at   timestamptz NOT NULL,
    updated_at   timestamptz NOT NULL,
    -- The id comes first: another owner's transaction must be told from one that does not exist.
    CONSTRAINT transactions_pkey PRIMARY KEY (id, owner_id),
    CONSTRAINT transactions_wallet_fkey FOREIGN KEY (owner_id, wallet_id) REFERENCES wallets,
    CONSTRAINT transactions_category_fkey FOREIGN KEY (owner_id, category_id) REFERENCES categories,
    CONSTRAINT transactions_receipt_fkey FOREIGN KEY (owner_id, receipt_id) REFERENCES receipts
);
CREATE INDEX transactions_owner_date ON transactions (owner_id, date, id);
CREATE INDEX transactions_owner_amount ON transactions (owner_id, amount_e4, id);
CREATE INDEX transactions_wallet_date ON transactions (owner_id, wallet_id, date, id);
CREATE INDEX transactions_category_date ON transactions (owner_id, category_id, date, id);

-- What came and went per calendar month (UTC): dashboards and budgets add these up instead of transactions.
CREATE TABLE monthly_totals (
    owner_id          uuid   NOT NULL,
    month             date   NOT NULL,
    wallet_id         uuid   NOT NULL,
    category_id       uuid   NOT NULL,
    currency          text   NOT NULL,
    -- Not negative, though the part of a change that is added to them may be; minor units.
    income_minor      bigint NOT NULL,
    expense_minor     bigint NOT NULL,
    transaction_count bigint NOT NULL,
    CONSTRAINT monthly_totals_pkey PRIMARY KEY (owner_id, month, wallet_id, category_id, currency),
    CONSTRAINT monthly_totals_amount_range CHECK (
        income_minor BETWEEN -1000000000000000000 AND 1000000000000000000
        AND expense_minor BETWEEN -1000000000000000000 AND 1000000000000000000)
) WITH (fillfactor = 70);

CREATE TABLE idempotency_keys (
    scope       text        NOT NULL,
    key_hash    bytea       NOT NULL,
    request_mac bytea       NOT NULL,
    response    bytea,
    created_at  timestamptz NOT NULL DEFAULT now(),
    CONSTRAINT idempotency_keys_pkey PRIMARY KEY (scope, key_hash)
);
CREATE INDEX idempotency_keys_created_at ON idempotency_keys (created_at);

CREATE TABLE outbox (
    seq        bigint      GENERATED ALWAYS AS IDENTITY CONSTRAINT outbox_pkey PRIMARY KEY,
    id         uuid        NOT NULL,
    user_id    uuid        NOT NULL,
    subject    text        NOT NULL,
    data       bytea       NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now()
);
