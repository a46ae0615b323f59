-- +goose Up
-- A part counts with the type of its transaction (ADR 103). income_minor and expense_minor still add up transactions and parts by their
-- signs, and transaction_count counts both: replicas of the previous release write and read them so. The new columns correct them.
ALTER TABLE monthly_totals
    -- The absolute amounts of the parts whose sign is the opposite of their transaction's. Income and expense are lower by it.
    ADD COLUMN refund_minor  bigint NOT NULL DEFAULT 0,
    -- The number of parts that are not the first of their transaction. The number of transactions is lower by it.
    ADD COLUMN further_parts bigint NOT NULL DEFAULT 0;

-- Adds to the corrections of a total: owner, month, wallet, category, currency, refund_minor, further_parts.
-- +goose StatementBegin
CREATE FUNCTION correct_total(uuid, date, uuid, uuid, text, numeric, bigint) RETURNS void LANGUAGE sql AS $$
	INSERT INTO monthly_totals AS m (owner_id, month, wallet_id, category_id, currency,
		income_minor, expense_minor, transaction_count, refund_minor, further_parts)
	VALUES ($1, $2, $3, $4, $5, 0, 0, 0, $6::bigint, $7)
	ON CONFLICT (owner_id, month, wallet_id, category_id, currency) DO UPDATE
	SET refund_minor = m.refund_minor + EXCLUDED.refund_minor, further_parts = m.further_parts + EXCLUDED.further_parts
$$;
-- +goose StatementEnd

-- Corrects the totals after the parts of a transaction were inserted. It runs for the first part only, and at the end of the statement,
-- so it reads the other parts too. Transactions without parts never run it.
-- +goose StatementBegin
CREATE FUNCTION correct_inserted_parts() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	PERFORM correct_total(owner_id, month, wallet_id, category_id, currency, refund, further)
	FROM (
		SELECT owner_id, date_trunc('month', date AT TIME ZONE 'UTC')::date AS month, wallet_id, category_id, currency,
			coalesce(sum(abs(amount_minor)) FILTER (WHERE sign(amount_minor) <> sign(whole)), 0) AS refund,
			count(*) FILTER (WHERE position > 0) AS further
		FROM (
			SELECT *, sum(amount_minor) OVER () AS whole
			FROM splits
			WHERE owner_id = NEW.owner_id AND transaction_id = NEW.transaction_id
		) AS p
		GROUP BY 1, 2, 3, 4, 5
		ORDER BY 1, 2, 3, 4, 5
	) AS c
	WHERE refund <> 0 OR further <> 0;
	RETURN NULL;
END
$$;
-- +goose StatementEnd

-- Corrects the totals after the parts of a transaction were deleted. The transaction may be deleted, too, so the parts themselves
-- say which type it had.
-- +goose StatementBegin
CREATE FUNCTION correct_deleted_parts() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	PERFORM correct_total(owner_id, month, wallet_id, category_id, currency, -refund, -further)
	FROM (
		SELECT owner_id, date_trunc('month', date AT TIME ZONE 'UTC')::date AS month, wallet_id, category_id, currency,
			coalesce(sum(abs(amount_minor)) FILTER (WHERE sign(amount_minor) <> sign(whole)), 0) AS refund,
			count(*) FILTER (WHERE position > 0) AS further
		FROM (
			SELECT *, sum(amount_minor) OVER () AS whole
			FROM deleted
			WHERE owner_id = OLD.owner_id AND transaction_id = OLD.transaction_id
		) AS p
		GROUP BY 1, 2, 3, 4, 5
		ORDER BY 1, 2, 3, 4, 5
	) AS c
	WHERE refund <> 0 OR further <> 0;
	RETURN NULL;
END
$$;
-- +goose StatementEnd

-- Corrects the totals after parts were changed: a merge of categories changes some parts of many transactions.
-- +goose StatementBegin
CREATE FUNCTION correct_changed_parts() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	PERFORM correct_total(owner_id, month, wallet_id, category_id, currency, refund, further)
	FROM (
		SELECT p.owner_id, date_trunc('month', p.date AT TIME ZONE 'UTC')::date AS month, p.wallet_id, p.category_id, p.currency,
			coalesce(sum(p.effect * abs(p.amount_minor)) FILTER (WHERE sign(p.amount_minor) <> sign(t.amount_minor)), 0) AS refund,
			coalesce(sum(p.effect) FILTER (WHERE p.position > 0), 0) AS further
		FROM (SELECT *, -1 AS effect FROM former UNION ALL SELECT *, 1 FROM changed) AS p
		JOIN transactions t ON t.id = p.transaction_id AND t.owner_id = p.owner_id
		GROUP BY 1, 2, 3, 4, 5
		ORDER BY 1, 2, 3, 4, 5
	) AS c
	WHERE refund <> 0 OR further <> 0;
	RETURN NULL;
END
$$;
-- +goose StatementEnd

CREATE TRIGGER splits_correct_inserted AFTER INSERT ON splits
	FOR EACH ROW WHEN (NEW.position = 0) EXECUTE FUNCTION correct_inserted_parts();
CREATE TRIGGER splits_correct_deleted AFTER DELETE ON splits
	REFERENCING OLD TABLE AS deleted FOR EACH ROW WHEN (OLD.position = 0) EXECUTE FUNCTION correct_deleted_parts();
CREATE TRIGGER splits_correct_changed AFTER UPDATE ON splits
	REFERENCING OLD TABLE AS former NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION correct_changed_parts();
