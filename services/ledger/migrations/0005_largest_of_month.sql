-- +goose Up
-- The largest expenses of a window are among those of its months.
CREATE INDEX transactions_month_expense
	ON transactions (owner_id, date_trunc('month', date AT TIME ZONE 'UTC'), currency, amount_minor) WHERE amount_minor < 0;
