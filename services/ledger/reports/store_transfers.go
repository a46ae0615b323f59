package reports

import "github.com/jackc/pgx/v5"

// transfersStatements return the sums of the legs of transfers and of the adjustments by wallet and
// currency. The sums of whole months are in monthly_transfers, which contains both; the index
// transactions_adjustments finds the adjustments among them. The days before and after these months
// come from the indexes transactions_transfers and transactions_adjustments.
var transfersStatements = byParts(func(p parts) string {
	return `
	SELECT wallet_id, currency, sum(in_minor)::bigint AS in, sum(out_minor)::bigint AS out,
		sum(adjusted)::bigint AS adjusted
	FROM ` + p.union(`
		SELECT wallet_id, currency, in_minor, out_minor, 0 AS adjusted, transfer_count
		FROM monthly_transfers
		WHERE owner_id = @owner AND month >= @months_from AND month < @months_end
			AND (@currency = '' OR currency = @currency)
		UNION ALL
		SELECT wallet_id, currency, -greatest(amount_minor, 0), -greatest(-amount_minor, 0),
			amount_minor, 0
		FROM transactions
		WHERE owner_id = @owner AND adjustment
			AND date >= @months_from AND date < @months_end
			AND (@currency = '' OR currency = @currency)`, `
		SELECT wallet_id, currency, greatest(amount_minor, 0) AS in_minor,
			greatest(-amount_minor, 0) AS out_minor, 0 AS adjusted, 1 AS transfer_count
		FROM transactions
		WHERE owner_id = @owner AND date >= @part_from AND date < @part_end
			AND transfer_id IS NOT NULL
			AND (@currency = '' OR currency = @currency)
		UNION ALL
		SELECT wallet_id, currency, 0, 0, amount_minor, 1
		FROM transactions
		WHERE owner_id = @owner AND date >= @part_from AND date < @part_end AND adjustment
			AND (@currency = '' OR currency = @currency)`) + ` AS m
	GROUP BY wallet_id, currency
	HAVING sum(transfer_count) > 0`
})

// queueTransfers adds up the transfers and adjustments of the window by wallet. They are separate
// from movements, because no total includes them.
func queueTransfers(batch *pgx.Batch, q summaryQuery, into *[]walletTransfers) {
	sql := transfersStatements[partsOf(q.period)]
	batch.Queue(sql, q.args(q.period)).Query(collect(into))
}
