-- +goose Up
-- Budgets whose categories the ledger has to record. Rows of deleted budgets are among them.
CREATE TABLE reference_syncs (
    budget_id    uuid        NOT NULL CONSTRAINT reference_syncs_pkey PRIMARY KEY,
    owner_id     uuid        NOT NULL,
    -- Reservations at the ledger whose attempt to write the budget has ended.
    reservations uuid[]      NOT NULL DEFAULT '{}',
    -- Grows with each change, so that a change during a sync is not lost.
    seq          bigint      GENERATED ALWAYS AS IDENTITY,
    leased_until timestamptz NOT NULL DEFAULT '-infinity'
);

-- A trigger, so that budgets written by the previous release are recorded too.
-- +goose StatementBegin
CREATE FUNCTION queue_reference_sync() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO reference_syncs (budget_id, owner_id)
    VALUES (coalesce(NEW.id, OLD.id), coalesce(NEW.owner_id, OLD.owner_id))
    ON CONFLICT (budget_id) DO UPDATE SET seq = DEFAULT, leased_until = '-infinity';
    RETURN NULL;
END
$$;
-- +goose StatementEnd
CREATE TRIGGER budgets_reference_sync AFTER INSERT OR DELETE ON budgets
    FOR EACH ROW EXECUTE FUNCTION queue_reference_sync();
CREATE TRIGGER budgets_category_sync AFTER UPDATE OF category_ids ON budgets
    FOR EACH ROW WHEN (OLD.category_ids IS DISTINCT FROM NEW.category_ids) EXECUTE FUNCTION queue_reference_sync();

-- Queue the existing budgets.
INSERT INTO reference_syncs (budget_id, owner_id) SELECT id, owner_id FROM budgets;
