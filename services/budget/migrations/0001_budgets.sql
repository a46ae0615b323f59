-- +goose Up
CREATE TABLE budgets (
    id           uuid        NOT NULL CONSTRAINT budgets_pkey PRIMARY KEY,
    owner_id     uuid        NOT NULL,
    name         text        NOT NULL CONSTRAINT budgets_name_length CHECK (char_length(name) BETWEEN 1 AND 100),
    currency     text        NOT NULL CONSTRAINT budgets_currency_code CHECK (currency ~ '^[A-Z]{3}$'),
    -- In the currency's minor unit.
    limit_minor  bigint      NOT NULL CONSTRAINT budgets_limit_positive CHECK (limit_minor > 0),
    period       text        NOT NULL CONSTRAINT budgets_period_known CHECK (period IN
        ('daily', 'weekly', 'biweekly', 'monthly', 'quarterly', 'half_yearly', 'yearly', 'custom')),
    start_date   date        NOT NULL,
    -- Inclusive.
    end_date     date,
    -- A wallet of the ledger. It may be deleted there, and the budget stays.
    wallet_id    uuid        NOT NULL,
    category_ids uuid[]      NOT NULL CONSTRAINT budgets_category_count CHECK (cardinality(category_ids) BETWEEN 1 AND 100),
    version      bigint      NOT NULL DEFAULT 1,
    created_at   timestamptz NOT NULL,
    updated_at   timestamptz NOT NULL,
    CONSTRAINT budgets_end_after_start CHECK (end_date >= start_date),
    CONSTRAINT budgets_custom_ends CHECK (period <> 'custom' OR end_date IS NOT NULL)
);
-- The duplicate rule of the contract. The collation maps upper to lower case regardless of the database's own collation.
CREATE UNIQUE INDEX budgets_owner_name_wallet_period_start_key
    ON budgets (owner_id, lower(name COLLATE "und-x-icu"), wallet_id, period, start_date);
-- Lists the budgets of a user, newest first.
CREATE INDEX budgets_owner_id ON budgets (owner_id, id);

CREATE TABLE members (
    budget_id    uuid        NOT NULL CONSTRAINT members_budget_fkey REFERENCES budgets (id) ON DELETE CASCADE,
    user_id      uuid        NOT NULL,
    role         text        NOT NULL CONSTRAINT members_role_known CHECK (role IN ('viewer', 'editor')),
    -- Hundredths of a percent.
    share_bp     integer     CONSTRAINT members_share_range CHECK (share_bp BETWEEN 1 AND 10000),
    status       text        NOT NULL CONSTRAINT members_status_known CHECK (status IN ('pending', 'accepted', 'rejected')),
    invited_at   timestamptz NOT NULL,
    responded_at timestamptz,
    CONSTRAINT members_pkey PRIMARY KEY (budget_id, user_id),
    CONSTRAINT members_answered_at CHECK ((status = 'pending') = (responded_at IS NULL))
);
-- Lists the budgets to which a user was invited.
CREATE INDEX members_user ON members (user_id, budget_id);
-- Lists the members of a budget, newest first.
CREATE INDEX members_budget_invited ON members (budget_id, invited_at, user_id);
-- Lists the pending invitations of a user, newest first.
CREATE INDEX members_pending ON members (user_id, invited_at, budget_id) WHERE status = 'pending';

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
