-- +goose Up
-- Former limits of budgets, each with its last day in UTC. Of several changes on a day, the first one stores the limit of the day before,
-- so that a budget has at most one row per day. The present limit is in budgets.
CREATE TABLE budget_limits (
    budget_id   uuid   NOT NULL CONSTRAINT budget_limits_budget_id_fkey REFERENCES budgets (id) ON DELETE CASCADE,
    last_day    date   NOT NULL,
    limit_minor bigint NOT NULL,
    currency    text   NOT NULL,
    CONSTRAINT budget_limits_pkey PRIMARY KEY (budget_id, last_day)
);

-- A trigger, so that changes by the previous release are recorded too.
-- +goose StatementBegin
CREATE FUNCTION record_budget_limit() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO budget_limits (budget_id, last_day, limit_minor, currency)
    VALUES (OLD.id, (NEW.updated_at AT TIME ZONE 'UTC')::date - 1, OLD.limit_minor, OLD.currency)
    ON CONFLICT (budget_id, last_day) DO NOTHING;
    RETURN NULL;
END
$$;
-- +goose StatementEnd
-- A limit of the day of the creation has no former day.
CREATE TRIGGER budgets_limit AFTER UPDATE OF limit_minor, currency ON budgets
    FOR EACH ROW WHEN ((OLD.limit_minor, OLD.currency) IS DISTINCT FROM (NEW.limit_minor, NEW.currency)
        AND (NEW.updated_at AT TIME ZONE 'UTC')::date > (OLD.created_at AT TIME ZONE 'UTC')::date)
    EXECUTE FUNCTION record_budget_limit();
