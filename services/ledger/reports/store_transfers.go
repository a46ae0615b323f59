package reports

import "github.com/jackc/pgx/v5"

// transfersStatements return the sums of the legs of transfers by wallet and currency: whole months
// from monthly_transfers, and the days before and after them from the index transactions_transfers.
var transfersStatements = byParts(func(p parts) string {
	return `
	SELECT wallet_id, currency, sum(in_minor)::bigint AS in, sum(out_minor)::bigint AS out
	FROM ` + p.union(`
		SELECT wallet_id, currency, in_minor, out_minor, transfer_count
		FROM monthly_transfers
		WHERE owner_id = @owner AND month >= @months_from AND month < @months_end
			AND (@currency = '' OR currency = @currency)`, `
		SELECT wallet_id, currency, greatest(amount_minor, 0) AS in_minor,
			greatest(-amount_minor, 0) AS out_minor, 1 AS transfer_count
		FROM transactions
		WHERE owner_id = @owner AND date >= @part_from AND date < @part_end
			AND transfer_id IS NOT NULL
			AND (@currency = '' OR currency = @currency)`) + ` AS m
	GROUP BY wallet_id, currency
	HAVING sum(transfer_count) > 0`
})

// queueTransfers adds up the transfers of the window by wallet. They are separate from movements,
// because no total includes them.
func queueTransfers(batch *pgx.Batch, q summaryQuery, into *[]walletTransfers) {
	sql := transfersStatements[partsOf(q.period)]
	batch.Queue(sql, q.args(q.period)).Query(collect(into))
}
