package reports

import "github.com/jackc/pgx/v5"

// transfersStatement returns the sums of the legs of transfers by wallet and currency: whole months
// from monthly_transfers, and the days before and after them from the index transactions_transfers.
var transfersStatement = hidden.Replace(`
	SELECT wallet_id, currency, sum(in_minor)::bigint AS in, sum(out_minor)::bigint AS out
	FROM (
		SELECT wallet_id, currency, in_minor, out_minor, transfer_count
		FROM monthly_transfers
		WHERE owner_id = @owner AND month >= @months_from AND month < @months_end
			AND (@currency = '' OR currency = @currency)
		UNION ALL
		SELECT wallet_id, currency, greatest(amount_minor, 0), greatest(-amount_minor, 0), 1
		FROM transactions
		WHERE owner_id = @owner AND date >= @head_from AND date < @head_end
			AND transfer_id IS NOT NULL
			AND (@currency = '' OR currency = @currency)
		UNION ALL
		SELECT wallet_id, currency, greatest(amount_minor, 0), greatest(-amount_minor, 0), 1
		FROM transactions
		WHERE owner_id = @owner AND date >= @tail_from AND date < @tail_end
			AND transfer_id IS NOT NULL
			AND (@currency = '' OR currency = @currency)
	) AS m
	GROUP BY wallet_id, currency
	HAVING sum(transfer_count) > 0`)

// queueTransfers adds up the transfers of the window by wallet. They are separate from movements,
// because no total includes them.
func queueTransfers(batch *pgx.Batch, q summaryQuery, into *[]walletTransfers) {
	batch.Queue(transfersStatement, q.args(q.period)).Query(collect(into))
}
