-- +goose Up
-- In the order of the question, so that five rows are read and not a month.
DROP INDEX transactions_month_expense;
CREATE INDEX transactions_month_expense
	ON transactions (owner_id, date_trunc('month', date AT TIME ZONE 'UTC'), currency, amount_minor, date DESC, id DESC)
	WHERE amount_minor < 0;
