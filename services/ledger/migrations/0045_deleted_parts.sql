-- +goose Up
-- A trigger for each row with a transition table is not allowed on a partitioned table, so the correction for deleted parts (migration
-- 0035) runs once for each statement.
-- +goose StatementBegin
CREATE FUNCTION correct_all_deleted_parts() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	PERFORM correct_total(owner_id, month, wallet_id, category_id, currency, -refund, -further)
	FROM (
		SELECT owner_id, date_trunc('month', date AT TIME ZONE 'UTC')::date AS month, wallet_id, category_id, currency,
			coalesce(sum(abs(amount_minor)) FILTER (WHERE sign(amount_minor) <> sign(whole)), 0) AS refund,
			count(*) FILTER (WHERE position > 0) AS further
		FROM (
			SELECT *, sum(amount_minor) OVER (PARTITION BY owner_id, transaction_id) AS whole
			FROM deleted
		) AS p
		GROUP BY 1, 2, 3, 4, 5
		ORDER BY 1, 2, 3, 4, 5
	) AS c
	WHERE refund <> 0 OR further <> 0;
	RETURN NULL;
END
$$;
-- +goose StatementEnd
CREATE OR REPLACE TRIGGER splits_correct_deleted AFTER DELETE ON splits
	REFERENCING OLD TABLE AS deleted FOR EACH STATEMENT EXECUTE FUNCTION correct_all_deleted_parts();
DROP FUNCTION correct_deleted_parts();
