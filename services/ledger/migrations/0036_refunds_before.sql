-- +goose NO TRANSACTION
-- +goose Up
-- Corrects the totals of the parts that existed before the triggers of migration 0035. Each owner has a separate transaction, which holds
-- the owner's lock exclusively, as a merge of categories does: all releases share it when they write parts. So other owners' requests
-- continue. The values are absolute, so an interrupted attempt can be repeated.
SET lock_timeout = 0;
-- +goose StatementBegin
DO $$
DECLARE
	owner uuid;
BEGIN
	FOR owner IN
		SELECT owner_id FROM splits
		UNION
		SELECT owner_id FROM monthly_totals WHERE refund_minor <> 0 OR further_parts <> 0
	LOOP
		PERFORM pg_advisory_xact_lock(hashtextextended('ledger owner ' || owner::text, 0));
		UPDATE monthly_totals m
		SET refund_minor = coalesce(c.refund_minor, 0), further_parts = coalesce(c.further_parts, 0)
		FROM monthly_totals o
		LEFT JOIN (
			SELECT date_trunc('month', t.date AT TIME ZONE 'UTC')::date AS month, t.wallet_id, s.category_id, t.currency,
				coalesce(sum(abs(s.amount_minor)) FILTER (WHERE sign(s.amount_minor) <> sign(t.amount_minor)), 0) AS refund_minor,
				count(*) FILTER (WHERE s.position > 0) AS further_parts
			FROM splits s
			JOIN transactions t ON t.id = s.transaction_id AND t.owner_id = s.owner_id
			WHERE s.owner_id = owner
			GROUP BY 1, 2, 3, 4
		) AS c USING (month, wallet_id, category_id, currency)
		WHERE o.owner_id = owner AND m.owner_id = owner
			AND (m.month, m.wallet_id, m.category_id, m.currency) = (o.month, o.wallet_id, o.category_id, o.currency)
			AND (m.refund_minor, m.further_parts) <> (coalesce(c.refund_minor, 0), coalesce(c.further_parts, 0));
		COMMIT;
	END LOOP;
END
$$;
-- +goose StatementEnd
