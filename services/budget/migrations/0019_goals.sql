-- +goose Up
CREATE TABLE goals (
    owner_id     uuid        NOT NULL,
    id           uuid        NOT NULL,
    name         text        NOT NULL CONSTRAINT goals_name_length CHECK (char_length(name) BETWEEN 1 AND 100),
    currency     text        NOT NULL CONSTRAINT goals_currency_code CHECK (currency ~ '^[A-Z]{3}$'),
    -- In the currency's minor unit.
    target_minor bigint      NOT NULL CONSTRAINT goals_target_positive CHECK (target_minor > 0),
    target_date  date,
    -- Empty if the owner set none.
    icon         text        NOT NULL,
    note         text        NOT NULL CONSTRAINT goals_note_length CHECK (char_length(note) <= 1000),
    archived     boolean     NOT NULL,
    -- The time at which the target was saved for the first time.
    reached_at   timestamptz,
    version      bigint      NOT NULL DEFAULT 1,
    created_at   timestamptz NOT NULL,
    updated_at   timestamptz NOT NULL,
    CONSTRAINT goals_pkey PRIMARY KEY (owner_id, id)
);

CREATE TABLE assignments (
    owner_id     uuid        NOT NULL,
    goal_id      uuid        NOT NULL,
    id           uuid        NOT NULL,
    -- A wallet of the ledger. It may be deleted there, and the assignment stays.
    wallet_id    uuid        NOT NULL,
    -- In the minor unit of the goal's currency. Negative if money was taken back.
    amount_minor bigint      NOT NULL CONSTRAINT assignments_amount_not_zero CHECK (amount_minor <> 0),
    day          date        NOT NULL,
    created_at   timestamptz NOT NULL,
    CONSTRAINT assignments_pkey PRIMARY KEY (owner_id, goal_id, id),
    CONSTRAINT assignments_goal_fkey FOREIGN KEY (owner_id, goal_id) REFERENCES goals (owner_id, id) ON DELETE CASCADE
);
-- Finds the first day of a goal.
CREATE INDEX assignments_day ON assignments (owner_id, goal_id, day);

-- The sum of the assignments of each goal and wallet. Each write of an assignment changes it.
CREATE TABLE goal_wallets (
    owner_id       uuid   NOT NULL,
    goal_id        uuid   NOT NULL,
    wallet_id      uuid   NOT NULL,
    assigned_minor bigint NOT NULL CONSTRAINT goal_wallets_assigned_range CHECK (assigned_minor >= 0),
    CONSTRAINT goal_wallets_pkey PRIMARY KEY (owner_id, goal_id, wallet_id),
    CONSTRAINT goal_wallets_goal_fkey FOREIGN KEY (owner_id, goal_id) REFERENCES goals (owner_id, id) ON DELETE CASCADE
);
