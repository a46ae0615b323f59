-- +goose Up
-- Categories that budgets use. The budget service reserves them before it writes a budget, and records them afterwards.
CREATE TABLE budget_references (
    owner_id    uuid        NOT NULL,
    budget_id   uuid        NOT NULL,
    -- The attempt to write the budget that reserved the category; the nil UUID: the budget has the category.
    reservation uuid        NOT NULL,
    -- The category id that the budget holds. A merge changes category_id alone, until the budget holds the new id.
    held_id     uuid        NOT NULL,
    category_id uuid        NOT NULL,
    -- infinity unless it is a reservation.
    expires_at  timestamptz NOT NULL,
    CONSTRAINT budget_references_pkey PRIMARY KEY (owner_id, budget_id, reservation, held_id),
    -- The name is the one of the constraint on transactions: the previous release answers CATEGORY_IN_USE to its violation.
    CONSTRAINT transactions_category_fkey FOREIGN KEY (owner_id, category_id) REFERENCES categories
);
CREATE INDEX budget_references_category ON budget_references (owner_id, category_id);
CREATE INDEX budget_references_expires_at ON budget_references (expires_at) WHERE expires_at < 'infinity';

-- The version of each budget whose categories are recorded, so that a delayed request cannot undo a later one.
CREATE TABLE referencing_budgets (
    owner_id   uuid        NOT NULL,
    budget_id  uuid        NOT NULL,
    version    bigint      NOT NULL,
    -- When a deleted budget can be forgotten; infinity for the others.
    expires_at timestamptz NOT NULL,
    CONSTRAINT referencing_budgets_pkey PRIMARY KEY (owner_id, budget_id)
);
CREATE INDEX referencing_budgets_expires_at ON referencing_budgets (expires_at) WHERE expires_at < 'infinity';
